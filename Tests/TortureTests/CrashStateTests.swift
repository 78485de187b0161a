import AuthenticatorKit
import Foundation
import SecretMemory
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R2: the states that a power failure can leave, by replaying what a command did to the disk.
  ///
  /// Planted, and found: `synchronous=OFF`, and `NORMAL`, for the database; the folder of the device key not
  /// synchronized.
  @Suite("Crash states (R2)", .serialized)
  struct Crashes {
    @Test(
      "after a crash at any moment of a command the vault opens, nothing acknowledged is lost, no counter comes twice",
      arguments: CrashCommand.all)
    func states(command: CrashCommand) throws {
      guard Command.exists("strace") else { return skip("R2: no strace") }
      let seed = Scale.seed
      let subject = try CrashSubject(command)
      let states = CrashStates(try subject.record())
      let all = states.all(random: Scale.pick(2, long: 40), seed: seed)
      // The short form takes some of them, evenly over the whole command, and the end in every form.
      let most = Scale.pick(220, long: .max)
      let random = SeededRandom(seed: seed)
      var (judged, failures) = (0, [String]())
      for state in all {
        let isEnd = state.steps == states.trace.steps.count
        guard all.count <= most || isEnd || random.below(all.count) < most else { continue }
        try states.disk(state).write(below: subject.folder)
        judged += 1
        let problems = subject.judge(isAcknowledged: state.isAcknowledged)
        if !problems.isEmpty { failures.append("\(state): \(problems.joined(separator: ", "))") }
        if failures.count == 5 { break }
      }
      report(
        "R2: \(command.name): \(states.trace.steps.count) steps, \(judged) of \(all.count) states, "
          + "\(subject.done) of them done, seed \(seed)")
      #expect(failures == [])
      // A trace without what counts proves nothing.
      #expect(states.trace.steps.count > 12 && subject.done > 0 && subject.done < judged)
    }
  }

  /// A command, and how to see in a vault whether it was done.
  struct CrashCommand: Sendable, CustomTestStringConvertible {
    let name: String
    let words: [String]
    var input = ""
    var hasPasscode = false
    var hasNamedKey = false
    /// Whether the vault is as after the command, given that it is as before or as after; else it throws.
    let isDone: @Sendable (VaultCore, CrashSubject) throws -> Bool

    var testDescription: String { name }

    struct Neither: Error { let what: String }

    static let all = [
      CrashCommand(name: "otp code", words: ["otp", "code", "counter"]) { core, _ in
        let state = try core.describeOTP(named: "counter").state
        guard 3...4 ~= state.counter, !state.needsResync else {
          throw Neither(what: "counter \(state.counter)")
        }
        let next = try core.nextHOTPCode(of: core.item(named: "counter").id)
        guard case .counter(state.counter) = next.factor else {
          throw Neither(what: "a code of another counter")
        }
        return state.counter == 4
      },
      CrashCommand(name: "item add", words: ["item", "add", "new"], input: "new secret") { core, _ in
        guard try !core.items(matching: Query(name: "new")).isEmpty else { return false }
        try expect(core, "new", "new secret")
        return true
      },
      CrashCommand(name: "item update", words: ["item", "update", "old"], input: "changed") { core, _ in
        let secret = try core.secret(of: core.item(named: "old").id).bytesForTesting
        guard secret == Array("changed".utf8) || secret == Array("old secret".utf8) else {
          throw Neither(what: "another secret")
        }
        return secret == Array("changed".utf8)
      },
      CrashCommand(name: "item rm", words: ["item", "rm", "old"]) { core, _ in
        guard try !core.items(matching: Query(name: "old")).isEmpty else { return true }
        try expect(core, "old", "old secret")
        return false
      },
      CrashCommand(name: "passcode set", words: ["passcode", "set", "--new-passcode-fd", "0"], input: "pass")
      {
        core, _ in
        if core.hasPasscode { try core.unlock(with: Passcode(testing: "pass")) }
        try expect(core, "old", "old secret")
        return core.hasPasscode
      },
      rotation(hasNamedKey: false), rotation(hasNamedKey: true),
      CrashCommand(name: "rotate epoch", words: ["rotate", "epoch"]) { core, subject in
        try expect(core, "old", "old secret")
        if core.isRotating { try core.rotateEpoch() }
        return try core.status().generation > subject.generation
      },
    ]

    private static func rotation(hasNamedKey: Bool) -> CrashCommand {
      CrashCommand(
        name: "rotate device-key" + (hasNamedKey ? ", key in a named file" : ""),
        words: ["rotate", "device-key"], hasNamedKey: hasNamedKey
      ) { core, subject in
        try expect(core, "old", "old secret")
        return try core.status().deviceKey != subject.deviceKey
      }
    }

    private static func expect(_ core: VaultCore, _ name: String, _ secret: String) throws {
      guard try core.secret(of: core.item(named: name).id).bytesForTesting == Array(secret.utf8) else {
        throw Neither(what: "another secret of \(name)")
      }
    }
  }

  /// A home directory with a vault that a command works on, once; then it is put into one state after another.
  final class CrashSubject {
    let folder: String
    private let command: CrashCommand
    private var vault: String { folder + "/.local/share/vault/default.vault" }
    private var key: String { folder + "/keys/device.key" }
    private(set) var deviceKey: DeviceKeyID?
    private(set) var generation: UInt32 = 0
    /// The states in which the command was done.
    private(set) var done = 0

    init(_ command: CrashCommand) throws {
      self.command = command
      folder = (Place.fast ?? NSTemporaryDirectory()) + "/vault-crash-\(UUID().uuidString)"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      try run(["init", "--no-passcode"])
      try run(["item", "add", "old"], "old secret")
      try run(["item", "add", "kept"], "kept secret")
      try run(
        ["otp", "add", "counter"], "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
      for _ in 0..<3 { try run(["otp", "code", "counter"]) }
      let core = try open()
      deviceKey = try core.status().deviceKey
      generation = try core.status().generation
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs the command with every call on a file written down.
    func record() throws -> CrashTrace {
      let base = try Disk(below: folder)
      let log = folder + ".log"
      defer { try? FileManager.default.removeItem(atPath: log) }
      try run(
        command.words, command.input,
        before: [
          "strace", "-f", "-xx", "-s", "70000", "-o", log, "-e",
          "trace=" + CrashTrace.calls.joined(separator: ","),
        ])
      return try CrashTrace(String(contentsOfFile: log, encoding: .utf8), folder: folder, base: base)
    }

    /// What is wrong with the vault as it lies there.
    func judge(isAcknowledged: Bool) -> [String] {
      do {
        let core = try open()
        var problems = try core.verify().problems.map { "\($0)" }
        let isDone = try command.isDone(core, self)
        if isDone { done += 1 }
        if isAcknowledged, !isDone { problems.append("acknowledged, and not done") }
        let kept = try core.secret(of: core.item(named: "kept").id).bytesForTesting
        if kept != Array("kept secret".utf8) { problems.append("another secret of kept") }
        let state = try core.describeOTP(named: "counter").state
        if state.counter < 3 || state.needsResync {
          problems.append("counter \(state.counter), \(state.needsResync)")
        }
        return problems
      } catch { return ["\(error)"] }
    }

    private func open() throws -> VaultCore {
      let protector =
        command.hasNamedKey ? FileProtector(file: key) : FileProtector(folder: folder + "/.local/state/vault")
      return try VaultCore.open(at: vault, protector: protector, environment: .testing())
    }

    private func run(_ words: [String], _ input: String = "", before: [String] = []) throws {
      let gate = try Gate()
      gate.write(input)
      gate.open()
      let all = before + [Program.tool] + words
      let environment = ["HOME": folder].merging(command.hasNamedKey ? ["VAULT_DEVICE_KEY": key] : [:]) { $1 }
      let process = try Running(all[0], Array(all.dropFirst()), environment: environment, gate: gate)
      let said = process.lines()
      try #require(process.wait() == 0, "\(words): \(said)")
    }
  }
}
