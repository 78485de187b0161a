import Synchronization

/// Which lines are logged, and for whom. A process has one, and so has each command with a log; tests make their own.
package final class LogSwitch: Sendable {
  package static let ofProcess = LogSwitch()

  /// The log of the command that the present thread runs.
  @TaskLocal private static var ofCommand: LogSwitch?

  /// A bit for each tag and level that is on, and ``commandBit``.
  private let lines = Atomic<UInt32>(0)
  private let state = Mutex(State())

  private struct State {
    var isUnmasked = false
    var sinks: [VaultLog.Sink] = []
    var process = ""
    /// How many commands have a log now.
    var commands = 0
  }

  package init() {}

  /// As ``VaultLog/start(_:level:isUnmasked:to:)``.
  package func start(
    _ tags: Set<VaultLog.Tag>, level: VaultLog.Level, isUnmasked: Bool = false, to sinks: [VaultLog.Sink]
  ) {
    guard !tags.isEmpty, !sinks.isEmpty else { return stop() }
    let now = State(isUnmasked: isUnmasked, sinks: sinks, process: LogText.processName())
    if isUnmasked { Self.warn(now) }
    var bits: UInt32 = 0
    for tag in tags {
      for level in VaultLog.Level.allCases.prefix(through: Int(level.index)) { bits |= Self.bit(tag, level) }
    }
    set(now, bits)
  }

  package func stop() { set(State(), 0) }

  /// Runs `body` with a log of its own, which gets the lines of this thread alone.
  func lend<R>(to log: LogSwitch, _ body: () throws -> R) rethrows -> R {
    countCommands(1)
    defer { countCommands(-1) }
    return try Self.$ofCommand.withValue(log, operation: body)
  }

  private func set(_ new: State, _ bits: UInt32) {
    state.withLock { state in
      let commands = state.commands
      state = new
      state.commands = commands
      lines.store(bits | (commands > 0 ? Self.commandBit : 0), ordering: .relaxed)
    }
  }

  private func countCommands(_ change: Int) {
    state.withLock { state in
      state.commands += change
      let bits = lines.load(ordering: .relaxed) & ~Self.commandBit
      lines.store(bits | (state.commands > 0 ? Self.commandBit : 0), ordering: .relaxed)
    }
  }

  var isOn: Bool { lines.load(ordering: .relaxed) != 0 }

  /// Logs a line, if its tag and level are on.
  package func log(
    _ level: VaultLog.Level, _ tag: VaultLog.Tag, _ message: () -> VaultLog.Message,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    let on = lines.load(ordering: .relaxed)
    if on & Self.commandBit != 0 { Self.ofCommand?.log(level, tag, message, file: file, line: line) }
    guard on & Self.bit(tag, level) != 0 else { return }
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

  /// Whether some command has a log.
  private static let commandBit: UInt32 = 1 << 31

  private static func bit(_ tag: VaultLog.Tag, _ level: VaultLog.Level) -> UInt32 {
    1 << (4 * tag.index + level.index)
  }
}
