/// A member, as listings show it.
public struct EnrolledMember: Sendable, Equatable {
  /// Its name, unique in the vault.
  public let name: String
  /// What it shows.
  public let source: MemberSource
  /// When it was enrolled.
  public let enrolled: Instant

  package init(name: String, source: MemberSource, enrolled: Instant) {
    self.name = name
    self.source = source
    self.enrolled = enrolled
  }

  /// The name of the login password as a member.
  public static let login = "login"

  /// Names that no phrase may have, in lower case: a person who reads one takes it for something else.
  package static let reserved: Set<String> = [
    login, "any", "passcode",
    // What fprintd calls fingers.
    "left-thumb", "left-index-finger", "left-middle-finger", "left-ring-finger", "left-little-finger",
    "right-thumb", "right-index-finger", "right-middle-finger", "right-ring-finger", "right-little-finger",
  ]
}
