import CSystemd
import Glibc
import VaultKit

/// A connection to the system bus, with only what talking to one service needs.
@safe
struct SystemBus: ~Copyable {
  /// The bus itself.
  static let daemon = Target(
    service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")

  private let bus: OpaquePointer

  /// Why a call or a wait failed.
  enum Failure: Error, Equatable {
    /// The name of a D-Bus error.
    case refused(String)
    /// There is no libsystemd, or it is too old.
    case noLibrary
    /// There is no bus, or it went away. The raw value is an errno.
    case gone(Int32)
    /// No answer came in time.
    case silent
    /// An answer has an unknown form.
    case malformed
  }

  /// Connects, and waits until the bus has answered the hello.
  init(until deadline: Deadline) throws(Failure) {
    var opened: OpaquePointer?
    let result = unsafe csystemd_open_system_bus(&opened)
    guard result >= 0, let opened = unsafe opened else {
      throw result == -ELIBACC ? .noLibrary : .gone(-result)
    }
    let made = unsafe SystemBus(owning: opened)
    try made.waitUntilReady(deadline)
    self = made
  }

  private init(owning bus: OpaquePointer) { unsafe self.bus = bus }

  deinit { unsafe csystemd_close(bus) }

  /// Becomes readable when there may be a message.
  var descriptor: Int32 { unsafe csystemd_descriptor(bus) }
  var events: Int32 { unsafe csystemd_events(bus) }

  /// Calls a method without an argument or with one text.
  borrowing func call(
    _ target: Target, method: String, text: String? = nil, until deadline: Deadline
  ) throws(Failure) -> Message {
    var reply: OpaquePointer?
    var error = [CChar](repeating: 0, count: 256)
    let microseconds = UInt64(max(deadline.milliseconds, 1)) * 1000
    let result = unsafe csystemd_call(
      bus, target.service, target.path, target.interface, method, text, microseconds, &reply, &error,
      error.count)
    guard result >= 0, let reply = unsafe reply else { throw Self.failure(result, error: error) }
    return unsafe Message(reply)
  }

  /// Begins a call with one text. Its answer comes as a message, in order with the others.
  borrowing func begin(_ target: Target, method: String, text: String) throws(Failure) -> PendingCall {
    var number: UInt64 = 0
    let result = unsafe csystemd_begin_call(
      bus, target.service, target.path, target.interface, method, text, &number)
    guard result >= 0 else { throw Self.failure(result, error: []) }
    return PendingCall(number: number)
  }

  /// Has logind delay something until the descriptor is closed, which the caller does.
  ///
  /// - Parameter service: The bus name of logind.
  borrowing func inhibit(
    _ what: String, by service: String, who: String, why: String, until deadline: Deadline
  ) throws(Failure) -> Int32 {
    let microseconds = UInt64(max(deadline.milliseconds, 1)) * 1000
    let result = unsafe csystemd_inhibit(bus, service, what, who, why, microseconds)
    guard result >= 0 else { throw Self.failure(result, error: []) }
    return result
  }

  /// A call whose answer has not come yet.
  struct PendingCall { fileprivate let number: UInt64 }

  /// The next message that is not an answer to ``call(_:method:text:until:)``; nil when there is none yet.
  borrowing func next() throws(Failure) -> Message? {
    while true {
      var message: OpaquePointer?
      let result = unsafe csystemd_process(bus, &message)
      guard result >= 0 else { throw .gone(-result) }
      if let message = unsafe message {
        let received = unsafe Message(message)
        if received.interface == "org.freedesktop.DBus.Local" { throw .gone(ECONNRESET) }
        return received
      }
      if result == 0 { return nil }
    }
  }

  private borrowing func waitUntilReady(_ deadline: Deadline) throws(Failure) {
    while true {
      let isIdle = try next() == nil
      let ready = unsafe csystemd_is_ready(bus)
      if ready > 0 { return }
      if ready < 0 { throw .gone(-ready) }
      if deadline.hasPassed { throw .silent }
      guard isIdle else { continue }
      var wait = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
      _ = unsafe poll(&wait, 1, deadline.milliseconds)
    }
  }

  private static func failure(_ result: Int32, error: [CChar]) -> Failure {
    let name = String(decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    switch -result {
    case ECONNRESET, ENOTCONN, EPIPE, ESHUTDOWN: return .gone(-result)
    case ETIMEDOUT: return .silent
    default: break
    }
    switch name {
    case "": return .gone(-result)
    case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout": return .silent
    default: return .refused(name)
    }
  }

  /// The object that a call is for.
  struct Target {
    var service: String
    var path: String
    var interface: String
  }

  /// A received message.
  @safe
  struct Message: ~Copyable {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { unsafe self.message = message }
    deinit { unsafe csystemd_release(message) }

    var sender: String? { unsafe Self.text(csystemd_sender(message)) }
    var interface: String? { unsafe Self.text(csystemd_interface(message)) }
    var member: String? { unsafe Self.text(csystemd_member(message)) }
    var path: String? { unsafe Self.text(csystemd_path(message)) }

    /// Whether this is the answer to a call.
    ///
    /// - Throws: ``Failure/refused(_:)`` when the answer is an error.
    borrowing func answers(_ call: PendingCall) throws(Failure) -> Bool {
      guard unsafe csystemd_answers(message, call.number) else { return false }
      if let name = unsafe Self.text(csystemd_error(message)) { throw .refused(name) }
      return true
    }

    /// The next argument: a text, or an object path.
    borrowing func readText(isPath: Bool = false) throws(Failure) -> String {
      guard let text = try readTextOrEnd(isPath: isPath) else { throw .malformed }
      return text
    }

    borrowing func readBoolean() throws(Failure) -> Bool {
      var value: Int32 = 0
      guard unsafe csystemd_read_boolean(message, &value) > 0 else { throw .malformed }
      return value != 0
    }

    /// An array of texts. At most `most` of them are read.
    borrowing func readTexts(most: Int) throws(Failure) -> [String] {
      guard unsafe csystemd_enter_texts(message) > 0 else { throw .malformed }
      var texts: [String] = []
      while texts.count < most, let text = try readTextOrEnd(isPath: false) { texts.append(text) }
      return texts
    }

    /// The sessions in the answer of logind's ListSessions.
    borrowing func readSessions() throws(Failure) -> [(user: UInt32, path: String)] {
      guard unsafe csystemd_enter_sessions(message) > 0 else { throw .malformed }
      var sessions: [(user: UInt32, path: String)] = []
      while true {
        var user: UInt32 = 0
        var path: UnsafePointer<CChar>?
        let result = unsafe csystemd_next_session(message, &user, &path)
        guard result >= 0 else { throw .malformed }
        guard result > 0, let path = unsafe Self.text(path) else { return sessions }
        sessions.append((user, path))
      }
    }

    private borrowing func readTextOrEnd(isPath: Bool) throws(Failure) -> String? {
      var text: UnsafePointer<CChar>?
      let type = CChar(bitPattern: UInt8(ascii: isPath ? "o" : "s"))
      let result = unsafe csystemd_read_text(message, type, &text)
      guard result >= 0 else { throw .malformed }
      return result == 0 ? nil : unsafe Self.text(text)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
      guard let pointer = unsafe pointer else { return nil }
      return unsafe String(cString: pointer)
    }
  }
}
