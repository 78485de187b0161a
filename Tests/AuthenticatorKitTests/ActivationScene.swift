import AuthenticatorKit
import Foundation
import OneTimePassword
import SecretMemory
import Synchronization
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A server that activates and unlocks one credential, as a test says.
final class ActivationServer: Transport {
  struct Script: Sendable {
    var codes: [TransportOperation: String] = [
      .activationStart: "first", .activationFinish: "second", .unlockFinish: "third",
    ]
    /// Members of the answer to `activationStart`, besides `peer` and `secretBase64`.
    var start: [String: TransportValue] = [:]
    var secret = [UInt8](repeating: 0x5A, count: 32)
    var credential = ActivationServer.credential()
    var device: TransportFields?
    /// Members of the answer to `activationFinish`, besides the credentials.
    var finish: [String: TransportValue] = [:]
    var unlock: [String: TransportValue] = ["unlock": .text("u-1")]
    var unlocked: [String: TransportValue] = [:]
    var synchronized: [String: TransportValue] = [:]
    /// Runs before the answer; what it throws is the answer.
    var before: (@Sendable (TransportRequest) throws(VaultError) -> Void)?
  }

  let identity: String
  let script = Mutex(Script())
  private let log = Mutex<[TransportRequest]>([])

  init(_ identity: String = "/opt/peer") { self.identity = identity }

  var requests: [TransportRequest] { log.withLock { $0 } }
  var operations: [TransportOperation] { requests.map(\.operation) }

  func change(_ body: @Sendable (inout Script) -> Void) { script.withLock { body(&$0) } }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    log.withLock { $0.append(request) }
    let script = script.withLock { $0 }
    if let before = script.before { try before(request) }
    if let code = script.codes[request.operation], request.text(of: "codeBase64") != code {
      throw VaultError(peer: "CODE", "that code is wrong")
    }
    return TransportAnswer(Self.answer(to: request, by: script))
  }

  private static func answer(to request: TransportRequest, by script: Script) -> TransportFields {
    var fields = TransportFields()
    var members: [String: TransportValue] = [:]
    switch request.operation {
    case .activationStart:
      fields["peer"] = .text("c-17")
      fields["secretBase64"] = .secret(script.secret)
      members = script.start
    case .activationFinish:
      fields["credential"] = .fields(script.credential)
      fields["deviceCredential"] = script.device.map { .fields($0) }
      members = script.finish
    case .unlockStart: members = script.unlock
    case .unlockFinish: members = script.unlocked
    case .synchronize: members = script.synchronized
    default: break
    }
    for (name, value) in members { fields[name] = value }
    return fields
  }

  /// A HOTP credential with the key of ``PINRig/rawKey``.
  static func credential(
    _ type: String = "hotp", key: [UInt8] = PINRig.rawKey, _ more: KeyValuePairs<String, TransportValue> = [:]
  ) -> TransportFields {
    var fields = TransportFields(["type": .text(type), "secretBase64": .secret(key)])
    for (name, value) in more { fields[name] = value }
    return fields
  }
}

extension TransportValue {
  static func secret(_ bytes: [UInt8]) -> TransportValue {
    .secret(TransportSecret(SecretBytes(copying: bytes)))
  }
}

extension TransportRequest {
  /// A secret member as text.
  func text(of name: String) -> String? {
    guard case .secret(let secret)? = fields[name] else { return nil }
    return String(decoding: secret.bytes, as: UTF8.self)
  }
}

extension TransportSecret {
  var bytes: [UInt8] { expose { span in (0..<span.byteCount).map { span.byte(at: $0) } } }
}

/// A vault with a server that activates a credential `bank`.
struct ActivationScene {
  let rig: PINRig
  let server = ActivationServer()
  var core: VaultCore { rig.core }

  init(passcode: String? = nil, mode: UInt64? = nil) throws {
    rig = try PINRig(passcode: passcode)
    if let mode { server.change { $0.start["pinMode"] = .number(mode) } }
  }

  func start(
    _ name: String = "bank", code: String = "first", over transport: (any Transport)? = nil
  ) throws(VaultError) {
    _ = try core.startActivation(
      NewActivation(name), code: SharedSecret(SecretBytes(testing: code)), over: transport ?? server)
  }

  @discardableResult
  func finish(
    _ name: String = "bank", code: String = "second", pin: ItemID? = nil, unlockKey: PINUnlockKey? = nil,
    over transport: (any Transport)? = nil, _ context: AuthenticationContext? = nil
  ) throws(VaultError) -> ActivatedCredential {
    try core.finishActivation(
      named: name, code: SharedSecret(SecretBytes(testing: code)), pin: pin.map { .stored($0) },
      unlockKey: unlockKey,
      over: transport ?? server, context: context)
  }

  func finishUnlock(_ id: ItemID, code: String = "third", _ context: AuthenticationContext? = nil)
    throws(VaultError)
  {
    try core.finishUnlock(
      of: id, code: SharedSecret(SecretBytes(testing: code)), over: server, context: context)
  }

  /// An active credential behind a checked PIN 8306.
  func activated(limit: Int? = nil) throws -> (credential: ItemID, pin: ItemID) {
    server.change { $0.start["pinMode"] = .number(9) }
    let pin = try rig.checked(limit: limit)
    try start()
    return (try finish(pin: pin, rig.context("8306")).credential, pin)
  }

  func state(_ name: String = "bank") throws(VaultError) -> CredentialState {
    try core.credentialStatus(named: name).state
  }

  /// Describes the credential as one with or without a suite.
  func describe() throws(VaultError) {
    expect(.wrongState) { () throws(VaultError) in _ = try core.describeOTP(named: "bank").digits }
    _ = try core.describeOCRA(named: "bank").window
  }

  func code(of id: ItemID, _ pin: String = "8306") throws -> String {
    try core.nextHOTPCode(of: id, context: rig.context(pin)).code
  }

  /// Types wrong PINs until the PIN is blocked.
  func block(_ id: ItemID) throws {
    for _ in 0..<20 {
      let error = thrown { () throws(VaultError) in
        _ = try core.nextHOTPCode(of: id, context: rig.typing("8307"))
      }
      if error?.attemptsLeft == 0 { return }
    }
    Issue.record("the PIN is not blocked")
  }
}

/// The files of a vault, for what must be in none of them.
struct VaultFiles {
  let place: TemporaryVault

  /// The seal of the secret that was stored last.
  func lastSealedSecret() throws -> [UInt8] {
    let copy = place.folder + "/seal.db"
    try RawSQLite.run(
      """
      ATTACH '\(copy)' AS o; CREATE TABLE o.t(x TEXT);
      INSERT INTO o.t SELECT hex(secret) FROM material ORDER BY row DESC LIMIT 1
      """, on: place.path)
    let text = try String(decoding: Data(contentsOf: URL(fileURLWithPath: copy)), as: UTF8.self)
    try FileManager.default.removeItem(atPath: copy)
    let hex = try #require(text.matches(of: /[0-9A-F]{64,}/).map { String($0.0) }.max { $0.count < $1.count })
    return stride(from: 0, to: hex.count - 1, by: 2).map { offset in
      let start = hex.index(hex.startIndex, offsetBy: offset)
      return UInt8(hex[start...].prefix(2), radix: 16)!
    }
  }

  /// Whether some file below the folder of the vault has these bytes.
  func contain(_ bytes: [UInt8]) throws -> Bool {
    let files = try FileManager.default.subpathsOfDirectory(atPath: place.folder)
    return files.contains { file in
      guard let data = FileManager.default.contents(atPath: place.folder + "/" + file) else { return false }
      return data.range(of: Data(bytes)) != nil
    }
  }
}
