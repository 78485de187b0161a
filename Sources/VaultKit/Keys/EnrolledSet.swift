import SecretMemory
import VaultCrypto
import VaultStorage

/// Who is enrolled (header field 14): the members of the biometric set, its generation, and the login password.
struct EnrolledSet: Sendable, Equatable {
  /// +1 with every change of the set, below 2^24; 0 before the first.
  var generation: UInt32
  /// In the order of their enrolment.
  var members: [Member]
  private var record: Record

  init() {
    generation = 0
    members = []
    record = Record()
  }

  init(decoding bytes: [UInt8]) throws(VaultError) {
    guard let record = try? Record(decoding: bytes), let generation = try? record.u32(1),
      let stored = try? record.bytes(2, count: 32), let list = record[3],
      let values = try? Record(decoding: list).list(), generation < 1 << 24
    else { throw Self.unreadable }
    self.generation = generation
    self.record = record
    members = []
    for value in values {
      guard let member = Member(decoding: value) else { throw Self.unreadable }
      members.append(member)
    }
    // Else what removes one of them leaves the other in the list.
    guard Set(members.map(\.factor)).count == members.count, Set(members.map(\.id)).count == members.count,
      stored == digest
    else { throw Self.unreadable }
  }

  var encoded: [UInt8] {
    var record = record
    record.set(1, u32: generation)
    record[2] = digest
    record[3] = Record.list(members.map(\.encoded)).encoded
    return record.encoded
  }

  /// The factor of the set as it is enrolled now.
  var factor: Factor { .set(generation) }

  /// The members of the biometric set: all but the login password, which is of no set and shows presence alone.
  var biometric: [Member] { members.filter { $0.source != .login } }

  /// The login password, where it is enrolled.
  var login: Member? { members.first { $0.source == .login } }

  /// Which fingers a reader had when the set was made: another list is another set.
  private var digest: [UInt8] {
    let fingers = members.filter { $0.source == .finger }.map { Array($0.label.utf8) }
    return SHA256.hash(
      Record.list(fingers.sorted { $0.lexicographicallyPrecedes($1) }).encoded)
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the enrolled set is not readable", hint: "restore the vault from a backup")
  }
}

/// A member of the enrolled set.
struct Member: Sendable, Equatable {
  /// 16 random bytes.
  let id: [UInt8]
  let source: MemberSource
  let label: String
  let enrolled: Instant
  let factor: Factor
  private let record: Record

  init(id: [UInt8], source: MemberSource, label: String, enrolled: Instant, factor: Factor) {
    self.id = id
    self.source = source
    self.label = label
    self.enrolled = enrolled
    self.factor = factor
    var record = Record()
    record[1] = id
    record.set(2, u8: source.rawValue)
    record.set(3, string: label)
    record.set(4, i64: enrolled.milliseconds)
    record.set(5, u32: factor.rawValue)
    self.record = record
  }

  init?(decoding bytes: [UInt8]) {
    guard let record = try? Record(decoding: bytes), let id = try? record.bytes(1, count: 16),
      let source = (try? record.u8(2)).flatMap(MemberSource.init), let label = try? record.string(3),
      let enrolled = try? record.i64(4), let number = try? record.u32(5), Factor(rawValue: number).isMember,
      (source == .login) == (Factor(rawValue: number) == .login)
    else { return nil }
    self.id = id
    self.source = source
    self.label = label
    self.enrolled = Instant(milliseconds: enrolled)
    factor = Factor(rawValue: number)
    self.record = record
  }

  var encoded: [UInt8] { record.encoded }
}

/// What a member shows.
public enum MemberSource: UInt8, Sendable {
  /// A phrase that is typed: its key is derived from it.
  case phrase = 1
  /// A finger on a reader (fprintd): advisory, no key comes of it.
  case finger = 2
  /// The login password (PAM): advisory, no key comes of it. It shows presence, and is no biometry.
  case login = 3
}

/// A member, as listings show it.
public struct EnrolledMember: Sendable, Equatable {
  /// Its name, unique in the vault.
  public let name: String
  /// What it shows.
  public let source: MemberSource
  /// When it was enrolled.
  public let enrolled: Instant

  /// The name of the login password as a member.
  public static let login = "login"

  /// Names that no phrase may have, in lower case: a person who reads one takes it for something else.
  static let reserved: Set<String> = [
    login, "any", "passcode",
    // What fprintd calls fingers.
    "left-thumb", "left-index-finger", "left-middle-finger", "left-ring-finger", "left-little-finger",
    "right-thumb", "right-index-finger", "right-middle-finger", "right-ring-finger", "right-little-finger",
  ]
}

extension GenerationKeys {
  /// The enrolled set of a header: the members in force. The empty one before the first enrollment.
  func enrolledSet(of header: Header) throws(VaultError) -> EnrolledSet {
    var set = try storedSet(of: header)
    let revoked = header.revoked
    set.members.removeAll { revoked.contains($0.factor) }
    return set
  }

  /// The enrolled set as field 14 holds it, with the members that were removed while the vault was locked.
  func storedSet(of header: Header) throws(VaultError) -> EnrolledSet {
    guard let bytes = try enrolledRecord(of: header) else { return EnrolledSet() }
    return try EnrolledSet(decoding: bytes)
  }

  /// The record that field 14 seals.
  func enrolledRecord(of header: Header) throws(VaultError) -> [UInt8]? {
    guard let sealed = header.enrolled else { return nil }
    return try crypto { () throws(CryptoError) in
      try meta.open(sealed, aad: AssociatedData.enrolled(header.vault))
    }
  }

  /// Header field 16: a MAC of every public half that something may be wrapped to, of their owners, and of which audit
  /// roots there are, under the trust key.
  func factorMAC(of header: Header, _ slots: [SlotRow], _ trust: StoredKey) throws(VaultError) -> [UInt8] {
    let roots = slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }.map(\.subject)
    return KeyedHMAC(key: HKDF.derive(from: trust.key, label: Labels.factorMAC))
      .code(for: header.vouchedFor(try enrolledRecord(of: header), auditRoots: roots))
  }
}
