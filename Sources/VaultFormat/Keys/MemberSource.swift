/// What a member shows.
public enum MemberSource: UInt8, Sendable {
  /// A phrase that is typed: its key is derived from it.
  case phrase = 1
  /// A finger on a reader (fprintd): advisory, no key comes of it.
  case finger = 2
  /// The login password (PAM): advisory, no key comes of it. It shows presence, and is no biometry.
  case login = 3
}
