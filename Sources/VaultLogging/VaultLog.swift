// Read in this order: `Tag` and `Level`, `Message` with its values, `Line` and `Sink`, then `LogSwitch.swift`, which has the
// state.

/// Log lines that hide what is private.
///
/// Nothing is logged until a program calls ``start(_:level:isUnmasked:to:)`` with tags. A call of the library that logs
/// costs one relaxed atomic load while its tag and level are off; its text is not made.
///
/// A line is `time process[pid:tid] [TAG] [LEVEL] File.line : text`. The type of a value decides whether the line shows
/// it: numbers, flags and codes are shown; names and addresses are masked; a secret has no type that a `Message` takes,
/// so code that logs one does not compile. The mask is applied before a line reaches a ``Sink``: all
/// sinks get the same text.
///
/// Unmasking shows names and addresses, never secrets or codes. Then the log begins with two lines `[UNSECURED]`.
public enum VaultLog {
  /// Starts the log of this process, or changes it.
  ///
  /// - Parameters:
  ///   - tags: What is logged. An empty set stops the log.
  ///   - level: The least important level that is logged. `debug` is never on by itself, whatever the build is.
  ///   - isUnmasked: Whether lines show names and addresses. The first two lines then warn of that.
  ///   - sinks: Who gets the lines.
  public static func start(
    _ tags: Set<Tag>, level: Level = .info, isUnmasked: Bool = false, to sinks: [Sink] = [.standardError]
  ) {
    LogSwitch.ofProcess.start(tags, level: level, isUnmasked: isUnmasked, to: sinks)
  }

  /// Stops the log. A line that another thread is writing may still arrive.
  public static func stop() { LogSwitch.ofProcess.stop() }

  // MARK: For our rooms

  /// Runs `body` with a log that gets the lines of this thread alone, beside the log of the process.
  package static func during<R>(
    _ tags: Set<Tag>, level: Level, isUnmasked: Bool, to sinks: [Sink], _ body: () throws -> R
  ) rethrows -> R {
    let log = LogSwitch()
    log.start(tags, level: level, isUnmasked: isUnmasked, to: sinks)
    return try LogSwitch.ofProcess.lend(to: log, body)
  }

  /// Whether anything is logged. One relaxed atomic load.
  package static var isOn: Bool { LogSwitch.ofProcess.isOn }

  /// What failed, and what the caller is told of it.
  package static func error(
    _ tag: Tag, _ message: @autoclosure () -> Message, file: StaticString = #fileID, line: UInt = #line
  ) {
    LogSwitch.ofProcess.log(.error, tag, message, file: file, line: line)
  }

  /// What was refused, or went on in a way that somebody should know.
  package static func warning(
    _ tag: Tag, _ message: @autoclosure () -> Message, file: StaticString = #fileID, line: UInt = #line
  ) {
    LogSwitch.ofProcess.log(.warning, tag, message, file: file, line: line)
  }

  /// What was done.
  package static func info(
    _ tag: Tag, _ message: @autoclosure () -> Message, file: StaticString = #fileID, line: UInt = #line
  ) {
    LogSwitch.ofProcess.log(.info, tag, message, file: file, line: line)
  }

  /// The steps on the way.
  package static func debug(
    _ tag: Tag, _ message: @autoclosure () -> Message, file: StaticString = #fileID, line: UInt = #line
  ) {
    LogSwitch.ofProcess.log(.debug, tag, message, file: file, line: line)
  }
}
