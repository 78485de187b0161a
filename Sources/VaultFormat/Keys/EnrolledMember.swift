/// A member, as listings show it.
public struct EnrolledMember: Sendable, Equatable {
  /// Its name, unique in the vault.
  public let name: String
  /// What the member presents.
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

  /// Names, in lower case, that no phrase may have, because a reader would take them for something else.
  package static let reserved: Set<String> = [
    login, "any", "passcode",
    // The names of fingers in fprintd.
    "left-thumb", "left-index-finger", "left-middle-finger", "left-ring-finger", "left-little-finger",
    "right-thumb", "right-index-finger", "right-middle-finger", "right-ring-finger", "right-little-finger",
  ]
}
