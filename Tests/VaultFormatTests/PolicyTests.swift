import TestSupport
import Testing
import VaultExpectations
import VaultFormat

@Suite("Policies", .bounded)
struct PolicyTests {
  private static let pinItem = ItemID([UInt8](repeating: 7, count: 16))!

  private static func life(session: [UInt8]?) -> TokenLife {
    TokenLife(
      issued: Instant(milliseconds: -5), issuedBootTime: 6, boot: [UInt8](repeating: 1, count: 16),
      length: 60_000,
      mostUses: 3, session: session)
  }

  private static func policy(
    _ constraints: Constraints = [], life: TokenLife? = nil, pin: PINMode? = nil, isExportable: Bool = false,
    expiry: ExpiryRule = .warn
  ) throws -> Policy {
    let factors = constraints.single.map { BoundConstraint(flag: $0, factor: .passcode) }
    return Policy(
      access: try AccessControl(constraints), audit: .changes, factors: factors,
      isExportable: isExportable,
      requirements: Policy.Requirements(
        life: life, pin: pin.map { GuardingPIN($0, item: pinItem) }, expiry: expiry))
  }

  /// Verified to fail when the field is written for a warning too, when it is not read, and when a change of the audit drops it.
  @Test("only a rule to refuse is a field; the rule is what is read, and can be changed alone")
  func expiry() throws {
    let (warning, refusing) = (try Self.policy(), try Self.policy(expiry: .refuse))
    #expect(warning.record[11] == nil && refusing.record[11] == [1])
    try expect(Policy(record: warning.record).expiry, equals: .warn)
    try expect(Policy(record: refusing.record).requirements().expiry, equals: .refuse)
    #expect(refusing.with(audit: .all).record[11] == [1] && refusing.with(audit: .all).expiry == .refuse)
    #expect(refusing.with(expiry: .warn).record == warning.record)
    #expect(warning.with(expiry: .refuse).record == refusing.record)
    for kind in [ItemKind.genericPassword, .internetPassword] { #expect(refusing.fits(kind)) }
    for kind in [ItemKind.key, .certificate, ItemKind(rawValue: 0x8001), ItemKind(rawValue: 777)] {
      #expect(!refusing.fits(kind) && warning.fits(kind))
    }
    var later = refusing.record
    later[11] = [2]
    let unknown = try Policy(record: later)
    #expect(unknown.expiry == .refuse && unknown.with(expiry: .warn).record == later)
  }

  @Test("what a policy requires is what it says when it is read again")
  func roundTrip() throws {
    let session = [UInt8](repeating: 2, count: 32)
    for life in [nil, Self.life(session: nil), Self.life(session: session)] {
      for pin in [nil, PINMode.checked, .camouflaged] {
        for isExportable in [false, true] {
          let made = try Self.policy(life: life, pin: pin, isExportable: isExportable)
          let read = try Policy(record: made.record)
          #expect(try read.requirements() == made.requirements() && read.isExportable == isExportable)
          #expect(read.record == made.record && read.hash == made.hash)
        }
      }
    }
  }

  /// Verified to fail when the form follows from the constraint word, and when a camouflaged PIN counts as checked.
  @Test("the further secrets and the form of the keys follow from the policy")
  func furtherSecrets() throws {
    typealias Names = FurtherSecrets.Names
    let session = Self.life(session: [UInt8](repeating: 2, count: 32))
    let table: [(Policy, Names, isWrapped: Bool)] = [
      (try Self.policy(), [], false),
      (try Self.policy(.devicePasscode), [], true),
      (try Self.policy(.applicationPassword), .password, true),
      (try Self.policy(pin: .checked), .pin, true),
      (try Self.policy(pin: .camouflaged), [], false),
      (try Self.policy(life: Self.life(session: nil)), [], false),
      (try Self.policy(life: session), .session, true),
      (
        try Self.policy([.applicationPassword, .devicePasscode], life: session, pin: .checked),
        [.password, .pin, .session], true
      ),
    ]
    for (policy, names, isWrapped) in table {
      for policy in [policy, try Policy(record: policy.record)] {
        try expect(policy.furtherSecrets(), equals: names)
        try expect(policy.isWrapped(), equals: isWrapped)
      }
    }
  }

  /// Verified to fail when unknown fields are ignored, and when another mode is read as one of the known modes.
  @Test(
    "a rule that this version does not know: the policy is read and kept, and requires what nobody can give",
    arguments: [
      "field 0", "field 9", "field 10", "field 11 empty", "field 11 of 0", "field 11 of 2", "field 12",
      "mode 3", "mode 3 without an item", "field 3 of the PIN",
      "field 0 of the life", "field 7 of the life", "key usage",
    ])
  func unknown(rule: String) throws {
    var record = try Self.policy(life: Self.life(session: nil), pin: .checked).record
    var (pin, life) = (try record.record(8), try record.record(7))
    switch rule {
    case "field 0": record[0] = []
    case "field 9": record[9] = []
    case "field 10": record[10] = [1]
    case "field 11 empty": record[11] = []
    case "field 11 of 0": record[11] = [0]
    case "field 11 of 2": record[11] = [2]
    case "field 12": record[12] = [1]
    case "mode 3": pin.set(1, u8: 3)
    case "mode 3 without an item":
      pin.set(1, u8: 3)
      pin[2] = nil
    case "field 3 of the PIN": pin[3] = [0]
    case "field 0 of the life": life[0] = []
    case "field 7 of the life": life[7] = []
    default: record.set(3, u32: 0x4000_0000)
    }
    record.set(8, record: pin)
    record.set(7, record: life)
    let policy = try Policy(record: record)
    #expect(policy.record == record && policy.with(audit: .all).record != record)
    expect(.unsupported) { () throws(VaultError) in _ = try policy.requirements() }
    expect(.unsupported) { () throws(VaultError) in _ = try policy.furtherSecrets() }
    expect(.unsupported) { () throws(VaultError) in _ = try policy.isWrapped() }
  }

  @Test(
    "a PIN or a life of another shape is damage",
    arguments: ["no mode", "short id", "no id", "no record", "short boot", "short session"])
  func damaged(what: String) throws {
    var record = try Self.policy(life: Self.life(session: nil), pin: .checked).record
    var (pin, life) = (try record.record(8), try record.record(7))
    switch what {
    case "no mode": pin[1] = nil
    case "short id": pin[2] = [1]
    case "no id": pin[2] = nil
    case "short boot": life[3] = [1]
    case "short session": life[6] = [1]
    default: break
    }
    record.set(8, record: pin)
    record.set(7, record: life)
    if what == "no record" { record[8] = [1] }
    let policy = try Policy(record: record)
    expect(.damaged) { () throws(VaultError) in _ = try policy.requirements() }
  }
}
