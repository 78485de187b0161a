import Glibc
package import SecretMemory

/// A terminal that is opened by its name, so that standard input and output stay data.
///
/// Echo is off only while a secret is typed, and back on after it however the prompt ends: an answer, Ctrl-C,
/// a signal that ends the process, and for as long as Ctrl-Z stops it.
package struct Terminal: ~Copyable {
  private let descriptor: Int32

  /// - Parameter path: `/dev/tty` is the terminal that controls this process.
  /// - Throws: ``TerminalError/noTerminal(_:)``.
  package init(path: String = "/dev/tty") throws(TerminalError) {
    let opened = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard opened >= 0 else { throw .noTerminal(errno) }
    guard isatty(opened) == 1 else {
      close(opened)
      throw .noTerminal(ENOTTY)
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// One line typed without echo, without its newline.
  ///
  /// - Parameters:
  ///   - text: What is asked and what is about to happen; control characters are removed.
  ///   - limit: The most bytes that may be typed, up to ``longestLine``.
  /// - Throws: ``TerminalError``.
  package borrowing func readSecret(_ text: String, limit: Int) throws(TerminalError) -> SecretBytes {
    let signals = try PromptSignals.take()
    defer { signals.giveBack() }
    let mode = try HiddenInput(descriptor)
    defer { mode.restore() }
    show(text)
    defer { writeAll("\n") }
    return try readLine(limit: limit, showing: text, signals, mode)
  }

  /// Shows text on the terminal, control characters removed, with nothing after it.
  package borrowing func show(_ text: String) { writeAll(visible(text)) }

  /// The kernel's line buffer ends at 4,095 bytes; what is typed beyond it is lost.
  package static var longestLine: Int { 4000 }
}

extension Terminal {
  private borrowing func readLine(
    limit: Int, showing text: String, _ signals: PromptSignals, _ mode: borrowing HiddenInput
  ) throws(TerminalError) -> SecretBytes {
    // Two bytes more: the newline, and one that shows a longer line to be longer.
    let line = try SecretBytes(capacity: limit + 2) { output throws(TerminalError) in
      while output.freeCapacity > 0 {
        try waitForInput(showing: text, signals, mode)
        if try readSome(&output) { return }
      }
    }
    guard line.byteCount <= limit + 1 else { throw .tooLong(limit: limit) }
    return line.expose { bytes in SecretBytes(copying: bytes.extracting(0..<bytes.byteCount - 1)) }
  }

  /// Appends what can be read now; true at the end of the line.
  private borrowing func readSome(_ output: inout OutputRawSpan) throws(TerminalError) -> Bool {
    var got = 0
    var isComplete = false
    unsafe output.withUnsafeMutableBytes { bytes, count in
      got = unsafe read(descriptor, bytes.baseAddress! + count, bytes.count - count)
      guard got > 0 else { return }
      count += got
      isComplete = unsafe bytes[count - 1] == UInt8(ascii: "\n")
    }
    if got < 0, errno == EINTR || errno == EAGAIN { return false }
    guard got > 0 else { throw .cancelled }
    return isComplete
  }

  /// Waits until a byte can be read, answering signals meanwhile.
  private borrowing func waitForInput(
    showing text: String, _ signals: PromptSignals, _ mode: borrowing HiddenInput
  ) throws(TerminalError) {
    while true {
      var waits = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let ready = unsafe poll(&waits, 2, -1)
      if ready < 0, errno != EINTR { throw .noTerminal(errno) }
      if let signal = signals.next() {
        try answer(signal, mode)
        show(text)
      } else if ready > 0, waits[1].revents != 0 {
        return
      }
    }
  }

  /// Ctrl-C cancels; Ctrl-Z stops with echo on and resumes without; every other signal ends the prompt.
  private borrowing func answer(_ signal: Int32, _ mode: borrowing HiddenInput) throws(TerminalError) {
    switch signal {
    case SIGINT: throw .cancelled
    case SIGTSTP:
      mode.restore()
      _ = raise(SIGSTOP)
      mode.hide()
    default: throw .signalled(signal)
    }
  }

  private borrowing func writeAll(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }

  /// Without control characters and bidirectional overrides: a label cannot redraw the prompt.
  private func visible(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isOverride = (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
      if isOverride || scalar.properties.generalCategory == .control { continue }
      shown.append(scalar)
    }
    return String(shown)
  }
}
