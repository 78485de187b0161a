import Foundation
import Synchronization
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// A fault before each message that an operation sends: never a new key, never a lost vault, an error of its own
/// within five seconds (R13).
///
/// Each fault has a session of its own, and each daemon after a fault is a new one: nothing is asked of a daemon that a fault has hit.
@Suite("Faults of a Secret Service", .bounded, .requirement("R13"), .serialized)
struct SecretServiceFaultTests {
  /// What is done to the service before a message reaches it.
  enum Fault: String, CaseIterable, Sendable {
    case killed
    case replaced
    case noBus
    case locked
    case stopped
    case cut

    func strike(_ rig: Rig, _ gate: MessageGate) {
      switch self {
      case .killed: rig.killDaemon()
      case .replaced:
        rig.killDaemon()
        try? rig.startDaemon()
      case .noBus: rig.killBus()
      case .locked: try? rig.lock()
      case .stopped: try? rig.stopDaemon()
      case .cut: gate.cut()
      }
    }

    /// The errors that this fault may end in; the numbers are those of `secret_service_status`.
    func explains(_ error: VaultError) -> Bool {
      switch self {
      case .locked: error.code == .deviceKeyLocked
      case .killed, .replaced: error.code == .deviceKeyUnavailable && [3, 6].contains(error.underlying)
      case .noBus, .cut: error.code == .deviceKeyUnavailable && error.underlying == 2
      case .stopped: error.code == .deviceKeyUnavailable && error.underlying == 5
      }
    }
  }

  enum Operation: String, CaseIterable, Sendable {
    case create
    case open
    case rotate
    case rotateFromFile
    case rotateToFile
  }

  // Verified to fail when an item without a secret counts as damaged (locked before GetSecrets), when the well-known
  // name is used instead of its owner's (killed, replaced), when an old key is deleted before the new one is kept
  // (all), and when a connection ends the process with the bus, on a thread that takes signals and runs its main
  // context: SIGTERM ends the tests. GLib's exit-on-close alone ends nothing here, because the thread of a call does
  // neither.
  @Test("a daemon killed, no bus, a collection locked, a connection cut, before each message")
  func atEachMessage() async throws {
    let faults = [Fault.killed, .replaced, .noBus, .locked, .cut]
    let cases = Operation.allCases.flatMap { operation in faults.map { (operation, $0) } }
    // The short form takes those that carry a key, and every fourth of the others, other ones for each case.
    let problems = await Self.concurrently(cases) { (operation, fault) in
      let offset = (operation.rawValue.count + fault.rawValue.count) % 4
      return try Self.run(operation, fault) { number, method in
        isLongForm || number % 4 == offset || ["GetSecrets", "CreateItem", "Delete"].contains(method)
      }
    }
    expect(problems, equals: [])
  }

  // Verified to fail when a deadline never passes, and when it is six seconds.
  @Test("a service that does not answer is an error within 5 s, at the messages that differ")
  func stopped() async throws {
    let cases = Operation.allCases.flatMap { operation in (0..<3).map { (operation, $0) } }
    let problems = await Self.concurrently(cases) { (operation, third) in
      try Self.run(operation, .stopped) { number, _ in
        (isLongForm || number % 5 == 2) && number / 5 % 3 == third
      }
    }
    expect(problems, equals: [])
  }

  // Fails when `keys(of:)` leaves out what no vault names. The message that stores the key is held until its deadline has passed.
  @Test(
    "a key whose storing timed out and that arrives later is listed, opens nothing, and the vault keeps its own",
    .requirement("K17"),
    arguments: [Operation.rotate, .rotateFromFile])
  func late(operation: Operation) throws {
    let trial = try Trial(operation)
    let before = try trial.session.rig.items().count
    let held = DispatchSemaphore(value: 0)
    trial.gate.outlivesClient = true
    trial.gate.reset(at: .init(method: "CreateItem", number: 1)) { held.wait() }
    let outcome = try trial.unanswered()
    #expect(outcome.error.map(Fault.stopped.explains) == true, "\(String(describing: outcome.error))")
    held.signal()
    #expect(trial.gate.endOfAction())
    try waitUntil("the key that is late") { try trial.session.rig.items().count == before + 1 }
    let late = try trial.unnamedKeys()
    expect(late.listed.count, equals: 1)
    expect(late.listed, equals: late.old)
    try expect(trial.problem(after: outcome), equals: nil)
  }

  /// What went wrong, one line each.
  private static func run(
    _ operation: Operation, _ fault: Fault, _ isChosen: (Int, String) -> Bool
  ) throws -> [String] {
    var problems: [String] = []
    let places = try Trial(operation).undisturbed()
    if places.count < 6 { problems.append("\(operation) sends \(places.count) messages") }
    var slowest = Duration.zero
    var (runs, failures) = (0, 0)
    for (number, place) in zip(1..., places) where isChosen(number, place.method) {
      let trial = try Trial(operation)
      let outcome = try trial.disturbed(at: place, by: fault)
      runs += 1
      func note(_ problem: String) { problems.append("\(operation) \(fault) before \(place): \(problem)") }
      // A thread of GLib ends a subscription when it gets to it, or with the connection, without a message.
      if !outcome.isStruck, place.method != "RemoveMatch" { note("the message was not sent") }
      if outcome.time >= Trial.longest { note("no end after \(outcome.time)") }
      slowest = max(slowest, outcome.time)
      if let error = outcome.error {
        failures += 1
        if !fault.explains(error) { note("\(error)") }
      }
      if let found = try trial.problem(after: outcome) { note(found) }
    }
    print(
      "secret service: \(operation) \(fault): \(runs) of \(places.count) messages, \(failures) errors"
        + (fault == .stopped ? ", at most \(slowest)" : ""))
    if runs > 0, failures == 0 { problems.append("\(operation) \(fault): no fault was noticed") }
    return problems
  }

  /// Runs the cases on threads of their own, a few at a time: they wait more than they work.
  private static func concurrently<Case: Sendable>(
    _ cases: [Case], _ body: @escaping @Sendable (Case) throws -> [String]
  ) async -> [String] {
    let problems = Mutex<[String]>([])
    let places = DispatchSemaphore(value: 8)
    return await withCheckedContinuation { continuation in
      Thread {
        let all = DispatchGroup()
        for one in cases {
          places.wait()
          all.enter()
          Thread {
            do {
              let found = try body(one)
              problems.withLock { $0 += found }
            } catch { problems.withLock { $0.append("\(one): \(error)") } }
            places.signal()
            all.leave()
          }.start()
        }
        all.wait()
        continuation.resume(returning: problems.withLock { $0 })
      }.start()
    }
  }
}

/// One operation on a session of its own.
private final class Trial: @unchecked Sendable {  // one thread at a time uses it
  let session: Session
  let gate: MessageGate
  private let operation: SecretServiceFaultTests.Operation
  /// The limits of the operation pass by this clock, where it moves.
  private let clock = HeldClock()
  private let through: SecretServiceProtector
  private var core: VaultCore?

  /// How long an operation may take by its clock.
  static let longest = Duration.seconds(5)

  /// A vault as the operation needs it, an empty service otherwise.
  init(_ operation: SecretServiceFaultTests.Operation) throws {
    self.operation = operation
    session = try Session()
    gate = try MessageGate(bus: session.rig.folder + "/bus", path: session.rig.folder + "/gate")
    through = session.protector(over: gate.address, by: clock)
    let (path, environment) = (session.place.path, session.place.environment)
    switch operation {
    case .create: break
    case .open, .rotate, .rotateToFile: try session.makeVault()
    case .rotateFromFile: try session.fill(session.place.makeCore())
    }
    switch operation {
    case .create, .open: break
    case .rotate, .rotateToFile:
      core = try VaultCore.open(at: path, protector: through, environment: environment)
    case .rotateFromFile: core = try session.place.openCore()
    }
    gate.reset()
  }

  struct Outcome {
    var error: VaultError?
    var isStruck: Bool
    /// By the clock of the operation.
    var time = Duration.zero
    /// What the service has received or may have.
    var passed: ArraySlice<MessageGate.Place>
  }

  /// The messages of the operation when nothing happens.
  func undisturbed() throws -> [MessageGate.Place] {
    do throws(VaultError) { try perform() } catch { throw error }
    return gate.messages
  }

  func disturbed(
    at place: MessageGate.Place, by fault: SecretServiceFaultTests.Fault
  ) throws -> Outcome {
    gate.reset(at: place) { [rig = session.rig, gate] in fault.strike(rig, gate) }
    var outcome: Outcome
    if fault == .stopped {
      outcome = try unanswered()
      try session.rig.wakeDaemon()
    } else {
      let error = try Call { [self] () throws(VaultError) in try perform() }.wait()
      outcome = Outcome(error: error, isStruck: gate.endOfAction(), passed: gate.messages[...])
      // A message that the fault hit did not arrive.
      outcome.passed = outcome.passed.prefix { $0 != place }
    }
    gate.reset()
    try session.rig.mend()
    return outcome
  }

  /// Lets time pass for the operation once it waits at the gate for the service.
  func unanswered() throws -> Outcome {
    let call = Call { [self] () throws(VaultError) in try perform() }
    try waitUntil("the message that is not answered") { gate.hasBegun || call.isOver }
    let time = try clock.run(atMost: Self.longest) { call.isOver }
    // One that does not end by its clock is ended by the service.
    if !call.isOver { try session.rig.wakeDaemon() }
    return Outcome(error: try call.wait(), isStruck: gate.hasBegun, time: time, passed: gate.messages[...])
  }

  private func perform() throws(VaultError) {
    defer { core = nil }
    let (path, environment) = (session.place.path, session.place.environment)
    switch operation {
    case .create: _ = try VaultCore.create(at: path, protector: through, environment: environment)
    case .open: _ = try VaultCore.open(at: path, protector: through, environment: environment)
    case .rotate: try core!.rotateDeviceKey()
    case .rotateFromFile: try core!.rotateDeviceKey(to: through)
    case .rotateToFile: try core!.rotateDeviceKey(to: session.place.protector)
    }
  }

  /// The keys of the vault that it does not name, as the protector lists them and as the vault does.
  func unnamedKeys() throws -> (listed: [DeviceKeyID], old: [DeviceKeyID]) {
    let outline = try VaultCore.outline(at: session.place.path)
    let core = try VaultCore.open(
      at: session.place.path,
      protector: outline.protector == .file ? session.place.protector : session.protector,
      environment: session.place.environment)
    let listed = try session.protector.keys(of: outline.vault).filter { $0 != outline.deviceKey }
    // The rotation that failed has noted its key, and forgets the note only if the service says in time that there is no such key.
    let old = try core.deviceKeys(in: session.protector).filter { [.unknown, .left].contains($0.standing) }
    return (listed, old.map(\.id))
  }

  /// What is lost, or has been put in the place of what was there; nil when all is well.
  func problem(after outcome: Outcome) throws -> String? {
    let items = try session.rig.items()
    let path = session.place.path
    guard FileManager.default.fileExists(atPath: path) else {
      guard operation == .create, outcome.error != nil else { return "the vault is gone" }
      // A key that was on its way when the answer failed may be left, and opens nothing.
      let most = outcome.passed.contains { $0.method == "CreateItem" } ? 1 : 0
      return items.count <= most ? nil : "no vault, but keys: \(items) after \(outcome.passed)"
    }
    if operation == .open, items.count != 1 { return "keys: \(items)" }
    // Every key that is left is listed once, whether or not a vault names it.
    let listed = try session.protector.keys(of: VaultCore.outline(at: path).vault)
    if listed.count != items.count || items.count > 2 { return "keys: \(items), listed: \(listed)" }
    do {
      if operation == .create {
        _ = try VaultCore.open(at: path, protector: session.protector, environment: session.place.environment)
      } else {
        guard try session.isWhole() else { return "the item is not what it was" }
      }
      return nil
    } catch { return "the vault does not open any more: \(error)" }
  }
}
