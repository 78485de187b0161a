import CLinux
import Foundation

/// A pseudo-terminal: what a person types and sees.
package final class PseudoTerminal {
  package let path: String
  private let descriptor: Int32
  /// What the screen has shown and nobody has waited for.
  package private(set) var seen = ""
  /// All that the screen has shown.
  package private(set) var transcript = ""
  let number: UInt32

  /// What did not happen on the terminal; a test that does not catch it fails with these words.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package init() throws {
    // What posix_openpt, unlockpt and ptsname do; Swift's Glibc module has none of them.
    descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: UInt32 = 0
    let isOpen =
      unsafe descriptor >= 0 && ioctl(descriptor, 0x4004_5431, &locked) == 0
      && ioctl(descriptor, 0x8004_5430, &number) == 0
    path = "/dev/pts/\(number)"
    self.number = number
    guard isOpen else { throw Failure(description: "there are no pseudo-terminals here: errno \(errno)") }
  }

  deinit { close(descriptor) }

  package func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Waits until the screen shows `text` after what was waited for before.
  package func wait(for text: String, seconds: Double = 300) throws {
    let deadline = Date().addingTimeInterval(seconds)
    while !seen.contains(text) {
      guard Date() < deadline else {
        throw Failure(description: "'\(text)' did not appear; the screen shows '\(seen)'")
      }
      readSome()
    }
    if let range = seen.range(of: text) { seen.removeSubrange(..<range.upperBound) }
  }

  /// Waits until the screen has shown `text` so many times since the beginning.
  package func wait(for text: String, times: Int, seconds: Double = 300) throws {
    let deadline = Date().addingTimeInterval(seconds)
    while transcript.components(separatedBy: text).count <= times {
      guard Date() < deadline else {
        throw Failure(
          description: "'\(text)' did not appear \(times) times; the screen showed '\(transcript)'")
      }
      readSome()
    }
  }

  /// Waits until something that the screen has shown since the beginning matches.
  package func wait(for pattern: some RegexComponent, seconds: Double = 300) throws {
    let deadline = Date().addingTimeInterval(seconds)
    while transcript.firstMatch(of: pattern) == nil {
      guard Date() < deadline else {
        throw Failure(description: "nothing matched; the screen showed '\(transcript)'")
      }
      readSome()
    }
  }

  /// All that the screen shows until nothing comes for a moment.
  package func drain() -> String {
    while readSome() {}
    return seen
  }

  package var echoes: Bool {
    var mode = termios()
    unsafe tcgetattr(descriptor, &mode)
    return mode.c_lflag & tcflag_t(ECHO) != 0
  }

  @discardableResult
  private func readSome() -> Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&wait, 1, 200) > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let got = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    guard got > 0 else { return false }
    let text = String(decoding: bytes.prefix(got), as: UTF8.self)
    seen += text
    transcript += text
    return true
  }
}
