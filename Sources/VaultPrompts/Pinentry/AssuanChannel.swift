import Glibc
import SecretMemory
import TextPreparation
import VaultKit

/// The lines of the Assuan protocol, as a client reads and writes them. Input is in locked memory, and is wiped at
/// the end.
struct AssuanChannel: ~Copyable {
  private let input: Int32
  private let output: Int32
  private var buffer = SecretBytes(zeroes: Self.longestLine + 1)
  private var filled = 0

  /// The most bytes of one line without its newline (libassuan's LINELENGTH).
  static var longestLine: Int { 1000 }

  /// - Parameters: Descriptors that do not block.
  init(input: Int32, output: Int32) {
    self.input = input
    self.output = output
  }

  /// The meaning of one line of the server.
  enum Answer: Equatable {
    case ok
    /// A gpg-error number.
    case error(UInt32)
    /// `data` has got the bytes after "D ", still escaped.
    case data
    case inquiry
    /// Status and comments.
    case other
  }

  /// Reads the next line.
  ///
  /// - Parameters:
  ///   - wait: Returns when the descriptor can be read. Its error ends the reading.
  ///   - data: Borrows the escaped bytes of a data line.
  mutating func answer(
    waiting wait: (Int32) throws(VaultError) -> Void, data: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) -> Answer {
    while true {
      if let end = buffer.expose({ Self.newline(in: $0, count: filled) }) {
        defer { drop(end + 1) }
        return try buffer.expose { bytes throws(VaultError) in
          try Self.meaning(of: bytes.extracting(0..<end), data)
        }
      }
      guard filled < buffer.byteCount else { throw .pinentryNonsense("a line longer than 1000 bytes") }
      try wait(output)
      try fill()
    }
  }

  /// Sends one line. `text` is not secret; it is escaped here.
  func send(_ command: String, text: String? = nil, until deadline: Deadline) throws(VaultError) {
    let line = Array((command + (text.map { " " + Self.escaped($0) } ?? "") + "\n").utf8)
    precondition(line.count <= Self.longestLine + 1, "AssuanChannel.send: a line that is too long")
    var rest = line[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN || errno == EINTR, !deadline.hasPassed {
        var wait = pollfd(fd: input, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&wait, 1, deadline.milliseconds)
      } else {
        throw errno == EPIPE ? .pinentryEnded : .pinentrySilent
      }
    }
  }

  /// `%`, CR and LF as `%XX`.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": escaped += "%25"
      case "\n": escaped += "%0A"
      case "\r": escaped += "%0D"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension AssuanChannel {
  /// Appends the decoded bytes to `secret`.
  ///
  /// - Throws: `.malformed` when `secret` is full.
  static func decode(_ escaped: RawSpan, into secret: inout OutputRawSpan) throws(VaultError) {
    var index = 0
    while index < escaped.byteCount {
      var byte = Self.byte(of: escaped, at: index)
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 1 < escaped.byteCount, let high = Self.digit(Self.byte(of: escaped, at: index)),
          let low = Self.digit(Self.byte(of: escaped, at: index + 1))
        else { throw .pinentryNonsense("an invalid escape") }
        byte = high << 4 | low
        index += 2
      }
      guard secret.freeCapacity > 0 else { throw VaultError(prompt: .tooLong(limit: TypedSecret.longest)) }
      unsafe secret.append(byte, as: UInt8.self)
    }
  }

  private mutating func fill() throws(VaultError) {
    let descriptor = output
    let start = filled
    let got = unsafe buffer.modify { bytes in
      unsafe read(descriptor, bytes.baseAddress! + start, bytes.count - start)
    }
    if got < 0, errno == EINTR || errno == EAGAIN { return }
    guard got > 0 else { throw .pinentryEnded }
    filled += got
  }

  private mutating func drop(_ count: Int) {
    let rest = filled - count
    unsafe buffer.modify { bytes in
      unsafe memmove(bytes.baseAddress!, bytes.baseAddress! + count, rest)
      unsafe explicit_bzero(bytes.baseAddress! + rest, bytes.count - rest)
    }
    filled = rest
  }

  private static func newline(in bytes: RawSpan, count: Int) -> Int? {
    (0..<count).first { byte(of: bytes, at: $0) == UInt8(ascii: "\n") }
  }

  private static func meaning(
    of line: RawSpan, _ data: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) -> Answer {
    switch word(of: line) {
    case "OK": return .ok
    case "ERR":
      guard let number = number(behind: 4, in: line) else {
        throw .pinentryNonsense("an error without a number")
      }
      return .error(number)
    case "D":
      if line.byteCount > 2 { try data(line.extracting(2..<line.byteCount)) }
      return .data
    case "INQUIRE": return .inquiry
    case "S", "#": return .other
    default:
      guard line.byteCount == 0 || byte(of: line, at: 0) == UInt8(ascii: "#") else {
        throw .pinentryNonsense("a line that is not of the Assuan protocol")
      }
      return .other
    }
  }

  /// The first word of a line, if it is short enough to be one of the protocol. It is never a secret, because a
  /// secret comes after "D ".
  private static func word(of line: RawSpan) -> String {
    let end = (0..<line.byteCount).first { byte(of: line, at: $0) == UInt8(ascii: " ") } ?? line.byteCount
    guard end <= 8 else { return "" }
    return String(decoding: (0..<end).map { byte(of: line, at: $0) }, as: UTF8.self)
  }

  private static func number(behind start: Int, in line: RawSpan) -> UInt32? {
    var number: UInt64 = 0
    var count = 0
    for index in start..<max(start, line.byteCount) {
      let digit = byte(of: line, at: index)
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9"), count < 10 else { break }
      number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
      count += 1
    }
    return count > 0 ? UInt32(exactly: number) : nil
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  private static func byte(of bytes: RawSpan, at index: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }
}

extension VaultError {
  static var pinentryEnded: VaultError { VaultError(.cancelled, "pinentry ended without an answer") }

  static var pinentrySilent: VaultError {
    VaultError(
      .verificationUnavailable, "pinentry does not answer",
      hint: "try another one: VAULTCTL_PINENTRY=/usr/bin/pinentry-tty")
  }

  static func pinentryNonsense(_ what: String) -> VaultError {
    VaultError(
      .verificationUnavailable, "pinentry answers with \(what)",
      hint: "try another one: VAULTCTL_PINENTRY=/usr/bin/pinentry-tty")
  }
}
