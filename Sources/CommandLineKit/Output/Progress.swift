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
    // The last column stays free: a terminal may go on to the next line there.
    emit("\r\u{1B}[K" + line(in: max(20, stream.terminalSize.columns) - 1))
    stream.showsProgress = true
  }

  private func isFurther(_ done: Int, of total: Int) -> Bool {
    guard furthest.total > 0 else { return total > 0 || done >= furthest.done }
    return total > 0 && Double(done) / Double(total) >= Double(furthest.done) / Double(furthest.total)
  }

  package func finish() {
    if lastShown != nil, stream.showsProgress { emit("\r\u{1B}[K") }
    stream.showsProgress = false
    lastShown = nil
  }

  /// The longest form that fits: the text is shortened first, then the bar.
  private func line(in width: Int) -> String {
    let total = furthest.total
    let done = total > 0 ? min(furthest.done, total) : furthest.done
    guard total > 0 else {
      let whole = ["\(program): \(title): \(done)", "\(title): \(done)"].first { $0.count <= width }
      return whole ?? DisplayWidth.cut(title, to: max(1, width - String(done).count - 2)) + ": \(done)"
    }
    let percent = "\(min(100, done * 100 / total)) %"
    // As wide at the beginning as at the end: a bar that changes its width would seem to go back.
    let (widestPercent, count) = ("100 %".count, " (\(done) of \(total))")
    let widestCount = " (\(total) of \(total))".count
    for (text, count, countWidth) in [
      ("\(program): \(title) ", count, widestCount), ("\(title) ", count, widestCount), ("\(title) ", "", 0),
    ] {
      let room = width - text.count - widestPercent - countWidth - "[] ".count
      let least = count.isEmpty ? 5 : 30
      if room >= least { return text + bar(min(30, room)) + " " + percent + count }
    }
    return DisplayWidth.cut(title, to: width - widestPercent - 1) + " " + percent
  }

  private func bar(_ width: Int) -> String {
    let filled = min(width, furthest.done * width / furthest.total)
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
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
