import Synchronization

/// Which lines are logged, and for whom. A process has one; tests make their own.
package final class LogSwitch: Sendable {
  package static let ofProcess = LogSwitch()

  /// A bit for each tag and level that is on.
  private let lines = Atomic<UInt32>(0)
  private let state = Mutex(State())

  private struct State {
    var isUnmasked = false
    var sinks: [VaultLog.Sink] = []
    var process = ""
  }

  package init() {}

  /// As ``VaultLog/start(_:level:isUnmasked:to:)``.
  package func start(
    _ tags: Set<VaultLog.Tag>, level: VaultLog.Level, isUnmasked: Bool = false, to sinks: [VaultLog.Sink]
  ) {
    guard !tags.isEmpty, !sinks.isEmpty else { return stop() }
    let now = State(isUnmasked: isUnmasked, sinks: sinks, process: LogText.processName())
    if isUnmasked { Self.warn(now) }
    state.withLock { $0 = now }
    var bits: UInt32 = 0
    for tag in tags {
      for level in VaultLog.Level.allCases.prefix(through: Int(level.index)) { bits |= Self.bit(tag, level) }
    }
    lines.store(bits, ordering: .relaxed)
  }

  package func stop() {
    lines.store(0, ordering: .relaxed)
    state.withLock { $0 = State() }
  }

  var isOn: Bool { lines.load(ordering: .relaxed) != 0 }

  /// Logs a line, if its tag and level are on.
  package func log(
    _ level: VaultLog.Level, _ tag: VaultLog.Tag, _ message: () -> VaultLog.Message,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    guard lines.load(ordering: .relaxed) & Self.bit(tag, level) != 0 else { return }
    write(level, tag, message(), file: file, line: line)
  }

  private func write(
    _ level: VaultLog.Level, _ tag: VaultLog.Tag, _ message: VaultLog.Message, file: StaticString, line: UInt
  ) {
    let now = state.withLock { $0 }
    // Masked here, once, before any sink.
    Self.send(message.text(isUnmasked: now.isUnmasked), level, tag, LogText.file(file), line, in: now)
  }

  /// The two lines before all others of a log that shows names and addresses.
  private static func warn(_ state: State) {
    for text in [
      "this log shows names and addresses: do not give it to others",
      "turn this off as soon as you have seen what you were looking for",
    ] { send(text, .warning, nil, LogText.file(#fileID), #line, in: state) }
  }

  private static func send(
    _ text: String, _ level: VaultLog.Level, _ tag: VaultLog.Tag?, _ file: String, _ number: UInt,
    in state: State
  ) {
    guard !state.sinks.isEmpty else { return }
    let head = "\(LogText.now()) \(LogText.place(state.process)) [\(tag?.rawValue ?? "UNSECURED")]"
    let line = VaultLog.Line(
      tag: tag, level: level, file: file, number: number, text: text,
      description: "\(head) [\(level.rawValue)] \(file).\(number) : \(text)")
    for sink in state.sinks { sink.write(line) }
  }

  private static func bit(_ tag: VaultLog.Tag, _ level: VaultLog.Level) -> UInt32 {
    1 << (4 * tag.index + level.index)
  }
}
