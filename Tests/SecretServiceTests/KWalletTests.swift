import Foundation
import Testing
import VaultKit
import VaultTestKit

@Suite("The device key in KWallet", .serialized)
struct KWalletTests {
  /// Debian 12's kwalletd5 offers the Secret Service. Its wallet is opened as its PAM module does, without a dialog.
  @Test("a vault whose key KWallet keeps opens with it, and moves to a file and back")
  func roundTrip() throws {
    // KWallet refuses one session in 256, that in which libsecret's public key begins with a zero byte and is sent
    // without it: "Client public key size is invalid". A person tries again, and so does this test.
    for attempt in 1...4 {
      do throws(VaultError) { return try wrapped(Self.oneRoundTrip) } catch {
        guard attempt < 4, error.message.contains("public key size") else { throw error }
        print("KWallet refused a session; tried again")
      }
    }
  }

  /// Errors of the rig are recorded; those of the vault are thrown.
  private func wrapped(_ body: () throws -> Void) throws(VaultError) {
    do { try body() } catch let error as VaultError { throw error } catch { Issue.record(error) }
  }

  private static func oneRoundTrip() throws {
    guard let rig = try Rig.started() else { return }
    let kwallet = "/usr/bin/kwalletd5"
    guard FileManager.default.isExecutableFile(atPath: kwallet) else {
      return print("skipped: KWallet: kwalletd5 is not installed: scripts/install-deps")
    }
    rig.killDaemon()
    try rig.startWallet(kwallet)
    let place = TemporaryVault()
    // A wallet counts as locked until a client asks for it to be unlocked, also when it is open.
    let refused = SecretServiceProtector(
      busAddress: rig.address, stateFolder: nil, prompting: .never, patience: .seconds(60))
    do throws(VaultError) {
      _ = try VaultCore.create(at: place.path, protector: refused, environment: place.environment)
      Issue.record("created")
    } catch { #expect(error.code == .deviceKeyLocked, "\(error)") }
    let protector = SecretServiceProtector(
      busAddress: rig.address, stateFolder: place.folder + "/state", prompting: .allowed,
      patience: .seconds(60))
    let core = try VaultCore.create(
      at: place.path, protector: protector, environment: place.environment
    ).core
    #expect(try rig.items().count == 1)
    _ = try VaultCore.open(at: place.path, protector: protector, environment: place.environment)
    try core.rotateDeviceKey()
    try core.rotateDeviceKey(to: place.protector)
    #expect(try rig.items() == [])
    try core.rotateDeviceKey(to: protector)
    _ = try VaultCore.open(at: place.path, protector: protector, environment: place.environment)
    #expect(try protector.keys(of: core.status().vault) == [core.status().deviceKey])
    rig.killDaemon()
    do throws(VaultError) {
      _ = try VaultCore.open(at: place.path, protector: protector, environment: place.environment)
      Issue.record("opened")
    } catch { #expect(error.code == .deviceKeyUnavailable, "\(error)") }
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
      try wait("KWallet") { try openWallet().contains("method return") }
    }
    try wait("a wallet") {
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
