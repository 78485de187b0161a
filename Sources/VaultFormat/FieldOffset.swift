/// The offsets of values in rows of a fixed length, in the order of docs/format/vault-file.md. A released offset never
/// gets another meaning.
enum FieldOffset {
  /// Section 7: the state of an item. Its component has further offsets (`ItemState+….swift` in its room).
  enum ItemState {
    static let layout = 0
    static let bits = 1
    static let failures = 4
    static let counter = 8
    static let lastAccepted = 16
    static let lastUse = 24
    static let failureBootTime = 32
    static let failureBoot = 40
    static let delay = 56
    static let clockOffset = 64
    static let unconfirmed = 76
    static let uses = 104
    static let progress = 112
    static let wrongUnlockCodes = 113
    static let underWay = 116
    static let deadline = 120
    static let lateCodes = 152
  }

  /// Section 7: the state of the vault.
  enum VaultState {
    static let layout = 0
    static let failures = 4
    static let failureBootTime = 8
    static let boot = 16
    static let failureWall = 32
    static let delay = 40
    static let biometryFailures = 48
    static let underWay = 52
    static let forgiven = 56
  }

  /// Section 8: the head row.
  enum Head {
    static let layout = 0
    static let isCopy = 3
    static let config = 8
    static let sequence = 16
    static let nextRow = 24
    static let itemCount = 32
    static let summedRows = 40
    static let sum = 48
    static let fileIdentity = 80
    static let nextAudit = 88
    static let segment = 96
    static let segmentFirst = 104
    static let auditKey = 112
    static let auditMAC = 144
    static let recordedTime = 176
    static let seals = 184
    static let earliestExpiry = 192
    static let nextChainKey = 200
    static let nextTokenEnd = 232
    static let rotationPhase = 240
    static let rotationPosition = 248
    static let lastBoot = 256
    static let candidate = 280
    static let reserved = 312
  }
}
