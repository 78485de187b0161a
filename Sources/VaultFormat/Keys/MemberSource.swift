/// What a member presents.
@nonexhaustive
public enum MemberSource: UInt8, Sendable {
  /// A phrase that a person types. The member's key is derived from the phrase.
  case phrase = 1
  /// A finger on a reader (fprintd): advisory, because it gives no key; enforced by the keeper.
  case finger = 2
  /// The login password (PAM): advisory, because it gives no key; enforced by the keeper. It shows presence and is not biometry.
  case login = 3
}
