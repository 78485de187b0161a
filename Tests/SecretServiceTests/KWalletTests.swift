import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The device key in KWallet", .bounded, .serialized)
struct KWalletTests {
  /// Debian 12's kwalletd5 offers the Secret Service. Its wallet is opened as its PAM module does, without a dialog.
  ///
  /// KWallet spoils one session in 128, see `SecretServiceCalls.mostSessions`; the test needs about twenty. What one run
  /// finds wrong must be wrong in three: what is wrong with us is so each time.
  @Test("a vault whose key KWallet keeps opens with it, and moves to a file and back")
  func roundTrip() throws {
    var problems: [String] = []
    for _ in 1...3 {
      let found = try Self.problemsOfOneRoundTrip()
      problems = found.isEmpty ? [] : problems + found
      if found.isEmpty { break }
      print("KWallet: tried again after \(found)")
    }
    expect(problems, equals: [])
  }

  private static func problemsOfOneRoundTrip() throws -> [String] {
    let rig = try Rig()
    let kwallet = try Shell.need("kwalletd5")
    rig.killDaemon()
    try rig.startWallet(kwallet)
    let place = TemporaryVault()
    var problems = refusedProblems(rig, place)
    let protector = SecretServiceProtector(
      busAddress: rig.address, stateFolder: place.folder + "/state", prompting: .allowed,
      patience: .seconds(60))
    problems += try keptProblems(rig, place, protector)
    rig.killDaemon()
    let gone = thrown { () throws(VaultError) in try open(place, protector) }
    if gone?.code != .deviceKeyUnavailable { problems.append("opened, killed: \(String(describing: gone))") }
    return problems
  }

  /// A wallet counts as locked until a client asks for it to be unlocked, also when it is open.
  private static func refusedProblems(_ rig: Rig, _ place: TemporaryVault) -> [String] {
    let protector = SecretServiceProtector(
      busAddress: rig.address, stateFolder: nil, prompting: .never, patience: .seconds(60))
    let refusal = thrown { () throws(VaultError) in
      _ = try VaultCore.create(at: place.path, protector: protector, environment: place.environment)
    }
    return refusal?.code == .deviceKeyLocked ? [] : ["created, locked: \(String(describing: refusal))"]
  }

  private static func keptProblems(
    _ rig: Rig, _ place: TemporaryVault, _ protector: SecretServiceProtector
  ) throws -> [String] {
    var problems: [String] = []
    func check(_ isRight: Bool, _ problem: String) { if !isRight { problems.append(problem) } }
    do {
      let core = try VaultCore.create(
        at: place.path, protector: protector, environment: place.environment)
      check(try rig.items().count == 1, "items after create: \(try rig.items())")
      try open(place, protector)
      try core.rotateDeviceKey()
      try core.rotateDeviceKey(to: place.protector)
      check(try rig.items() == [], "items after the move to a file: \(try rig.items())")
      try core.rotateDeviceKey(to: protector)
      try open(place, protector)
      let (keys, key) = try (protector.keys(of: core.status().vault), core.status().deviceKey)
      check(keys == [key], "keys: \(keys), not \(key)")
    } catch let error as VaultError { problems.append("\(error)") }
    return problems
  }

  private static func open(_ place: TemporaryVault, _ protector: SecretServiceProtector) throws(VaultError) {
    _ = try VaultCore.open(at: place.path, protector: protector, environment: place.environment)
  }
}

extension Rig {
  /// KWallet in the place of GNOME Keyring, with an open wallet that asks nobody.
  fileprivate func startWallet(_ program: String) throws {
    let settings = """
      [Wallet]
      Enabled=true
      First Use=false
      Default Wallet=kdewallet
      Prompt on Open=false
      [org.freedesktop.secrets]
      apiEnabled=true

      """
    let folder = self.folder + "/home/.config"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try settings.write(toFile: folder + "/kwalletrc", atomically: false, encoding: .utf8)
    // The first run makes the wallet, the second one finds it as a collection.
    for _ in 0..<2 {
      killDaemon()
      try start(daemon: program, ["QT_QPA_PLATFORM": "offscreen"])
      try waitUntil("KWallet") { try openWallet().contains("method return") }
    }
    try waitUntil("a wallet") {
      try call("org.freedesktop.Secret.Service.ReadAlias", "string:default").contains("/collection/")
    }
  }

  private func openWallet() throws -> String {
    let hash = (0..<56).map { _ in "0x78" }.joined(separator: ",")
    return try program(
      "/usr/bin/dbus-send",
      [
        "--session", "--print-reply", "--dest=org.kde.kwalletd5", "/modules/kwalletd5",
        "org.kde.KWallet.pamOpen",
        "string:kdewallet", "array:byte:" + hash, "int32:0",
      ]
    ).text
  }
}
