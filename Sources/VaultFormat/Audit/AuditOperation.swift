package import VaultLogging

/// What was done. An open registry: a later version of the file format can add numbers.
public struct AuditOperation: RawRepresentable, Hashable, Sendable {
  /// The number or word in the file.
  public let rawValue: UInt16
  /// A value of this number or word.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The vault was created.
  package static let vaultCreated = AuditOperation(rawValue: 1)
  /// The vault was unlocked, or someone tried.
  package static let unlocked = AuditOperation(rawValue: 2)
  /// An agent locked the vault; the entry's detail says why.
  package static let locked = AuditOperation(rawValue: 3)
  /// A passcode was set.
  package static let passcodeSet = AuditOperation(rawValue: 4)
  /// The passcode was changed.
  package static let passcodeChanged = AuditOperation(rawValue: 5)
  /// The passcode was removed.
  package static let passcodeRemoved = AuditOperation(rawValue: 6)
  /// A recovery code was made.
  package static let recoveryCodeMade = AuditOperation(rawValue: 7)
  /// The recovery code was used.
  package static let recoveryUsed = AuditOperation(rawValue: 8)
  /// An item was added.
  package static let itemAdded = AuditOperation(rawValue: 9)
  /// An item's secret was read.
  public static let itemRead = AuditOperation(rawValue: 10)
  /// An item was changed.
  package static let itemUpdated = AuditOperation(rawValue: 11)
  /// An item was deleted.
  package static let itemDeleted = AuditOperation(rawValue: 12)
  /// A key was opened for signatures.
  package static let keySigned = AuditOperation(rawValue: 17)
  /// A secret was exported.
  package static let exported = AuditOperation(rawValue: 18)
  /// Items were imported from another program.
  package static let imported = AuditOperation(rawValue: 19)
  /// A backup was made.
  package static let backedUp = AuditOperation(rawValue: 20)
  /// The vault was made from a backup.
  package static let restored = AuditOperation(rawValue: 21)
  /// The keys were rotated.
  package static let rotated = AuditOperation(rawValue: 22)
  /// The vault was verified.
  package static let verified = AuditOperation(rawValue: 24)
  /// A person was asked for a secret; the entry's outcome says how the prompt ended.
  package static let promptShown = AuditOperation(rawValue: 25)
  /// Access was denied.
  package static let accessDenied = AuditOperation(rawValue: 26)
  /// A member of the enrolled set was enrolled.
  package static let memberEnrolled = AuditOperation(rawValue: 30)
  /// A member of the enrolled set was removed.
  package static let memberRemoved = AuditOperation(rawValue: 31)
  /// The file was found to be a copy.
  package static let copyDetected = AuditOperation(rawValue: 37)
  /// An expired item was purged.
  package static let expiredPurged = AuditOperation(rawValue: 38)
  /// The recovery code was removed.
  package static let recoveryCodeRemoved = AuditOperation(rawValue: 39)
  /// A secret came from a channel or from the program: no person was asked.
  package static let given = AuditOperation(rawValue: 40)
  /// A person set the recorded time back.
  package static let clockReset = AuditOperation(rawValue: 60)

  /// An item was put into the trash.
  package static let itemTrashed = AuditOperation(rawValue: 61)
  /// An item was put back from the trash.
  package static let itemPutBack = AuditOperation(rawValue: 62)

  /// The name for listings and JSON, or the number if no linked library has a name for it.
  public var name: String { KindRegistry.meaning(of: self)?.name ?? String(rawValue) }
}

extension AuditOperation {
  /// What an operation is called, and what it is.
  package struct Meaning: Sendable {
    package let operation: AuditOperation
    package let name: String
    /// Where lines of the log of this process about it belong.
    let tag: VaultLog.Tag
    /// Whether somebody changed something. `false` for what was looked at, asked or permitted, and for what ends by its own rules
    /// in any command.
    package let isChange: Bool

    package init(_ operation: AuditOperation, _ name: String, _ tag: VaultLog.Tag, isChange: Bool = true) {
      (self.operation, self.name, self.tag, self.isChange) = (operation, name, tag, isChange)
    }
  }

  package var isChange: Bool { KindRegistry.meaning(of: self)?.isChange ?? true }

  var tag: VaultLog.Tag { KindRegistry.meaning(of: self)?.tag ?? .vaultStorage }

  static let ofVault: [Meaning] = [
    Meaning(.vaultCreated, "vaultCreated", .vaultStorage),
    Meaning(.unlocked, "unlocked", .vaultAccess, isChange: false),
    Meaning(.locked, "locked", .vaultAccess),
    Meaning(.passcodeSet, "passcodeSet", .vaultAccess),
    Meaning(.passcodeChanged, "passcodeChanged", .vaultAccess),
    Meaning(.passcodeRemoved, "passcodeRemoved", .vaultAccess),
    Meaning(.recoveryCodeMade, "recoveryCodeMade", .vaultAccess),
    Meaning(.recoveryUsed, "recoveryUsed", .vaultAccess),
    Meaning(.itemAdded, "itemAdded", .vaultStorage),
    Meaning(.itemRead, "itemRead", .vaultStorage, isChange: false),
    Meaning(.itemUpdated, "itemUpdated", .vaultStorage),
    Meaning(.itemDeleted, "itemDeleted", .vaultStorage),
    Meaning(.exported, "exported", .vaultStorage, isChange: false),
    Meaning(.imported, "imported", .vaultStorage),
    Meaning(.backedUp, "backedUp", .vaultStorage),
    Meaning(.restored, "restored", .vaultStorage),
    Meaning(.rotated, "rotated", .vaultStorage),
    Meaning(AuditOperation(rawValue: 23), "purged", .vaultStorage),
    Meaning(.verified, "verified", .vaultStorage, isChange: false),
    Meaning(.promptShown, "promptShown", .vaultAccess, isChange: false),
    Meaning(.accessDenied, "accessDenied", .vaultAccess, isChange: false),
    Meaning(.memberEnrolled, "memberEnrolled", .vaultAccess),
    Meaning(.memberRemoved, "memberRemoved", .vaultAccess),
    Meaning(.copyDetected, "copyDetected", .vaultStorage, isChange: false),
    Meaning(.expiredPurged, "expiredPurged", .vaultStorage, isChange: false),
    Meaning(.recoveryCodeRemoved, "recoveryCodeRemoved", .vaultAccess),
    Meaning(.given, "given", .vaultAccess, isChange: false),
    Meaning(.clockReset, "clockReset", .vaultStorage),
    Meaning(.itemTrashed, "itemTrashed", .vaultStorage),
    Meaning(.itemPutBack, "itemPutBack", .vaultStorage),
  ]
}
