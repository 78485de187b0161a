/// The numbers of fields, in the order of docs/format/vault-file.md. A released number never gets another meaning.
package enum FieldNumber {
  /// Section 4: what a seal is bound to.
  package enum Bound {
    package static let vault: UInt16 = 1
    package static let item: UInt16 = 2
    package static let part: UInt16 = 3
    package static let generation: UInt16 = 4
    package static let version: UInt16 = 5
    package static let `class`: UInt16 = 6
    package static let policyHash: UInt16 = 7
    package static let row: UInt16 = 8
    package static let kind: UInt16 = 9
    package static let flags: UInt16 = 10
    package static let expires: UInt16 = 11
    package static let primaryKey: UInt16 = 12
    package static let name: UInt16 = 13
    package static let revision: UInt16 = 15
    package static let material: UInt16 = 16
    package static let sequence: UInt16 = 17
    package static let slotKind: UInt16 = 20
    package static let slotSubject: UInt16 = 21
    package static let slotOpener: UInt16 = 22
    package static let slotOpenerID: UInt16 = 23
    package static let derivation: UInt16 = 24
    package static let layer: UInt16 = 25
  }

  /// Section 5: the header.
  package enum Header {
    package static let format: UInt16 = 1
    package static let vault: UInt16 = 2
    package static let created: UInt16 = 3
    package static let config: UInt16 = 4
    package static let lowestSuite: UInt16 = 5
    package static let features: UInt16 = 6
    package static let generation: UInt16 = 7
    package static let previousGeneration: UInt16 = 8
    package static let protector: UInt16 = 9
    package static let deviceKey: UInt16 = 10
    package static let passcodeDerivation: UInt16 = 11
    package static let recoveryHalf: UInt16 = 12
    package static let factors: UInt16 = 13
    package static let enrolledSet: UInt16 = 14
    package static let phraseDerivation: UInt16 = 15
    package static let factorMAC: UInt16 = 16
    package static let testMarks: UInt16 = 17
    package static let backup: UInt16 = 18
    package static let revoked: UInt16 = 19
    package static let replacedKeys: UInt16 = 20
  }

  /// Section 5, header field 18: a backup.
  package enum Backup {
    package static let made: UInt16 = 1
    package static let derivation: UInt16 = 2
    package static let sourceGeneration: UInt16 = 3
  }

  /// Section 5, header field 16: what the factor MAC covers.
  package enum Vouched {
    package static let recoveryHalf: UInt16 = 1
    package static let factors: UInt16 = 2
    package static let phraseDerivation: UInt16 = 3
    package static let enrolledSet: UInt16 = 4
    package static let auditRoots: UInt16 = 5
    package static let previousGeneration: UInt16 = 6
  }

  /// Section 5: what the header MAC covers.
  package enum HeaderMAC {
    package static let header: UInt16 = 1
    package static let slots: UInt16 = 2
  }

  /// Section 5: a slot as the header MAC covers it.
  package enum SlotRecord {
    package static let id: UInt16 = 1
    package static let kind: UInt16 = 2
    package static let subject: UInt16 = 3
    package static let generation: UInt16 = 4
    package static let opener: UInt16 = 5
    package static let openerID: UInt16 = 6
    package static let body: UInt16 = 7
  }

  /// Section 5: a KDF record.
  package enum Derivation {
    package static let algorithm: UInt16 = 1
    package static let version: UInt16 = 2
    package static let memory: UInt16 = 3
    package static let passes: UInt16 = 4
    package static let lanes: UInt16 = 5
    package static let salt: UInt16 = 6
  }

  /// Section 5, header field 14: the enrolled set.
  package enum Enrolled {
    package static let generation: UInt16 = 1
    package static let digest: UInt16 = 2
    package static let members: UInt16 = 3
  }

  /// Section 5, header field 14: a member of the enrolled set.
  package enum MemberRecord {
    package static let id: UInt16 = 1
    package static let source: UInt16 = 2
    package static let label: UInt16 = 3
    package static let enrolled: UInt16 = 4
    package static let factor: UInt16 = 5
  }

  /// Section 6: the sealed part of an item's row.
  package enum Meta {
    package static let attributes: UInt16 = 1
    package static let policy: UInt16 = 2
  }

  /// Section 6: what the blind index hashes.
  package enum Index {
    package static let code: UInt16 = 1
    package static let value: UInt16 = 2
  }

  /// Section 6: an item's policy.
  package enum PolicyRecord {
    package static let accessibility: UInt16 = 1
    package static let thisDeviceOnly: UInt16 = 2
    package static let constraintWord: UInt16 = 3
    package static let constraints: UInt16 = 4
    package static let audit: UInt16 = 5
    package static let exportable: UInt16 = 6
    package static let tokenLife: UInt16 = 7
    package static let guardingPIN: UInt16 = 8
    package static let expiryRule: UInt16 = 11
  }

  /// Section 6, policy field 8: the PIN that guards a key.
  package enum GuardingPIN {
    package static let mode: UInt16 = 1
    package static let item: UInt16 = 2
  }

  /// Section 6: what is known of a former secret.
  package enum Former {
    package static let until: UInt16 = 1
    package static let flags: UInt16 = 2
  }

  /// Section 6: the secret of an entry.
  enum EntryContent {
    static let password: UInt16 = 1
    static let notes: UInt16 = 2
    static let fields: UInt16 = 3
    static let addresses: UInt16 = 4
  }

  /// Section 6: a field of an entry.
  enum EntryField {
    static let name: UInt16 = 1
    static let value: UInt16 = 2
    static let hidden: UInt16 = 3
  }

  /// Section 11: the data of a PIN item.
  enum PINData {
    static let mode: UInt16 = 1
    static let derivation: UInt16 = 2
    static let sealed: UInt16 = 3
    static let unlock: UInt16 = 4
  }

  /// Section 12, policy field 7: the life of a token or a consent.
  package enum TokenLife {
    package static let issued: UInt16 = 1
    package static let issuedBootTime: UInt16 = 2
    package static let boot: UInt16 = 3
    package static let length: UInt16 = 4
    package static let mostUses: UInt16 = 5
    package static let session: UInt16 = 6
  }

  /// Section 6: a constraint of a policy.
  package enum Constraint {
    package static let bit: UInt16 = 1
    package static let factor: UInt16 = 2
  }

  /// Section 9: an entry of the audit log.
  package enum Entry {
    package static let time: UInt16 = 1
    package static let bootTime: UInt16 = 2
    package static let boot: UInt16 = 3
    package static let user: UInt16 = 4
    package static let process: UInt16 = 5
    package static let executable: UInt16 = 6
    package static let operation: UInt16 = 7
    package static let item: UInt16 = 8
    package static let itemKind: UInt16 = 9
    package static let result: UInt16 = 10
    package static let detail: UInt16 = 11
    package static let outcome: UInt16 = 12
    package static let callerUser: UInt16 = 13
    package static let callerProcess: UInt16 = 14
    package static let callerExecutable: UInt16 = 15
  }

  /// Section 10: a way to an item's data key.
  package enum Way {
    package static let factors: UInt16 = 1
    package static let ephemeral: UInt16 = 2
    package static let derivation: UInt16 = 3
    package static let sealed: UInt16 = 4
    package static let extras: UInt16 = 5
  }

  /// Section 10: what the key of such a way is derived from.
  package enum WayKey {
    package static let item: UInt16 = 1
    package static let policyHash: UInt16 = 2
    package static let factors: UInt16 = 3
    package static let ephemeral: UInt16 = 4
    package static let halves: UInt16 = 5
    package static let extras: UInt16 = 6
  }
}
