import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// The memory of verbs that look at every item, beside that of Argon2, which is cheap in this world.
  @Suite("The memory of long work", .bounded, .serialized)
  struct Memory {
    /// In MiB.
    private static let most = 64
    /// What shows or compares every item or entry at once: more than that in the long form, 300,000 items.
    private static let growing: Set<String> = ["audit", "restore"]

    /// The long form takes some minutes, and prints the figures of docs/decisions/0043-batches-of-rows.md.
    /// Verified to fail on commit 1a77a28b: SQLite cached 128 MiB, and an import kept its lines.
    @Test("no verb needs more than 64 MiB, however many items there are")
    func peaks() throws {
      let count = Scale.pick(30_000, long: 300_000)
      let place = try MemoryPlace(count)
      var peaks: [(verb: String, peak: Int)] = []
      for words in place.verbs {
        let verb = words.filter { !$0.contains("/") && $0 != "--passphrase-file" }.joined(separator: " ")
        let peak = try place.peak(of: words)
        peaks.append((verb, peak))
        let isKnown = Scale.isLong && Self.growing.contains { verb.hasPrefix($0) }
        #expect(peak <= Self.most || isKnown, "\(verb): \(peak) MiB")
      }
      report("memory, \(count) items, MiB: " + peaks.map { "\($0.verb) \($0.peak)" }.joined(separator: ", "))
    }
  }
}

/// A vault that is filled by an import.
private struct MemoryPlace {
  private let folder: String
  private let vault = TemporaryVault(in: Place.fast)

  init(_ count: Int) throws {
    folder = vault.folder
    for name in ["imported.jsonl", "passphrase"] {
      let isMade = FileManager.default.createFile(
        atPath: folder + "/" + name, contents: Data("a long phrase".utf8),
        attributes: [.posixPermissions: 0o600])
      try #require(isMade)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder + "/imported.jsonl"))
    for start in stride(from: 0, to: count, by: 10_000) {
      let lines = (start..<min(start + 10_000, count)).map { number in
        """
        {"kind":"password","name":"item\(number)","account":"user\(number)@example.org",\
        "service":"service\(number % (count / 10)).example.org","secret":"secret-value-\(number)"}

        """
      }
      try file.write(contentsOf: Data(lines.joined().utf8))
    }
    try file.close()
    _ = try peak(of: ["init", "--no-passcode"])
  }

  /// In an order in which each has what it needs.
  var verbs: [[String]] {
    let phrase = ["--passphrase-file", folder + "/passphrase"]
    return [
      ["import", "jsonl", folder + "/imported.jsonl"], ["vault", "check"], ["audit"],
      ["export", "jsonl", folder + "/exported.jsonl", "--plain"], ["backup", folder + "/b.vault"] + phrase,
      ["restore", folder + "/b.vault", "--vault", folder + "/other/v.vault"] + phrase,
      ["restore", folder + "/b.vault", "--replace"] + phrase, ["vault", "rotate", "epoch"],
      ["vault", "purge"],
    ]
  }

  /// The most memory that a command had at any time, in MiB, as the kernel counts it at its end.
  func peak(of words: [String]) throws -> Int {
    let script = """
      import resource, subprocess, sys
      code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
      print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      """
    let process = try Running(
      "python3", ["-c", script, Built.path("vaultctl-testing")] + words,
      environment: ["HOME": folder, "VAULTCTL_PATH": folder + "/data/v.vault"])
    let said = process.lines()
    let numbers = (said.last ?? "").split(separator: " ").compactMap { Int($0) }
    try #require(process.wait() == 0 && numbers.count == 2 && numbers[0] == 0, "\(words): \(said)")
    return (numbers[1] + 1023) / 1024
  }
}
