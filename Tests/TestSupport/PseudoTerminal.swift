import CLinux
import Foundation
import Testing

/// A pseudo-terminal: what a person types and sees.
package final class PseudoTerminal {
  package let path: String
  let number: UInt32
  private let descriptor: Int32
  /// All that the screen has shown. A character may come in two parts.
  private var bytes: [UInt8] = []
  /// Where what has been shown and not waited for begins.
  private var start = 0

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

  /// What the screen has shown and nobody has waited for.
  package var seen: String { String(decoding: bytes[start...], as: UTF8.self) }

  /// All that the screen has shown.
  package var transcript: String { String(decoding: bytes, as: UTF8.self) }

  /// Waits until the screen shows `text` after what was waited for before.
  package func wait(for text: String) throws {
    try read(until: { take(text) }, else: "'\(text)' did not appear; the screen shows '\(seen)'")
  }

  /// The same for what must come before something else that is shown in any case: a test of what is missing does not wait for it.
  package func wait(for text: String, before other: String) throws {
    try read(
      until: { [text, other].contains { seen.contains($0) } },
      else: "neither '\(text)' nor '\(other)' appeared; the screen shows '\(seen)'")
    guard let first = seen.range(of: text),
      seen.range(of: other).map({ first.lowerBound < $0.lowerBound }) ?? true
    else { throw Failure(description: "'\(text)' was not before '\(other)'; the screen shows '\(seen)'") }
    _ = take(text)
  }

  /// Waits until the screen has shown `text` so many times since the beginning.
  package func wait(for text: String, times: Int) throws {
    try read(
      until: { transcript.components(separatedBy: text).count > times },
      else: "'\(text)' did not appear \(times) times; the screen showed '\(transcript)'")
  }

  /// Waits until something that the screen has shown since the beginning matches.
  package func wait(for pattern: some RegexComponent) throws {
    try read(
      until: { transcript.firstMatch(of: pattern) != nil },
      else: "nothing matched; the screen showed '\(transcript)'")
  }

  /// The same as ``wait(for:)`` without the wait: for a test whose thread others need. False while the text is not there.
  package func shows(_ text: String) -> Bool {
    while readSome(within: 0) {}
    return take(text)
  }

  /// What the screen shows and nobody has waited for, with all that was written to the terminal before this call: the mark that is
  /// written here comes after it.
  package func drain() -> String {
    let mark = Array("\u{1}what was written ends here\u{2}".utf8)
    let terminal = unsafe open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    defer { close(terminal) }
    var rest = mark[...]
    do {
      try read(
        until: {
          // It takes no more before what it holds was read.
          let count = unsafe rest.withUnsafeBytes { unsafe write(terminal, $0.baseAddress, $0.count) }
          rest = rest.dropFirst(max(count, 0))
          guard let place = bytes.firstRange(of: mark) else { return false }
          bytes.removeSubrange(place)
          return true
        }, else: "\(path) does not show what is written to it")
    } catch { Issue.record(error) }
    return seen
  }

  package var echoes: Bool {
    var mode = termios()
    unsafe tcgetattr(descriptor, &mode)
    return mode.c_lflag & tcflag_t(ECHO) != 0
  }

  /// A row that is too long goes on in the next one, and how long it is depends on the number of a process.
  private static let fold = Array("\r\n  + ".utf8)

  private func take(_ text: String) -> Bool {
    let text = Array(text.utf8)
    guard let end = bytes.indices[start...].lazy.compactMap({ self.end(of: text, at: $0) }).first else {
      return false
    }
    start = end
    return true
  }

  /// Where the text ends that begins at a place, whatever rows it is broken into; nil when another text begins there.
  private func end(of text: [UInt8], at place: Int) -> Int? {
    var place = place
    for byte in text {
      if bytes[place...].first != byte, bytes[place...].starts(with: Self.fold) { place += Self.fold.count }
      guard place < bytes.count, bytes[place] == byte else { return nil }
      place += 1
    }
    return place
  }

  private func read(until isSo: () -> Bool, else failure: @autoclosure () -> String) throws {
    let end = ContinuousClock.now + patience
    while !isSo() {
      guard ContinuousClock.now < end else { throw Failure(description: failure()) }
      readSome(within: 200)
    }
  }

  @discardableResult
  private func readSome(within milliseconds: Int32) -> Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&wait, 1, milliseconds) > 0 else { return false }
    var some = [UInt8](repeating: 0, count: 4096)
    let got = unsafe some.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard got > 0 else {
      // No program has the terminal open.
      usleep(UInt32(milliseconds) * 10)
      return false
    }
    bytes += some.prefix(got)
    return true
  }
}
