import Foundation
import TestSupport
import Testing
import VaultKit
import VaultPrompts

@Suite("fprintd", .bounded, .serialized)
struct FprintdSourceTests {
  // MARK: the real fprintd

  /// Verified to fail when a scan that did not match counts as a match. Fails too when a retry ends the attempt.
  @Test("the real fprintd: enrolled fingers, a match, no match, a retry, one after the other")
  func real() throws {
    let rig = try FprintRig(.fprintd)
    try expect(rig.attempt("list").end().last, equals: "enrolled: ")
    #expect(try rig.attempt().end().last.hasPrefix("unsupported: no finger is enrolled"))
    try rig.enroll("A")
    try expect(rig.attempt("list").end().last, equals: "enrolled: right-index-finger")

    let right = try rig.attempt()
    try right.wait(for: "put your finger on the reader")
    try rig.reader("SCAN A")
    let verified = try right.end()
    expect(verified.last, equals: "verified: right-index-finger")
    expect(verified.lines.first, equals: "use the key: 'mail'")

    let wrong = try rig.attempt()
    try wrong.wait(for: "put your finger")
    try rig.reader("SCAN Z")
    try expect(wrong.end().last, equals: "authenticationFailed: the finger is not enrolled")

    let again = try rig.attempt()
    try again.wait(for: "put your finger")
    try rig.reader("RETRY 1")
    try again.wait(for: "try again: ")
    try rig.reader("SCAN A")
    try expect(again.end().last, equals: "verified: right-index-finger")
  }

  /// Would fail when the reader is claimed for the user of the process.
  @Test("a keeper asks for the fingers of its person by name, and for nobody else's")
  func person() throws {
    let rig = try FprintRig(.fake("of-alice"))
    try expect(rig.attempt("list", of: "alice").end().last, equals: "enrolled: left-thumb right-thumb")
    try expect(rig.attempt(of: "alice").end().last, equals: "verified: some finger")
    for other in ["", "bob"] {
      #expect(try rig.attempt(of: other).end().last.hasPrefix("unsupported: no finger is enrolled"))
    }
  }

  /// Verified to fail when the sender of a signal is not compared with fprintd's own name.
  @Test("a stranger on the bus who says that a finger matched is not believed")
  func forged() throws {
    let rig = try FprintRig(.fprintd)
    try rig.enroll("A")
    let attempt = try rig.attempt()
    try attempt.wait(for: "put your finger")
    try rig.forgeMatch()
    // What fprintd says comes after what the stranger said.
    try rig.reader("SCAN Z")
    #expect(try attempt.end().last.hasPrefix("authenticationFailed"))
  }

  @Test(
    "Ctrl-C cancels and releases the reader; nobody at the reader cancels; another program's claim is 'busy'")
  func cancelled() throws {
    let rig = try FprintRig(.fprintd)
    try rig.enroll("A")
    let attempt = try rig.attempt()
    try attempt.wait(for: "put your finger")
    let other = try rig.attempt().end()
    #expect(other.last.hasPrefix("busy: "))
    attempt.process.kill(SIGINT)
    try expect(attempt.end().last, equals: "cancelled: cancelled at the fingerprint reader")
    try expect(attempt.process.wait(), equals: 3)
    let nobody = try rig.attempt("1")
    try nobody.wait(for: "put your finger")
    try rig.clock.pass(.milliseconds(999))
    try rig.clock.awaitReadings()
    #expect(nobody.process.isRunning)
    rig.clock.advance(by: .milliseconds(1))
    try expect(nobody.end().last, equals: "timedOut: no finger was put on the reader in time")
    let killed = try rig.attempt()
    try killed.wait(for: "put your finger")
    killed.process.kill(SIGTERM)
    _ = try killed.end()
    try expect(killed.process.wait(), equals: -SIGTERM)
    let after = try rig.attempt()
    try after.wait(for: "put your finger")
    try rig.reader("SCAN A")
    #expect(try after.end().last.hasPrefix("verified"))
  }

  @Test(
    "the reader is unplugged, fprintd dies, the bus goes away: denied at once",
    arguments: ["unplug", "kill", "bus"])
  func faults(fault: String) throws {
    let rig = try FprintRig(.fprintd)
    try rig.enroll("A")
    // Nothing else ends it: its clock stands still.
    let attempt = try rig.attempt()
    try attempt.wait(for: "put your finger")
    switch fault {
    case "unplug": try rig.reader("UNPLUG")
    case "kill": try #require(rig.fprintd).kill(SIGKILL)
    default: try #require(rig.bus).kill(SIGKILL)
    }
    let end = try attempt.end()
    #expect(end.last.hasPrefix("verificationUnavailable: "), "\(end.lines)")
  }

  @Test("fprintd stands still: denied after the limit")
  func stopped() throws {
    let rig = try FprintRig(.fprintd)
    try rig.enroll("A")
    try #require(rig.fprintd).kill(SIGSTOP)
    try expect(
      rig.attempt(setUp: 50).end().last, equals: "verificationUnavailable: fprintd does not answer")
  }

  // MARK: buses and services that are not there

  @Test("no fprintd, no bus, a bus that says nothing: each its own error")
  func absent() throws {
    let rig = try FprintRig(.none)
    for word in ["list", "20"] {
      try expect(rig.attempt(word).end().last, equals: "unsupported: fprintd is not installed")
      let listener = try SilentListener()
      func attempt(bus path: String) throws -> FprintRig.Attempt {
        let variables = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)"]
        return try FprintRig.Attempt(
          environment: variables.merging(rig.clock.variables()) { $1 }, [word, "50"])
      }
      try expect(
        attempt(bus: "/nonexistent/bus").end().last,
        equals: "unsupported: there is no system bus, so fprintd cannot be reached")
      let silent = try attempt(bus: listener.path)
      // How often sd-bus looks at the clock before the limit begins, is its own.
      _ = try rig.clock.run(atMost: .seconds(600)) { !silent.process.isRunning }
      let end = try silent.end()
      #expect(end.last.hasPrefix("verificationUnavailable: "), "\(end.lines)")
    }
  }

  // MARK: a service that answers nonsense

  // Verified to fail when the answer to VerifyStart is waited for apart from the signals.
  @Test(
    "a match that was sent before the answer to our own VerifyStart is of another verification",
    .requirement("Q4"),
    arguments: [
      ("match-before-claim", "authenticationFailed: the finger is not enrolled"),
      ("match-before-start", "authenticationFailed: the finger is not enrolled"),
      ("start-refused", "busy: "),
    ])
  func early(behaviour: String, outcome: String) throws {
    let rig = try FprintRig(.fake(behaviour))
    let attempt = try rig.attempt().end()
    #expect(attempt.last.hasPrefix(outcome), "\(attempt.lines)")
  }

  /// Verified to fail when `hasPrefix` compares the result, when retries are not counted, and when the beginning of a
  /// scan has no limit. Fails too when a result that is not known counts as a match.
  @Test(
    "what a service under fprintd's name may answer",
    arguments: [
      ("selected", "verified: left-thumb"), ("any", "verified: some finger"),
      ("two-retries", "verified: some finger"),
      ("no-device", "unsupported: there is no fingerprint reader"),
      ("no-fingers", "unsupported: no finger is enrolled"), ("empty", "unsupported: no finger is enrolled"),
      ("path-as-text", "verificationUnavailable: "), ("number-of-fingers", "verificationUnavailable: "),
      ("busy", "busy: "), ("forbidden", "verificationUnavailable: fprintd does not let"),
      ("odd-error", "verificationUnavailable: fprintd fails (net.reactivated.Fprint.Error.Odd)"),
      ("unheard-of", "verificationUnavailable: fprintd fails (verify-perhaps)"),
      ("unheard-of-on", "verificationUnavailable: fprintd fails (verify-perhaps)"),
      ("empty-result", "verificationUnavailable: "), ("prefix", "verificationUnavailable: "),
      ("endless", "authenticationFailed: the reader could not"),
      ("retry-last", "authenticationFailed: the reader could not"),
      ("unplugged", "verificationUnavailable: the fingerprint reader was unplugged"),
      ("broken", "verificationUnavailable: "), ("slow", "verificationUnavailable: fprintd does not answer"),
      ("slow-start", "verificationUnavailable: fprintd does not answer"),
    ])
  func answers(behaviour: String, outcome: String) throws {
    let rig = try FprintRig(.fake(behaviour))
    // sd-bus measures how long a call takes by the clock of the system, so only what stays silent for ever has a short limit.
    let attempt = try rig.attempt(setUp: behaviour.hasPrefix("slow") ? 50 : 300_000)
    if behaviour.hasPrefix("slow") {
      _ = try rig.clock.run(atMost: .seconds(600)) { !attempt.process.isRunning }
    }
    let end = try attempt.end()
    #expect(end.last.hasPrefix(outcome), "\(end.lines)")
  }

  @Test("as shipped, what fprintd may take before a finger and after it stays under 5 s")
  func limits() { #expect(FprintdSource.Limits().setUp + FprintdSource.Limits.release < .seconds(5)) }

  @Test("names of fingers are shown without controls, cut, and no more than 32")
  func hostileNames() throws {
    let rig = try FprintRig(.fake("hostile-names"))
    let line = try rig.attempt("list").end().last
    #expect(line.hasPrefix("enrolled: a\\u{1B}[2Jb xxxx"))
    #expect(line.count < 200)
  }
}

/// A socket that takes connections into its queue and never says a word.
private final class SilentListener {
  let path: String
  private let descriptor: Int32

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/silent-\(UUID().uuidString.prefix(8))"
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    try #require(bytes.count < 100)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0 && listen(descriptor, 8) == 0)
  }

  deinit {
    close(descriptor)
    unsafe unlink(path)
  }
}
