import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R3: each synchronization of the vault fails once, and the process is killed before it has cleaned up, so that the
  /// next process recovers the log with the bytes that the failed commit left there.
  ///
  /// Verified to fail when the error does not say that the change may have been stored, as on commit b5afbda, when a
  /// device key is removed that a failed commit names, and when a code is shown whose commit failed.
  @Suite("Commits that fail", .bounded, .requirement("R3"), .serialized)
  struct FailedCommits {
    enum Verb: String, CaseIterable, CustomTestStringConvertible {
      case itemAdd = "add"
      case otpCode = "code"
      case passcodeChange = "passcode change"
      case rotateDeviceKey = "vault rotate device-key"
      case recover = "vault rotate device-key --recovery-file"
      var testDescription: String { rawValue }
    }

    @Test(
      "the change is there whole or not at all, what was acknowledged is there, and the error says that it may be",
      arguments: Verb.allCases)
    func killed(verb: Verb) throws {
      try Shell.need("strace")
      var scene = try Scene()
      var (failures, found) = (0, 0)
      for number in 1...30 {
        guard let told = try run(verb, failing: number, killedAt: nil, &scene) else { break }
        guard let left = try run(verb, failing: number, killedAt: told.unlinksBefore + 1, &scene) else {
          break
        }
        // The change is not found while the log is as it was before the commit.
        #expect(told.isDone || !told.isThere, "call \(number): \(told.said)")
        guard !told.isDone else { continue }
        expect(told.status, equals: 13, "call \(number): \(told)")
        // A failure in the rehearsal of a new device key is not a commit: no change is found.
        guard told.said.contains("may have been stored") || left.isThere else { continue }
        #expect(told.said.contains("may have been stored"), "call \(number): \(told)")
        failures += 1
        found += left.isThere ? 1 : 0
      }
      report("R3, failed commits: \(verb.rawValue): \(failures) failed, \(found) found after a kill")
      #expect(failures > 0 && found > 0, "nothing was hit: \(failures), \(found)")
    }

    private struct Outcome {
      let status: Int32
      let said: String
      let isDone: Bool
      let isThere: Bool
      /// How many files were removed before the call that failed; the removals at the end of the process do not count.
      let unlinksBefore: Int
    }

    /// Runs the verb with its synchronization of this number failing; `nil` where it makes fewer.
    private func run(
      _ verb: Verb, failing number: Int, killedAt unlink: Int?, _ scene: inout Scene
    ) throws -> Outcome? {
      let before = try scene.prepare(verb)
      let log = scene.vault.folder + "/calls"
      let path = scene.vault.path
      var words = [
        "-f", "-o", log, "-P", path, "-P", path + "-wal", "-P", path + "-shm",
        "-e", "trace=fdatasync,unlink", "-e", "inject=fdatasync:error=EIO:when=\(number)",
      ]
      // When the log is moved into the file after the failure; where that fails too the process ends by itself.
      if let unlink { words += ["-e", "inject=unlink:signal=KILL:when=\(unlink)"] }
      let gate = try Gate()
      gate.write(scene.input(verb))
      gate.open()
      let process = try Running(
        "strace", words + [Built.path("vaultctl-testing")] + scene.words(verb),
        environment: scene.environment, gate: gate)
      let said = process.lines().joined(separator: "\n")
      let status = process.wait()
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let hit = calls.firstIndex { $0.contains("EIO (Input/output error) (INJECTED)") }
      let isDone = try scene.isDone(verb, status, said)
      let isThere = try scene.check(verb, since: before, mustBeThere: isDone)
      guard let hit else { return nil }
      let unlinks = calls[..<hit].count { $0.contains("unlink(") }
      return Outcome(
        status: status, said: said, isDone: isDone, isThere: isThere, unlinksBefore: unlinks)
    }
  }

  /// A vault that verbs change, at the path where the tool finds it by default.
  private struct Scene {
    let vault = TemporaryVault(in: Place.fast)
    let protector: FileProtector
    private let recoveryFile: String
    private var number = 0
    private var passcode = 0
    private var shown: [UInt64] = []
    private var kept: [String: Data] = [:]

    init() throws {
      protector = FileProtector(folder: vault.folder + "/xdg/vaultctl")
      recoveryFile = vault.folder + "/recovery"
      let core = try VaultCore.create(
        at: vault.path, protector: protector, passcode: Passcode(testing: "passcode 0"),
        environment: .testing()
      )
      try write(Data(core.makeRecoveryCode().text.bytesForTesting), to: recoveryFile)
      try core.addTestHOTP("counter")
      _ = try core.add(
        NewItem(.genericPassword, name: "old"), secret: SecretBytes(testing: "secret of old"))
    }

    var environment: [String: String] {
      ["VAULTCTL_PATH": vault.path, "XDG_STATE_HOME": vault.folder + "/xdg", "HOME": vault.folder]
    }

    /// The values that the vault is compared with afterwards.
    struct Before {
      let deviceKey: DeviceKeyID
      let counter: UInt64
    }

    mutating func prepare(_ verb: FailedCommits.Verb) throws -> Before {
      number += 1
      let core = try open()
      let counter = try core.describeOTP(named: "counter").state.counter
      let before = Before(deviceKey: try VaultCore.outline(at: vault.path).deviceKey, counter: counter)
      switch verb {
      case .itemAdd: try write(passcodeText(passcode), to: file("passcode"))
      case .otpCode: try write(passcodeText(passcode), to: file("passcode"))
      case .passcodeChange:
        try write(passcodeText(passcode), to: file("passcode"))
        try write(passcodeText(number), to: file("new"))
      case .recover:
        // The lost key, kept here only to see whether the vault is as before.
        for key in keyFiles {
          kept[key] = FileManager.default.contents(atPath: key)
          try FileManager.default.removeItem(atPath: key)
        }
      case .rotateDeviceKey: break
      }
      return before
    }

    func words(_ verb: FailedCommits.Verb) -> [String] {
      switch verb {
      case .itemAdd: ["add", "n\(number)", "--passcode-file", file("passcode")]
      case .otpCode: ["code", "counter", "--json", "--passcode-file", file("passcode")]
      case .passcodeChange:
        ["passcode", "change", "--passcode-file", file("passcode"), "--new-passcode-file", file("new")]
      case .rotateDeviceKey: ["vault", "rotate", "device-key"]
      case .recover: ["vault", "rotate", "device-key", "--recovery-file", recoveryFile]
      }
    }

    func input(_ verb: FailedCommits.Verb) -> String { verb == .itemAdd ? "secret of n\(number)" : "" }

    /// Whether the tool reported success; a code that it printed must not have been printed before.
    mutating func isDone(_ verb: FailedCommits.Verb, _ status: Int32, _ said: String) throws -> Bool {
      guard verb == .otpCode,
        let line = said.split(separator: "\n").first(where: { $0.contains("\"code\":\"") }),
        line.hasPrefix("{\"name\"")
      else { return status == 0 }
      let words = try Reading.counterAndCode(String(line)).split(separator: " ")
      let counter = try #require(UInt64(words[0]))
      try expect(Expected.code(counter), equals: String(words[1]))
      shown.append(counter)
      #expect(Set(shown).count == shown.count && shown == shown.sorted(), "\(shown)")
      return true
    }

    /// Whether the change is there, after everything else was compared.
    mutating func check(
      _ verb: FailedCommits.Verb, since before: Before, mustBeThere: Bool
    ) throws -> Bool {
      let outline = try VaultCore.outline(at: vault.path)
      if verb == .recover {
        // An unchanged vault needs the lost key; a changed one must not need it.
        for (path, key) in kept where outline.deviceKey == before.deviceKey { try write(key, to: path) }
        kept = [:]
      }
      let path = protector.path(of: outline.deviceKey, outline.vault)
      #expect(
        FileManager.default.fileExists(atPath: path), "\(number): the device key that the vault names is gone"
      )
      let core = try open()
      try expect(core.verify().problems, equals: [])
      let isThere: Bool
      switch verb {
      case .itemAdd: isThere = try !core.items(matching: Query(name: "n\(number)")).isEmpty
      case .otpCode:
        let counter = try core.describeOTP(named: "counter").state.counter
        #expect(counter == before.counter || counter == before.counter + 1)
        isThere = counter == before.counter + 1
      case .passcodeChange:
        isThere = (try? core.unlock(with: Passcode(testing: "passcode \(number)"))) != nil
        if isThere { passcode = number }
      case .rotateDeviceKey, .recover: isThere = outline.deviceKey != before.deviceKey
      }
      try unlock(core)
      if verb == .itemAdd, isThere { try compare(core, "n\(number)") }
      try compare(core, "old")
      #expect(isThere || !mustBeThere, "\(number): acknowledged and not there")
      return isThere
    }

    private func compare(_ core: VaultCore, _ name: String) throws {
      let secret = try core.secret(of: core.item(named: name).id).bytesForTesting
      expect(secret, equals: Array("secret of \(name)".utf8))
    }

    private func unlock(_ core: VaultCore) throws {
      guard !core.isUnlocked else { return }
      try core.unlock(with: Passcode(testing: "passcode \(passcode)"))
    }

    private func open() throws -> VaultCore {
      try VaultCore.open(at: vault.path, protector: protector, environment: .testing())
    }

    private var keyFiles: [String] {
      let folder = vault.folder + "/xdg"
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
      return names.filter { $0.hasSuffix(".key") }.map { folder + "/" + $0 }
    }

    private func passcodeText(_ number: Int) -> Data { Data("passcode \(number)".utf8) }
    private func file(_ name: String) -> String { vault.folder + "/" + name }

    private func write(_ data: Data, to path: String) throws {
      try? FileManager.default.removeItem(atPath: path)
      let isMade = FileManager.default.createFile(
        atPath: path, contents: data, attributes: [.posixPermissions: 0o600])
      try #require(isMade)
    }
  }
}
