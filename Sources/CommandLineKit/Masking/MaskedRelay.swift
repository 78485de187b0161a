import Glibc
import SecretMemory
import Synchronization

/// Passes on what a program writes into a pipe, without its secrets, until the program's end of the pipe is closed.
///
/// When what reads the output has gone away, the pipe is closed: the program finds that out as it would without this process.
final class MaskedRelay: Sendable {
  private let reading: Int32
  private let output: Int32
  private let mask: SecretMask
  /// The error number of the first failed write; 0 for none.
  private let lost = Atomic<Int32>(0)

  /// - Parameters:
  ///   - reading: The end of the pipe, which ends with ``run()``.
  ///   - output: Where it goes.
  init(from reading: Int32, to output: Int32, _ mask: SecretMask) {
    (self.reading, self.output, self.mask) = (reading, output, mask)
  }

  /// Why a part of the output was not written; 0 if all was, or nothing reads it any more.
  var problem: Int32 {
    let code = lost.load(ordering: .sequentiallyConsistent)
    return code == EPIPE ? 0 : code
  }

  func run() {
    do throws(Lost) { try pass() } catch { lost.store(error.code, ordering: .sequentiallyConsistent) }
    close(reading)
  }

  private struct Lost: Error {
    let code: Int32
  }

  private func pass() throws(Lost) {
    var stream = MaskedStream(mask)
    var buffer = SecretBytes(zeroes: Self.partSize)
    while true {
      try waitForPart()
      let count = try read(into: &buffer)
      guard count > 0 else { break }
      try buffer.expose { bytes throws(Lost) in
        try stream.take(bytes.extracting(0..<count)) { part throws(Lost) in try write(part) }
      }
    }
    try stream.finish { part throws(Lost) in try write(part) }
  }

  /// Waits for the program to write, or for the reader of its output to go away.
  private func waitForPart() throws(Lost) {
    while true {
      var waits = [
        pollfd(fd: reading, events: Int16(POLLIN), revents: 0), pollfd(fd: output, events: 0, revents: 0),
      ]
      let ready = unsafe poll(&waits, 2, -1)
      if ready < 0 {
        guard errno == EINTR else { throw Lost(code: errno) }
        continue
      }
      if waits[1].revents != 0 { throw Lost(code: EPIPE) }
      return
    }
  }

  /// - Returns: 0 at the end.
  private func read(into buffer: inout SecretBytes) throws(Lost) -> Int {
    while true {
      let count = unsafe buffer.modify { unsafe Glibc.read(reading, $0.baseAddress, $0.count) }
      if count >= 0 { return count }
      guard errno == EINTR else { throw Lost(code: errno) }
    }
  }

  private func write(_ part: RawSpan) throws(Lost) {
    let problem = SecretOutput.write(part, to: output)
    guard problem == 0 else { throw Lost(code: problem) }
  }

  /// In the locked memory of the process, and not much of it.
  private static let partSize = 16 << 10
}
