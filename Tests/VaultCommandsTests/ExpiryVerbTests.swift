import Foundation
import TestSupport
import Testing
import VaultExpectations

/// What people meet of items that have expired.
///
/// Verified to fail on commit b182f98f, where an expired password is refused and deleted and dates are no expiry; when `get` or
/// `exec` does not warn; when the warning is not in JSON; and when an update keeps the date of the old secret.
@Suite("Items that have expired", .bounded, .requirement("Q6"))
struct ExpiryVerbTests {
  /// 2027-01-30 12:00:00 UTC.
  private static let now = 1_801_310_400
  private let tool: Tool

  init() throws {
    tool = try Tool()
    tool.environment["VAULTCTL_TESTING_CLOCK"] = String(Self.now)
    try expect(tool("init", "--no-passcode").exit, equals: 0)
  }

  /// Days pass by both clocks, with a commit each day.
  private func pass(days: Int) throws {
    for day in 1...days {
      tool.environment["VAULTCTL_TESTING_CLOCK"] = String(Self.now + day * 86_400)
      tool.environment["VAULTCTL_TESTING_BOOT"] = String(1000 + day * 86_400)
      try expect(tool("add", "day \(day)", input: [1]).exit, equals: 0)
    }
  }

  @Test("an expired password is given with a warning that names it, its date and the ways out, for years")
  func given() throws {
    let added = try tool("add", "bank", "--expires", "2027-01-31", input: Array("old".utf8))
    #expect(added.exit == 0 && added.errors == "vaultctl: expires 2027-01-31 00:00 UTC\n", "\(added.errors)")
    #expect(try tool("get", "bank").errors.isEmpty)
    try pass(days: 5)
    let run = try tool("get", "bank")
    let words =
      "'bank' expired 2027-01-31 00:00 UTC; store a new one with 'vaultctl edit bank --password', or remove the expiry with "
      + "'vaultctl edit bank --no-expiry'"
    #expect(
      run.exit == 0 && run.text == "old" && run.errors == "vaultctl: warning: \(words)\n", "\(run.errors)")
    let json = try tool("get", "bank", "--json")
    #expect(try json.exit == 0 && json.errors.isEmpty && json.json["warnings"] as? [String] == [words])
    #expect(try json.json["expired"] as? Bool == true && json.json["expires"] as? Int == 1_801_353_600)
    let started = try tool("run", "--env", "X=bank", "--", "sh", "-c", "printf %s \"$X\"")
    #expect(started.exit == 0 && started.text == "old" && started.errors.contains(words), "\(started.errors)")
    let batch = try tool("vault", "batch", "--json", input: Array(#"{"args":["get","bank"]}"#.utf8))
    #expect(
      batch.exit == 0 && batch.text.contains("\"expired\":true")
        && batch.text.contains("2027-01-31 00:00 UTC"))
    let export = try tool("export", "jsonl", "--plain")
    #expect(
      export.exit == 0 && export.text.contains(#""expires":1801353600,"secret":"old""#), "\(export.text)")
    #expect(
      try tool("vault", "doctor").text.contains("1 passwords have expired, and are given with a warning"))
  }

  /// Verified to fail when no command warns.
  @Test("the agent gives it with the same warning, and refuses what is to be refused")
  func agent() throws {
    try Tool.$usesAgent.withValue(true) {
      let tool = try Tool()
      let later = tool.environment["VAULTCTL_TESTING_CLOCK"]
      tool.environment["VAULTCTL_TESTING_CLOCK"] = String(tool.now - 5 * 86_400)
      tool.environment["VAULTCTL_AGENT"] = "never"
      try expect(tool("init", "--no-passcode").exit, equals: 0)
      for (name, rule) in [("soft", "warn"), ("strict", "refuse")] {
        try expect(
          tool("add", name, "--expires", "1d", "--expiry", rule, input: [65]).exit, equals: 0)
      }
      tool.environment["VAULTCTL_AGENT"] = "required"
      tool.environment["VAULTCTL_TESTING_CLOCK"] = later
      let run = try tool("get", "soft")
      #expect(
        run.exit == 0 && run.text == "A"
          && run.errors.contains("vaultctl: warning: 'soft' expired 2030-03-13"),
        "\(run.errors)")
      let refused = try tool("get", "strict")
      #expect(
        refused.exit == 7 && refused.text.isEmpty && refused.errors.contains("'strict' expired 2030-03-13"),
        "\(refused.errors)")
    }
  }

  @Test("--expiry refuse refuses it with its date and the ways out, and it stays")
  func refused() throws {
    let words = ["--expires", "2027-01-31T10:00+01:00", "--expiry", "refuse"]
    let added = try tool.run(["add", "the key"] + words, input: [65])
    #expect(
      added.errors == "vaultctl: expires 2027-01-31 09:00 UTC, and is refused then\n", "\(added.errors)")
    try expect(tool("get", "the key").exit, equals: 0)
    try pass(days: 5)
    let id = try #require(try tool("show", "the key", "--json").json["id"] as? String)
    for run in [
      try tool("get", "the key"), try tool("run", "--env", "X=the key", "--", "true"),
      try tool("get", "the key", "--json"),
    ] {
      #expect(run.exit == 7 && run.text.isEmpty, "\(run.errors)")
      #expect(
        run.errors.contains("'the key' expired 2027-01-31 09:00 UTC, and is refused since"), "\(run.errors)")
      #expect(run.errors.contains("vaultctl edit --id \(id) --no-expiry"), "\(run.errors)")
    }
    #expect(try tool("show", "the key").text.contains("expiry               refuse"))
    #expect(try tool("vault", "doctor").text.contains("1 items have expired, and are refused"))
    try expect(tool("edit", "the key", "--expiry", "warn").exit, equals: 0)
    try expect(tool("get", "the key").exit, equals: 0)
    try expect(tool("edit", "the key", "--expiry", "refuse").exit, equals: 0)
    try expect(tool("edit", "--id", id, "--no-expiry").exit, equals: 0)
    let open = try tool("get", "the key")
    #expect(open.exit == 0 && open.errors.isEmpty)
  }

  @Test("a new secret has no expiry of the old one that has passed, and keeps one that has not")
  func updated() throws {
    func update(_ words: [String]) throws -> Tool.Run {
      try tool.run(["edit", "bank", "--password"] + words, input: [66])
    }
    try expect(tool("add", "bank", "--expires", "2d", input: [65]).exit, equals: 0)
    let kept = try update(["--json"])
    try expect(kept.json["expires"] as? Int, equals: Self.now + 2 * 86_400)
    try pass(days: 3)
    let removed = try update([])
    #expect(
      removed.exit == 0
        && removed.errors.contains("the expiry of the old secret, 2027-02-01 12:00 UTC, is removed"))
    let run = try tool("get", "bank")
    #expect(run.exit == 0 && run.text == "B" && run.errors.isEmpty)
    let new = try update(["--expires", "1y"])
    #expect(
      new.errors == "vaultctl: expires 2028-02-02 12:00 UTC\nvaultctl: changed: password\n", "\(new.errors)")
    try expect(update(["--no-expiry", "--json"]).json["expires"] as? Int, equals: nil)
  }

  @Test("a credential is refused after its date with the way out, never deleted, and has no rule")
  func credential() throws {
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    try expect(tool("otp", "add", "code", input: Array(uri.utf8)).exit, equals: 0)
    try expect(tool("edit", "code", "--expires", "1d").exit, equals: 0)
    try expect(tool("edit", "code", "--expiry", "refuse").exit, equals: 9)
    try pass(days: 5)
    let run = try tool("code", "code")
    #expect(run.exit == 7 && run.errors.contains("vaultctl edit code --no-expiry"), "\(run.errors)")
    // Verified to fail when only the verbs that give a secret name it.
    #expect(run.errors.contains("'code' expired 2027-01-31 12:00 UTC\n"), "\(run.errors)")
    let export = try tool("export", "jsonl", "--plain")
    #expect(export.exit == 7 && export.errors.contains("left out 'code' (expired)"), "\(export.errors)")
    try expect(tool("edit", "code", "--no-expiry").exit, equals: 0)
    try expect(tool("code", "code").exit, equals: 0)
  }

  @Test("what an export wrote comes back with its expiry and its rule")
  func moved() throws {
    for (name, rule) in [("soft", "warn"), ("strict", "refuse")] {
      try expect(tool("add", name, "--expires", "30d", "--expiry", rule, input: [65]).exit, equals: 0)
    }
    let lines = try tool("export", "jsonl", "--plain").output
    let other = try Tool()
    other.environment["VAULTCTL_TESTING_CLOCK"] = String(Self.now + 60 * 86_400)
    try expect(other("init", "--no-passcode").exit, equals: 0)
    try expect(other("import", "jsonl", input: lines).exit, equals: 0)
    try expect([other("get", "soft").exit, other("get", "strict").exit], equals: [0, 7])
  }

  @Test(
    "a moment that is over and one that is none are refused, named, and store nothing",
    arguments: [
      ("2027-01-30", "--expires is 2027-01-30 00:00 UTC, which is over: it is 2027-01-30 12:00 UTC"),
      ("60", "--expires is 1970-01-01 00:01 UTC, which is over"), ("0d", "which is over"),
      ("2027-02-29", "--expires 2027-02-29 has a day that its month, of 28 days, does not have"),
      ("9000y", "--expires is after the year 9999"), ("-5d", "--expires is not a time"),
      ("hunter2", "--expires is not a time"),
    ])
  func refusedTimes(text: String, words: String) throws {
    let run = try tool("add", "a", "--expires", text, input: [65])
    #expect(run.exit == 2 && run.errors.contains(words) && !run.errors.contains("hunter2"), "\(run.errors)")
    try expect(tool("get", "a").exit, equals: 1)
  }

  /// Verified to fail when one option reads times by a parser of its own.
  @Test("every option that takes a time takes all its forms")
  func options() throws {
    try expect(tool("add", "a", input: [65]).exit, equals: 0)
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    for time in ["60", "60s", "1m", "12h30m", "1 h 30 min", "2w"] {
      try expect(tool("card", "put", "t \(time)", "--ttl", time, input: [65]).exit, equals: 0, "\(time)")
      try expect(
        tool("otp", "add", "o \(time)", "--offline-age", time, input: Array(uri.utf8)).exit, equals: 0,
        "\(time)")
      // No agent is there: the option was read.
      try expect(tool("unlock", "--for", time, "--idle", time).exit, equals: 13, "\(time)")
    }
    for time in [
      "2027-02-01", "2027-02-01T10:00", "2027-02-01 10:00 UTC", "2027-02-01T10:00+01:00", "1801440000", "90d",
      "6mo",
    ] {
      try expect(tool("edit", "a", "--expires", time).exit, equals: 0, "\(time)")
      try expect(tool("audit", "--since", time).exit, equals: 0, "\(time)")
      if !time.hasSuffix("d"), !time.hasSuffix("o") {
        try expect(tool("code", "o 60", "--at", time).exit, equals: 0, "\(time)")
      }
    }
    for time in ["0", "5", "1s"] {
      try expect(tool("code", "o 60", "--min-remaining", time).exit, equals: 0, "\(time)")
    }
  }
}
