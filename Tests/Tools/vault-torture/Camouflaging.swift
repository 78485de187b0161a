import AuthenticatorKit
import Glibc
import OneTimePassword
import PasswordDerivation
import SecretMemory
import VaultCrypto
import VaultKit
import VaultTestKit

/// Makes vaults with a camouflaged PIN, and beside each vault everything that a thief could have of it: old copies of the
/// file, and backups (R12). `Tests/Camouflage/attack.py` then looks for the PIN.
///
/// The derivation is as cheap as Argon2id can be, and everything random follows from the seed, so the same call makes the
/// same vaults.
enum Camouflaging {
  /// What a vault has in addition, which reveals its PIN.
  enum Planted: String {
    case nothing
    /// One secret behind the PIN a second time, which no program can detect.
    case twice
    /// One secret outside of the PIN too.
    case plain
  }

  /// - Parameter numbers: Each is the directory of a vault, and is a part of its seed.
  static func run(in folder: String, seed: UInt64, numbers: Range<Int>, planting planted: Planted) {
    do throws(VaultError) {
      for number in numbers {
        var vault = try CamouflagedVault(folder + "/\(number)", seed: seed &* 1_000_003 &+ UInt64(number))
        try vault.make(planting: planted)
        say("made \(number)")
      }
    } catch { fail("camouflage: \(error.word) \(error.message)") }
  }
}

private struct CamouflagedVault {
  private let rig: Rig
  private let random: SeededRandom
  private var copies = 0
  /// The PIN that codes are made with, and the one that the server knows.
  private var pin = ""
  private var confirmed = ""

  init(_ folder: String, seed: UInt64) throws(VaultError) {
    for name in ["", "/data", "/state"] {
      guard unsafe mkdir(folder + name, 0o700) == 0 else { fail("cannot make \(folder)\(name)") }
    }
    let lowest = Argon2id.Parameters(memoryKiB: 8, iterations: 1, parallelism: 1)
    var rig = Rig(folder)
    rig.environment = VaultEnvironment(
      clock: FixedClock(), random: SeededRandom(seed: seed).source,
      bounds: Argon2id.Bounds(floor: lowest, ceiling: Argon2id.Bounds.standard.ceiling), parameters: lowest,
      process: .current)
    self.rig = rig
    random = SeededRandom(seed: ~seed)
  }

  mutating func make(planting planted: Camouflaging.Planted) throws(VaultError) {
    let secrets = (0..<2).map { _ in (0..<20).map { _ in UInt8(random.below(256)) } }
    let item = try rig.create(passcode: nil).makePIN(NewPINItem(.camouflaged)).id
    try enroll(secrets[0], named: "bank", behind: item)
    confirmed = pin
    try keepCopy()
    try useCodes(of: "bank")
    try acceptWithoutServer(named: "bank")
    try enroll(secrets[1], named: "shop", behind: item)
    try backUp()
    for _ in 0..<1 + random.below(2) { try change(item) }
    switch planted {
    case .nothing: break
    case .twice: try enroll(secrets[0], named: "bank again", behind: item)
    case .plain: try enroll(secrets[0], named: "bank again", behind: nil)
    }
    if random.below(2) == 0 { pin = try changed(item, from: confirmed) }
    try useCodes(of: "shop")
    try acceptWithoutServer(named: "shop")
    try backUp()
    Self.write(pin, to: rig.folder + "/truth")
  }

  /// With the PIN as it is, or with one that nobody refuses.
  private mutating func enroll(_ secret: [UInt8], named name: String, behind item: ItemID?) throws(VaultError)
  {
    let core = try rig.open()
    while true {
      let isFirst = pin.isEmpty
      let typed = isFirst ? digits() : pin
      do throws(VaultError) {
        let context = try context(typed)
        _ = try core.addOTP(
          Self.uri(name, secret), named: name, pin: item, context: item == nil ? nil : context)
        pin = typed
        return
      } catch {
        guard error.code == .pinRefused, isFirst else { throw error }
      }
    }
  }

  /// Codes with right and wrong PINs, which look the same.
  private func useCodes(of name: String) throws(VaultError) {
    let core = try rig.open()
    let id = try core.item(named: name).id
    for _ in 0..<random.below(5) {
      _ = try core.nextHOTPCode(of: id, context: context(random.below(3) == 0 ? digits() : pin))
    }
  }

  /// Acceptances of which the server does not learn, with right and wrong PINs: what is kept of them must not tell the PIN.
  private mutating func acceptWithoutServer(named name: String) throws(VaultError) {
    let core = try rig.open()
    let id = try core.item(named: name).id
    let device = (0..<16).map { _ in UInt8(random.below(256)) }
    var transaction = try core.beginWriting()
    var changes = ItemChanges()
    changes.attributes[Attribute<String>(code: 75)] = DeafServer.path
    changes.attributes[Attribute<String>(code: 76)] = name
    changes.attributes[Attribute<[UInt8]>(code: 77)] = device
    changes.attributes[Attribute<Int64>(code: 80)] = 1
    _ = try transaction.update(id, changes, secret: nil, by: Component(.otp))
    try transaction.changeState(of: id) { $0.set(.active) }
    try transaction.commit()
    let server = DeafServer(offers: 1 + random.below(3))
    for asked in try core.receiveTransactions(for: id, over: server, context: context(pin)).found {
      do throws(VaultError) {
        let typed = random.below(3) == 0 ? digits() : pin
        _ = try core.acceptTransaction(asked.id, over: server, context: context(typed))
        fail("camouflage: a decision was told")
      } catch { guard error.code == .network else { throw error } }
    }
    try keepCopy()
  }

  /// A change that is confirmed, or taken back because the old PIN was mistyped.
  private mutating func change(_ item: ItemID) throws(VaultError) {
    let isMistyped = random.below(4) == 0
    let new = try changed(item, from: isMistyped ? digits() : confirmed)
    try keepCopy()
    let core = try rig.open()
    guard !isMistyped else { return try core.undoPINChange(item) }
    _ = try core.nextHOTPCode(of: core.item(named: "bank").id, context: context(new))
    try core.confirmPIN(item)
    (pin, confirmed) = (new, new)
  }

  private func changed(_ item: ItemID, from old: String) throws(VaultError) -> String {
    let core = try rig.open()
    while true {
      let new = digits()
      do throws(VaultError) {
        let context = try context(old)
        context.provide(new: try PIN(SecretBytes(testing: new)))
        try core.changePIN(item, context: context)
        return new
      } catch { guard [.pinRefused, .pinReused].contains(error.code) else { throw error } }
    }
  }

  // MARK: What a thief has

  private mutating func keepCopy() throws(VaultError) {
    var files = VaultFiles(at: rig.path)
    copies += 1
    files = VaultFiles(
      path: rig.folder + "/data/old-\(copies).vault", database: files.database, log: files.log)
    files.write()
  }

  private mutating func backUp() throws(VaultError) {
    copies += 1
    let core = try rig.open()
    _ = try core.backUp(
      to: rig.folder + "/data/old-\(copies).backup", passphrase: Passcode(testing: "of the thief"))
  }

  // MARK: Values

  private func digits() -> String {
    let number = random.below(10_000)
    return String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
  }

  private func context(_ pin: String) throws(VaultError) -> AuthenticationContext {
    let context = AuthenticationContext(reason: "a test", interaction: .notAllowed)
    context.provide(try PIN(SecretBytes(testing: pin)))
    return context
  }

  private static func uri(_ name: String, _ secret: [UInt8]) -> OTPAuthURI {
    do throws(OTPError) {
      return try OTPAuthURI(kind: .hotp(counter: 0), account: name, secret: SecretBytes(copying: secret))
    } catch { fail("camouflage: \(error)") }
  }

  private static func write(_ text: String, to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0, unsafe Glibc.write(file, text, text.utf8.count) == text.utf8.count else {
      fail("cannot write \(path)")
    }
    close(file)
  }
}

/// A server that offers transactions, and gets no decision.
private struct DeafServer: Transport {
  static let path = "/opt/bank"
  let offers: Int
  var identity: String { Self.path }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    guard request.operation == .transactionNext else { throw VaultError(peer: "NETWORK", "away") }
    var number = 1
    if case .text(let after)? = request.fields["after"] { number += Int(after.dropFirst(4)) ?? 0 }
    guard number <= offers else { return TransportAnswer() }
    var asked = TransportFields()
    asked["alias"] = .text("pay-\(number)")
    asked["context"] = .text("Pay \(number)2 EUR")
    asked["lifeSeconds"] = .number(600)
    var answer = TransportFields()
    answer["transaction"] = .fields(asked)
    return TransportAnswer(answer)
  }
}
