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
  /// A one-time code was generated.
  package static let codeGenerated = AuditOperation(rawValue: 13)
  /// A one-time code was verified.
  package static let codeVerified = AuditOperation(rawValue: 14)
  /// A counter was resynchronized.
  package static let resynchronized = AuditOperation(rawValue: 15)
  /// A counter was set by hand.
  package static let counterSet = AuditOperation(rawValue: 16)
  /// A key was opened for signatures.
  package static let keySigned = AuditOperation(rawValue: 17)
  /// A secret was exported.
  package static let exported = AuditOperation(rawValue: 18)
  /// Items were imported from another program.
  package static let imported = AuditOperation(rawValue: 19)
  /// The vault was made from a backup.
  package static let restored = AuditOperation(rawValue: 21)
  /// The keys were rotated.
  package static let rotated = AuditOperation(rawValue: 22)
  /// The vault was verified.
  package static let verified = AuditOperation(rawValue: 24)
  /// A person was asked for a secret; the entry's outcome says how the prompt ended.
  package static let promptShown = AuditOperation(rawValue: 25)
  /// A PIN was changed, or a change of one was confirmed or undone.
  package static let pinChanged = AuditOperation(rawValue: 27)
  /// A checked PIN was judged.
  package static let pinVerified = AuditOperation(rawValue: 28)
  /// A new PIN was set with the unlock key of a PIN.
  package static let pinUnlocked = AuditOperation(rawValue: 29)
  /// A member of the enrolled set was enrolled.
  package static let memberEnrolled = AuditOperation(rawValue: 30)
  /// A member of the enrolled set was removed.
  package static let memberRemoved = AuditOperation(rawValue: 31)
  /// Access was denied.
  package static let accessDenied = AuditOperation(rawValue: 26)
  /// The file was found to be a copy.
  package static let copyDetected = AuditOperation(rawValue: 37)
  /// An expired item was purged.
  package static let expiredPurged = AuditOperation(rawValue: 38)

  /// The recovery code was removed.
  package static let recoveryCodeRemoved = AuditOperation(rawValue: 39)

  /// A secret came from a channel or from the program: no person was asked.
  package static let given = AuditOperation(rawValue: 40)

  /// The peer accepted the first code of an activation.
  package static let activationStarted = AuditOperation(rawValue: 41)
  /// An activation was finished.
  package static let activated = AuditOperation(rawValue: 42)
  /// An activation ended without a credential: its time was over, or the peer refused the second code.
  package static let activationEnded = AuditOperation(rawValue: 43)
  /// A credential was synchronized with its peer.
  package static let synchronized = AuditOperation(rawValue: 44)
  /// The peer began an unlock of a credential.
  package static let unlockStarted = AuditOperation(rawValue: 45)
  /// The peer blocked, unblocked or disabled a credential.
  package static let stateChanged = AuditOperation(rawValue: 46)
  /// A transaction came from the peer.
  package static let transactionReceived = AuditOperation(rawValue: 47)
  /// A person accepted a transaction.
  package static let transactionAccepted = AuditOperation(rawValue: 48)
  /// A person rejected a transaction.
  package static let transactionRejected = AuditOperation(rawValue: 49)
  /// A transaction was cancelled.
  package static let transactionCancelled = AuditOperation(rawValue: 50)
  /// Nobody answered a transaction in time.
  package static let transactionTimedOut = AuditOperation(rawValue: 51)
  /// A person logged in with a PIN or a biokey.
  package static let login = AuditOperation(rawValue: 52)

  /// A card token was stored.
  package static let tokenStored = AuditOperation(rawValue: 32)
  /// A card token was handed out once.
  package static let tokenTaken = AuditOperation(rawValue: 33)
  /// A card token was revoked, or its session was closed.
  package static let tokenRevoked = AuditOperation(rawValue: 34)
  /// A consent was requested, or issued.
  package static let consentRequested = AuditOperation(rawValue: 35)
  /// The code of a consent was judged.
  package static let consentConfirmed = AuditOperation(rawValue: 36)
  /// The secret of a card token was deleted: its time was over, or its uses.
  package static let tokenEnded = AuditOperation(rawValue: 53)
  /// The code of a consent was sent again.
  package static let consentSentAgain = AuditOperation(rawValue: 54)
  /// A consent ended without being confirmed.
  package static let consentEnded = AuditOperation(rawValue: 55)

  /// A client was registered at an OAuth server.
  package static let clientRegistered = AuditOperation(rawValue: 56)
  /// Tokens of an OAuth server were stored.
  package static let tokensStored = AuditOperation(rawValue: 57)
  /// The tokens of an OAuth server were refreshed.
  package static let tokensRefreshed = AuditOperation(rawValue: 58)
  /// The tokens of an OAuth server were revoked there and deleted here.
  package static let tokensRevoked = AuditOperation(rawValue: 59)

  /// A person set the recorded time back.
  package static let clockReset = AuditOperation(rawValue: 60)

  /// The name for listings and JSON, or the number if it has no name.
  public var name: String { Self.names[rawValue] ?? String(rawValue) }

  private static let names: [UInt16: String] = [
    1: "vaultCreated", 2: "unlocked", 3: "locked", 4: "passcodeSet", 5: "passcodeChanged",
    6: "passcodeRemoved", 7: "recoveryCodeMade", 8: "recoveryUsed", 9: "itemAdded", 10: "itemRead",
    11: "itemUpdated", 12: "itemDeleted", 13: "codeGenerated", 14: "codeVerified", 15: "resynchronized",
    16: "counterSet", 17: "keySigned", 18: "exported", 19: "imported", 20: "backedUp", 21: "restored",
    22: "rotated", 23: "purged", 24: "verified", 25: "promptShown", 26: "accessDenied", 27: "pinChanged",
    28: "pinVerified", 29: "pinUnlocked", 30: "memberEnrolled", 31: "memberRemoved", 32: "tokenStored",
    33: "tokenTaken", 34: "tokenRevoked", 35: "consentRequested", 36: "consentConfirmed",
    37: "copyDetected", 38: "expiredPurged", 39: "recoveryCodeRemoved", 40: "given",
    41: "activationStarted", 42: "activated", 43: "activationEnded",
    44: "synchronized", 45: "unlockStarted", 46: "stateChanged",
    47: "transactionReceived", 48: "transactionAccepted", 49: "transactionRejected",
    50: "transactionCancelled", 51: "transactionTimedOut", 52: "login",
    53: "tokenEnded", 54: "consentSentAgain", 55: "consentEnded", 56: "clientRegistered", 57: "tokensStored",
    58: "tokensRefreshed", 59: "tokensRevoked", 60: "clockReset",
  ]
}
