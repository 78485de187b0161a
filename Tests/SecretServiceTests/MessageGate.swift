import Foundation
import Testing

/// Stands between a client and the bus, notes the client's messages, and does something before one of them.
///
/// So a fault happens exactly before a call of an operation, whatever libraries lie in between.
final class MessageGate: @unchecked Sendable {  // what changes is behind the lock
  private let lock = NSCondition()
  private let target: String
  private let listener: Int32
  private let path: String
  private var seen: [String] = []
  private var trigger: (place: Place, action: @Sendable () -> Void)?
  private var isActing = false
  private var isStruck = false
  private var open: Set<Int32> = []
  private var keepsBus = false

  /// The address for the client.
  var address: String { "unix:path=" + path }

  /// - Parameters:
  ///   - bus: The path of the real bus.
  ///   - path: The socket to listen on.
  init(bus: String, path: String) throws {
    target = bus
    self.path = path
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = try Self.address(path)
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(listener, 64) == 0)
    let thread = Thread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { break }
        self.serve(client)
      }
    }
    thread.start()
  }

  deinit { closeAll() }

  /// A message of an operation: the n-th call of a method, from 1.
  struct Place: Equatable, CustomStringConvertible {
    let method: String
    let number: Int
    var description: String { "\(method) \(number)" }
  }

  /// What the client has sent since ``reset(at:_:)``.
  var messages: [Place] {
    var counts: [String: Int] = [:]
    return lock.withLock { seen }.map { method in
      counts[method, default: 0] += 1
      return Place(method: method, number: counts[method]!)
    }
  }

  /// Forgets what was sent; `action` runs before a message is passed on.
  func reset(at place: Place, _ action: @escaping @Sendable () -> Void) {
    lock.withLock { (seen, trigger, isStruck) = ([], (place, action), false) }
  }

  /// Forgets what was sent.
  func reset() { lock.withLock { (seen, trigger, isStruck) = ([], nil, false) } }

  /// Whether the action runs, or has.
  var hasBegun: Bool { lock.withLock { isActing || isStruck } }

  /// Waits for the end of the action: what kills a bus is still waiting for its end when the client knows already. False when
  /// there was none.
  func endOfAction() -> Bool {
    lock.withLock {
      while isActing { lock.wait() }
      return isStruck
    }
  }

  /// When the client is gone, its connection to the bus stays open until the bus sends something: the service does not see that the
  /// client is gone before it has answered.
  var outlivesClient: Bool {
    get { lock.withLock { keepsBus } }
    set { lock.withLock { keepsBus = newValue } }
  }

  /// Ends all connections and takes no new ones.
  func closeAll() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    cut()
  }

  /// Ends the connections there are.
  func cut() { for descriptor in lock.withLock({ open }) { shutdown(descriptor, Int32(SHUT_RDWR)) } }

  private func serve(_ client: Int32) {
    guard let bus = try? connected() else {
      close(client)
      return
    }
    lock.withLock { open.formUnion([client, bus]) }
    let both = DispatchGroup()
    both.enter()
    both.enter()
    Thread {
      self.forward(from: client, to: bus, reader: MessageReader())
      both.leave()
    }.start()
    Thread {
      self.forward(from: bus, to: client, reader: nil)
      both.leave()
    }.start()
    both.notify(queue: .global()) {
      self.lock.withLock { self.open.subtract([client, bus]) }
      close(client)
      close(bus)
    }
  }

  private func forward(from source: Int32, to sink: Int32, reader: MessageReader?) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    reading: while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(source, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { break }
      let pieces = reader?.split(Array(buffer[..<count])) ?? [(bytes: Array(buffer[..<count]), method: nil)]
      for piece in pieces {
        if let method = piece.method { pass(method) }
        guard Self.sendAll(piece.bytes, to: sink) else { break reading }
      }
    }
    if reader != nil, outlivesClient { return }
    shutdown(sink, Int32(SHUT_RDWR))
    shutdown(source, Int32(SHUT_RDWR))
  }

  private func pass(_ method: String) {
    let action: (@Sendable () -> Void)? = lock.withLock {
      seen.append(method)
      guard let trigger, !isStruck, method == trigger.place.method,
        seen.count(where: { $0 == method }) == trigger.place.number
      else { return nil }
      isActing = true
      return trigger.action
    }
    guard let action else { return }
    action()
    lock.withLock {
      (isActing, isStruck) = (false, true)
      lock.broadcast()
    }
  }

  private static func sendAll(_ bytes: [UInt8], to sink: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes[done...].withUnsafeBytes {
        unsafe send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private func connected() throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = try Self.address(target)
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      close(descriptor)
      throw NoBus()
    }
    return descriptor
  }

  private struct NoBus: Error {}

  static func address(_ path: String) throws -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    try #require(bytes.count < 108)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return address
  }
}

/// Cuts a client's stream into the lines of the handshake and the messages of the D-Bus specification.
private final class MessageReader {
  private var rest: [UInt8] = []
  private var isAuthenticated = false

  func split(_ bytes: [UInt8]) -> [(bytes: [UInt8], method: String?)] {
    rest += bytes
    var pieces: [(bytes: [UInt8], method: String?)] = []
    while !isAuthenticated {
      guard let end = rest.firstIndex(of: 0x0A) else { return pieces }
      let line = Array(rest[...end])
      rest.removeFirst(line.count)
      isAuthenticated = line.starts(with: Array("BEGIN".utf8))
      pieces.append((line, nil))
    }
    while rest.count >= 16 {
      let fields = (number(12) + 7) / 8 * 8
      let length = 16 + fields + number(4)
      guard rest.count >= length else { break }
      let message = Array(rest[..<length])
      rest.removeFirst(length)
      pieces.append((message, Self.method(Array(message[16..<16 + fields]))))
    }
    return pieces
  }

  private func number(_ offset: Int) -> Int {
    let bytes = (0..<4).map { Int(rest[offset + $0]) }
    let ordered = rest[0] == UInt8(ascii: "l") ? bytes.reversed() : bytes
    return ordered.reduce(0) { $0 << 8 | $1 }
  }

  /// Header field 3, "member": `3, 1, 's', 0, length, text`.
  private static func method(_ fields: [UInt8]) -> String {
    for start in stride(from: 0, to: fields.count - 8, by: 8)
    where fields[start] == 3 && fields[start + 1] == 1 && fields[start + 2] == UInt8(ascii: "s") {
      let text = fields[(start + 8)...].prefix { $0 != 0 }
      return String(decoding: text, as: UTF8.self)
    }
    return "?"
  }
}
