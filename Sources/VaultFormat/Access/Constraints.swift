import VaultCrypto
import VaultStorage

/// What a person must show before an item is read, used or changed: the flags of Apple's platforms, with their bit
/// numbers.
///
/// Key derivation enforces a constraint where a person types something: what the person types then protects the item's
/// data key. ``AccessControl/enforcement(with:)`` says which constraints a given vault enforces so, and which are
/// checked by the program that opens it. What such a check is worth follows from who runs that program:
///
/// | checked, not derived | in a file | with the agent, a service of the user | in the keeper, under a user id of its own |
/// |---|---|---|---|
/// | a finger, the login password | advisory | advisory | enforced by the keeper |
/// | the count of wrong answers, and delays | advisory | advisory | enforced by the keeper |
/// | a plain *yes* | advisory | advisory | enforced by the keeper where it asks on a channel of its own, else advisory |
///
/// *Advisory* is meant against programs of the same user: they have the file and the device key.
public struct Constraints: OptionSet, Sendable, Hashable {
  /// The word in the file: Apple's bits.
  public let rawValue: UInt32
  /// The constraints of a word.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A person is present: the person types the passcode, is a member of the enrolled set, or gives the login password
  /// if that is enrolled.
  ///
  /// Enforced by derivation while all members are phrases. With a fingerprint reader or the login password (PAM):
  /// advisory in a file and with the agent, enforced by the keeper.
  public static let userPresence = Constraints(rawValue: 1)
  /// Any enrolled member, also one that is enrolled later.
  ///
  /// Enforced by derivation while all members are phrases. With a fingerprint reader: advisory in a file and with the
  /// agent, enforced by the keeper.
  public static let biometryAny = Constraints(rawValue: 2)
  /// A member of the set as it is enrolled now. After a change of the set, the item never opens again. While a reader
  /// has other fingers than the set, it opens nothing and changes nothing.
  ///
  /// Enforced by derivation while all members are phrases. With a fingerprint reader: advisory in a file and with the
  /// agent, enforced by the keeper.
  public static let biometryCurrentSet = Constraints(rawValue: 8)
  /// The passcode, typed for this use, whether the vault is unlocked or not. Enforced by derivation in a
  /// file, with the agent and in the keeper alike; how many wrong ones are judged is enforced by the keeper alone.
  public static let devicePasscode = Constraints(rawValue: 0x10)
  /// One of the constraints is enough. Enforced by derivation if all of them are; the item is only as strong as the
  /// weakest constraint.
  public static let or = Constraints(rawValue: 0x4000)
  /// All constraints are needed, which is also the rule without this flag. Enforced by derivation if one of them is.
  public static let and = Constraints(rawValue: 0x8000)
  /// The item's own password, in addition to all other constraints. Enforced by derivation in a file, with the
  /// agent and in the keeper alike.
  public static let applicationPassword = Constraints(rawValue: 0x8000_0000)

  /// Everything that this version can ask for.
  package static let supported: Constraints = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .or, .and, .applicationPassword,
  ]

  /// The constraints that have a factor, in ascending order of the factors.
  package static let factors: [Constraints] = [
    .devicePasscode, .userPresence, .biometryAny, .biometryCurrentSet,
  ]

  /// The single constraints of this set, without `or`, `and` and the application password.
  package var single: [Constraints] { Self.factors.filter { contains($0) } }

  /// Whether this set has any single constraint.
  package var hasSingle: Bool { Self.factors.contains { contains($0) } }

  /// Refuses constraints that contradict each other.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  package func check() throws(VaultError) {
    guard subtracting(.supported).isEmpty else {
      throw VaultError(.policy, "an access rule has a flag that this version does not know")
    }
    if contains(.or), contains(.and) { throw Self.contradiction("'or' and 'and' exclude each other") }
    if contains(.biometryAny), contains(.biometryCurrentSet) {
      throw Self.contradiction("any biometry and the current biometric set exclude each other")
    }
    if contains(.userPresence), single.count > 1 {
      throw Self.contradiction("presence stands without any other constraint")
    }
    if contains(.or) || contains(.and), single.count < 2 {
      throw Self.contradiction("'or' and 'and' stand between two constraints")
    }
  }

  private static func contradiction(_ what: String) -> VaultError {
    VaultError(.policy, "the access rule contradicts itself: \(what)", hint: "name other constraints")
  }
}
