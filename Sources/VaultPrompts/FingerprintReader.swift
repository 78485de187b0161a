import Glibc
import VaultKit

/// fprintd's default reader, found over the bus.
struct FingerprintReader: ~Copyable {
  let bus: SystemBus
  /// The unique name that owns fprintd's now. Everything is said to it, and only what comes from it is believed.
  let owner: String
  let path: String

  init(until deadline: Deadline) throws(SystemBus.Failure) {
    let bus = try SystemBus(until: deadline)
    let manager = SystemBus.Target(
      service: Self.service, path: "/net/reactivated/Fprint/Manager",
      interface: "net.reactivated.Fprint.Manager")
    // The bus starts fprintd at this call.
    let path = try bus.call(manager, "GetDefaultDevice", until: deadline).readText(isPath: true)
    let owner = try bus.call(Self.daemon, "GetNameOwner", Self.service, until: deadline).readText()
    (self.path, self.owner) = (path, owner)
    self.bus = bus
  }

  borrowing func enrolledFingers(until deadline: Deadline) throws(SystemBus.Failure) -> [String] {
    do throws(SystemBus.Failure) {
      let names = try call("ListEnrolledFingers", "", until: deadline).readTexts(most: 32)
      return Array(Set(names.map { PromptText.visible($0, limit: 40) })).sorted()
    } catch .refused(Self.noPrints) {
      return []
    }
  }

  borrowing func call(
    _ method: String, _ text: String? = nil, until deadline: Deadline
  ) throws(SystemBus.Failure) -> SystemBus.Message {
    try bus.call(target, method, text, until: deadline)
  }

  /// Begins a call, whose answer is a message of this connection.
  borrowing func begin(_ method: String, _ text: String) throws(SystemBus.Failure) -> SystemBus.PendingCall {
    try bus.begin(target, method, text)
  }

  private var target: SystemBus.Target {
    SystemBus.Target(service: owner, path: path, interface: Self.interface)
  }

  /// Signals of the reader, and the news that fprintd is gone, reach this connection from now on.
  borrowing func listen(until deadline: Deadline) throws(SystemBus.Failure) {
    for rule in [
      "type='signal',sender='\(Self.service)',interface='\(Self.interface)'",
      "type='signal',sender='\(Self.daemon.service)',member='NameOwnerChanged',arg0='\(Self.service)'",
    ] { _ = try bus.call(Self.daemon, "AddMatch", rule, until: deadline) }
  }

  static let service = "net.reactivated.Fprint"
  static let interface = "net.reactivated.Fprint.Device"
  static let noPrints = "net.reactivated.Fprint.Error.NoEnrolledPrints"
  static let daemon = SystemBus.Target(
    service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}

/// One attempt at a claimed reader, which is released at its end whatever it was.
struct Verification: ~Copyable {
  private let reader: FingerprintReader
  private let signals: PromptSignals
  private let limits: FprintdSource.Limits

  /// A finger that matched.
  struct Match {
    /// As fprintd names what it looked for; "any" for all of them.
    fileprivate var selected: String?

    func finger(of enrolled: [String]) -> String? {
      if enrolled.count == 1 { return enrolled[0] }
      return selected.flatMap { enrolled.contains($0) ? $0 : nil }
    }
  }

  init(
    _ reader: consuming FingerprintReader, _ signals: PromptSignals, _ limits: FprintdSource.Limits,
    until deadline: Deadline
  ) throws(SystemBus.Failure) {
    try reader.listen(until: deadline)
    _ = try reader.call("Claim", "", until: deadline)
    self.reader = reader
    self.signals = signals
    self.limits = limits
  }

  deinit {
    let deadline = Deadline(after: FprintdSource.Limits.release)
    _ = try? reader.call("VerifyStop", until: deadline)
    _ = try? reader.call("Release", until: deadline)
  }

  /// - Parameter deadline: Until then fprintd must have begun; a person has her own time.
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

extension Verification {
  /// fprintd tells everybody what it found for anybody. A result that comes before the answer to our own VerifyStart is of
  /// another verification, and is dropped: messages of one sender keep their order.
  private borrowing func start(until deadline: Deadline) throws(SystemBus.Failure) {
    let call = try reader.begin("VerifyStart", "any")
    do throws(SystemBus.Failure) {
      while true { if try nextMessage(until: deadline).answers(call) { return } }
    } catch .refused(Self.nobody) { throw .silent }
  }

  /// True for a match, false when the same finger may be tried again; everything else throws.
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

  /// The next message from fprintd itself, or from the bus, which answers for it where a call is forbidden. Any program can
  /// send one to us; only these count.
  private borrowing func nextMessage(until deadline: Deadline) throws(SystemBus.Failure) -> SystemBus.Message
  {
    while true {
      while let message = try reader.bus.next() {
        let isFromBus = message.sender == FingerprintReader.daemon.service
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
      case .timedOut: throw .refused(Self.nobody)
      case .signalled: throw .refused(Self.signalled)
      default: throw .refused(Self.cancelled)
      }
    }
  }

  private static func advice(_ result: String) -> String { "once more: " + (retries[result] ?? "") }

  /// What fprintd calls a scan that was no good.
  private static let retries = [
    "verify-retry-scan": "the scan was no good", "verify-swipe-too-short": "the swipe was too short",
    "verify-finger-not-centered": "put the finger in the middle",
    "verify-remove-and-retry": "lift the finger first",
  ]

  // Ends of ours, beside the names of D-Bus errors and of fprintd's results.
  static let nobody = "nobody"
  static let cancelled = "cancelled"
  static let signalled = "signalled"
  static let tooManyRetries = "too many retries"
}

extension VaultError {
  init(fprintd failure: SystemBus.Failure) {
    switch failure {
    case .noLibrary:
      self.init(
        .unsupported, "there is no libsystemd here to reach fprintd with",
        hint: "install it: apt install libsystemd0")
    case .gone(let code) where [ENOENT, ECONNREFUSED, ENOMEDIUM, EACCES].contains(code):
      self.init(
        .unsupported, "there is no system bus to reach fprintd on",
        hint: "biometry by phrase works without one",
        underlying: code)
    case .gone(let code):
      self.init(
        .verificationUnavailable, "fprintd or the system bus went away", hint: "try again", underlying: code)
    case .silent:
      self.init(
        .verificationUnavailable, "fprintd gives no answer", hint: "restart it: systemctl restart fprintd")
    case .malformed:
      self.init(.verificationUnavailable, "fprintd answers in a form that is not known")
    case .refused(let name): self.init(fprintd: name)
    }
  }

  private init(fprintd name: String) {
    switch name {
    case Verification.cancelled: self.init(.cancelled, "cancelled at the fingerprint reader")
    case Verification.nobody:
      self.init(.cancelled, "nobody put a finger on the reader", prompt: .timeout)
    case Verification.signalled: self.init(.cancelled, "a signal ended the prompt", prompt: .signal)
    case "verify-no-match": self.init(.authenticationFailed, "the finger is not an enrolled one")
    case Verification.tooManyRetries, "verify-retry-scan", "verify-swipe-too-short",
      "verify-finger-not-centered",
      "verify-remove-and-retry":
      self.init(
        .authenticationFailed, "the reader could not read the finger", hint: "clean the reader and try again")
    case "verify-disconnected":
      self.init(
        .verificationUnavailable, "the fingerprint reader was unplugged", hint: "plug it in and try again")
    case FingerprintReader.noPrints:
      self.init(.unsupported, "no finger is enrolled with fprintd", hint: "enrol one: fprintd-enroll")
    case "net.reactivated.Fprint.Error.NoSuchDevice":
      self.init(.unsupported, "there is no fingerprint reader", hint: "biometry by phrase works without one")
    case "net.reactivated.Fprint.Error.AlreadyInUse":
      self.init(
        .busy, "the fingerprint reader is in use by another program", hint: "try again when that is through")
    case "net.reactivated.Fprint.Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied":
      self.init(
        .verificationUnavailable, "fprintd does not let this user verify fingers",
        hint: "see polkit's rules for fprintd")
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
      self.init(.unsupported, "fprintd is not installed", hint: "install it: apt install fprintd")
    case _ where name.hasPrefix("org.freedesktop.DBus.Error.Spawn"):
      self.init(.verificationUnavailable, "fprintd does not start", hint: "see 'systemctl status fprintd'")
    default:
      self.init(.verificationUnavailable, "fprintd fails (\(PromptText.visible(name, limit: 80)))")
    }
  }
}
