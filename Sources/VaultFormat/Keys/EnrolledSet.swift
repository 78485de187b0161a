import VaultCrypto

/// Who is enrolled (header field 14): the members of the biometric set, its generation, and the login password.
package struct EnrolledSet: Sendable, Equatable {
  private typealias Number = FieldNumber.Enrolled

  /// Each change of the set adds 1; below 2^24, and 0 before the first change.
  package var generation: UInt32
  /// In the order of their enrollment.
  package var members: [Member]
  private var record: Record

  package init() {
    generation = 0
    members = []
    record = Record()
  }

  package init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Self.unreadable)
    record = fields.record
    generation = try fields.u32(Number.generation)
    members = []
    for value in try fields.list(Number.members) {
      members.append(try Member(decoding: value))
    }
    // Otherwise, removing one of two equal members would leave the other in the list.
    try fields.check(
      generation < 1 << 24 && Set(members.map(\.factor)).count == members.count
        && Set(members.map(\.id)).count == members.count && record[Number.digest] == digest)
  }

  package var encoded: [UInt8] {
    var record = record
    record.set(Number.generation, u32: generation)
    record[Number.digest] = digest
    record[Number.members] = Record.list(members.map(\.encoded)).encoded
    return record.encoded
  }

  /// The factor of the set as it is enrolled now.
  package var factor: Factor { .set(generation) }

  /// The members of the biometric set: all except the login password, which belongs to no set and shows only presence.
  package var biometric: [Member] { members.filter { $0.source != .login } }

  /// The login password, where it is enrolled.
  package var login: Member? { members.first { $0.source == .login } }

  /// The hash of the fingers that a reader had when the set was made. A different list makes a different set.
  private var digest: [UInt8] {
    let fingers = members.filter { $0.source == .finger }.map { Array($0.label.utf8) }
    return SHA256.hash(
      Record.list(fingers.sorted { $0.lexicographicallyPrecedes($1) }).encoded)
  }

  /// What a program may keep to find out whether the set has changed (section 3); `nil` for an empty set. The ids of the
  /// members are random, and nothing can be found out from the digest.
  ///
  /// - Parameter generation: The number of the set.
  package func publicDigest(of vault: VaultID, generation: UInt32) -> [UInt8]? {
    guard !biometric.isEmpty else { return nil }
    var content = Record()
    content[1] = vault.bytes
    content.set(2, u32: generation)
    content[3] = Record.list(biometric.map(\.id)).encoded
    return SHA256.hash(Labels.enrolledDigest.utf8 + content.encoded)
  }

  static var unreadable: VaultError {
    VaultError(.damaged, "the enrolled set is not readable", hint: "restore the vault from a backup")
  }
}
