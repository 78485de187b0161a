import VaultCrypto
import VaultStorage

/// The access control of an item. Its canonical bytes are associated data of every seal of the item.
public struct AccessControl: Sendable, Equatable {
  /// When the item can be opened at all.
  public let accessibility: Accessibility
  /// Whether the item stays out of backups; always true for `whenPasscodeSet`. Enforced, because the item's class key
  /// needs this device's key.
  public let thisDeviceOnly: Bool
  /// The constraint word with Apple's bit numbers; 0 without constraint.
  package let word: UInt32

  /// An access control without constraints.
  public init(_ accessibility: Accessibility = .whenUnlocked, thisDeviceOnly: Bool = false) {
    self.init(accessibility: accessibility, thisDeviceOnly: thisDeviceOnly, word: 0)
  }

  /// An access control with constraints. Adding an item checks whether the vault has what they ask for.
  ///
  /// - Throws: ``VaultError/Code/policy`` for `or` with `and`, `biometryAny` with `biometryCurrentSet`,
  ///   `userPresence` with another constraint, `or` or `and` with fewer than two constraints.
  public init(
    _ constraints: Constraints, accessibility: Accessibility = .whenUnlocked, thisDeviceOnly: Bool = false
  ) throws(VaultError) {
    try constraints.check()
    self.init(accessibility: accessibility, thisDeviceOnly: thisDeviceOnly, word: constraints.rawValue)
  }

  package init(accessibility: Accessibility, thisDeviceOnly: Bool, word: UInt32) {
    self.accessibility = accessibility
    self.thisDeviceOnly = thisDeviceOnly || accessibility == .whenPasscodeSet
    self.word = word
  }

  /// What a person must show.
  public var constraints: Constraints { Constraints(rawValue: word) }

  /// Whether a person must show anything.
  package var asksPerson: Bool { constraints.hasSingle || constraints.contains(.applicationPassword) }

  /// The number of the class key that seals the item's data key.
  package var classNumber: UInt8 { accessibility.rawValue | (thisDeviceOnly ? 0x80 : 0) }
}
