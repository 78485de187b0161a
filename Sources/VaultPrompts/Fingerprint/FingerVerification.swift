import Glibc
import VaultKit

/// One attempt at a claimed reader. The reader is released at the end in any case.
struct FingerVerification: ~Copyable {
  private let reader: FingerprintReader
  private let signals: PromptSignals
  private let limits: FprintdSource.Limits

  /// A finger that matched.
  struct Match {
    /// The finger that fprintd looked for; "any" for all of them.
    fileprivate var selected: String?

    func finger(of enrolled: [String]) -> String? {
      if enrolled.count == 1 { return enrolled[0] }
      return selected.flatMap { enrolled.contains($0) ? $0 : nil }
    }
  }

  init(
    _ reader: consuming FingerprintReader, signals: PromptSignals, limits: FprintdSource.Limits,
    until deadline: Deadline
  ) throws(SystemBus.Failure) {
    try reader.listen(until: deadline)
    _ = try reader.call("Claim", text: reader.person, until: deadline)
    self.reader = reader
    self.signals = signals
    self.limits = limits
  }

  deinit {
    let deadline = Deadline(after: FprintdSource.Limits.release)
    _ = try? reader.call("VerifyStop", until: deadline)
    _ = try? reader.call("Release", until: deadline)
  }

  /// - Parameter deadline: Until then, fprintd must have begun. The person has a separate limit.
  borrowing func run(
    until deadline: Deadline, showing progress: (String) -> Void
  ) throws(SystemBus.Failure) -> Match {
    try start(until: deadline)
    progress("put your finger on the reader")
    var match = Match()
    for _ in 0...limits.retries {
      while true {
        let message = try nextSignal(until: Deadline(after: limits.person))
        guard message.member != "VerifyFingerSelected" else {
          match.selected = try message.readText()
          continue
        }
        guard message.member == "VerifyStatus" else { continue }
        let result = try message.readText()
        if try isMatch(result, isLast: message.readBoolean()) { return match }
        progress(Self.advice(result))
        break
      }
    }
    throw .refused(Self.tooManyRetries)
  }
}

extension FingerVerification {
  /// fprintd sends every result to every program. A result that comes before the answer to this VerifyStart belongs
  /// to another verification, and is dropped: messages of one sender keep their order.
  private borrowing func start(until deadline: Deadline) throws(SystemBus.Failure) {
    let call = try reader.begin("VerifyStart", text: "any")
    do throws(SystemBus.Failure) {
      while true { if try nextMessage(until: deadline).answers(call) { return } }
    } catch .refused(Self.timedOut) { throw .silent }
  }

  /// True for a match, false when the same finger may be tried again. Every other result throws.
  private borrowing func isMatch(_ result: String, isLast: Bool) throws(SystemBus.Failure) -> Bool {
    if result == "verify-match" { return true }
    guard !isLast, Self.retries[result] != nil else { throw .refused(result) }
    return false
  }

  /// The next signal of this reader.
  private borrowing func nextSignal(until deadline: Deadline) throws(SystemBus.Failure) -> SystemBus.Message {
    while true {
      let message = try nextMessage(until: deadline)
      guard message.sender == reader.owner, message.interface == FingerprintReader.interface,
        message.path == reader.path
      else { continue }
      return message
    }
  }

  /// The next message from fprintd itself, or from the bus, which answers in its place where a call is forbidden.
  /// Any program can send messages to this connection; only these count.
  private borrowing func nextMessage(until deadline: Deadline) throws(SystemBus.Failure) -> SystemBus.Message
  {
    while true {
      while let message = try reader.bus.next() {
        let isFromBus = message.sender == SystemBus.daemon.service
        if isFromBus, message.member == "NameOwnerChanged" { throw .gone(ECONNRESET) }
        if isFromBus || message.sender == reader.owner { return message }
      }
      try wait(until: deadline)
    }
  }

  private borrowing func wait(until deadline: Deadline) throws(SystemBus.Failure) {
    do throws(TerminalError) {
      let signal = try signals.wait(for: reader.bus.descriptor, reader.bus.events, until: deadline)
      if let signal, try signals.meaning(of: signal) == .stop { _ = raise(SIGSTOP) }
    } catch {
      switch error {
      case .timedOut: throw .refused(Self.timedOut)
      case .signalled: throw .refused(Self.signalled)
      default: throw .refused(Self.cancelled)
      }
    }
  }

  private static func advice(_ result: String) -> String { "try again: " + (retries[result] ?? "") }

  /// The results of failed scans.
  private static let retries = [
    "verify-retry-scan": "the scan was not usable", "verify-swipe-too-short": "the swipe was too short",
    "verify-finger-not-centered": "put the finger in the middle",
    "verify-remove-and-retry": "lift the finger first",
  ]

  // Ends that this type adds to the names of D-Bus errors and of fprintd's results.
  static let timedOut = "timed out"
  static let cancelled = "cancelled"
  static let signalled = "signalled"
  static let tooManyRetries = "too many retries"
}
