/// A biokey that was just registered.
public struct RegisteredBiokey: Sendable {
  /// The biokey.
  public let biokey: Biokey
  /// Whether it has replaced an earlier one, which no longer exists. Tell the person.
  public let hasReplaced: Bool
}
