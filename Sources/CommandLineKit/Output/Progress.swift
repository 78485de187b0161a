import CLinux
import Glibc
import TextFormats

/// One line on a terminal for work that takes longer than a second, and nothing anywhere else.
package final class Progress {
  private let stream: OutputStream
  private let program: String
  private let title: String
  private let isShown: Bool
  private let clock: () -> Int64
  private let begun: Int64
  private var lastShown: Int64?
  /// The furthest that the work has come. Work that begins again, because keys changed meanwhile, shows this until it is there.
  private var furthest = (done: 0, total: 0)

  /// - Parameter clock: Milliseconds that only grow; a test has its own.
  package init(
    of program: String, _ title: String, on stream: OutputStream, isQuiet: Bool,
    clock: @escaping () -> Int64 = monotonicMilliseconds
  ) {
    self.stream = stream
    self.program = program
    self.title = title
    self.clock = clock
    begun = clock()
    isShown = !isQuiet && stream.isTerminal
  }

  /// - Parameter total: 0 when it is not known.
  package func update(done: Int, of total: Int) {
    guard isShown else { return }
    if isFurther(done, of: total) { furthest = (done, total) }
    let now = clock()
    guard now - begun >= 1000, now - (lastShown ?? 0) >= 100 else { return }
    lastShown = now
    emit("\r\u{1B}[K\(program): " + line(done: furthest.done, of: furthest.total))
  }

  private func isFurther(_ done: Int, of total: Int) -> Bool {
    guard total > 0, furthest.total > 0 else { return total > 0 || done >= furthest.done }
    return Double(done) / Double(total) >= Double(furthest.done) / Double(furthest.total)
  }

  package func finish() {
    if lastShown != nil { emit("\r\u{1B}[K") }
    lastShown = nil
  }

  private func line(done: Int, of total: Int) -> String {
    guard total > 0 else { return "\(title): \(done)" }
    let filled = min(30, done * 30 / total)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
    return "\(title) [\(bar)] \(min(100, done * 100 / total)) % (\(done) of \(total))"
  }

  /// A terminal that was stopped (Ctrl-S) does not stop the work.
  private func emit(_ text: String) {
    guard stream.hasRoom else { return }
    try? stream.write(text)
    try? stream.flush()
  }

  package static func monotonicMilliseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }
}
