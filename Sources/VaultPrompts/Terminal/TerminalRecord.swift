import Glibc
import VaultKit

/// What the lock of a terminal holds while a prompt is open: what the next prompt needs to set the terminal right after
/// a prompt that was killed.
struct TerminalRecord: Equatable {
  /// All zero where it cannot be read.
  private let boot: [UInt8]
  /// 0 where the terminal does not control this process.
  private let session: Int32
  /// The mode before the prompt.
  let before: TerminalMode
  /// The mode that the prompt set.
  let during: TerminalMode

  /// What a prompt is about to do to a terminal.
  init(of terminal: Int32, before: TerminalMode, during: TerminalMode) {
    boot = Self.thisBoot
    session = Self.session(of: terminal)
    (self.before, self.during) = (before, during)
  }

  /// Whether the terminal is as the prompt left it: the same boot, the same session, the mode that the prompt set.
  func describes(_ terminal: Int32, in mode: TerminalMode) -> Bool {
    boot.contains { $0 != 0 } && boot == Self.thisBoot && session > 0
      && session == Self.session(of: terminal) && mode == during
  }

  private static var thisBoot: [UInt8] { SystemClock().bootID() ?? [UInt8](repeating: 0, count: 16) }

  private static func session(of terminal: Int32) -> Int32 { max(0, tcgetsid(terminal)) }
}

extension TerminalRecord {
  var bytes: [UInt8] {
    let number = (0..<4).map { UInt8(truncatingIfNeeded: session >> (8 * $0)) }
    return Self.mark + boot + number + before.bytes + during.bytes
  }

  /// Nil for anything but a whole record.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.mark) else { return nil }
    boot = Array(bytes[8..<24])
    session = (0..<4).reduce(0) { $0 | Int32(bytes[24 + $1]) << (8 * Int32($1)) }
    before = TerminalMode(bytes[28..<28 + TerminalMode.byteCount])
    during = TerminalMode(bytes[(28 + TerminalMode.byteCount)...])
  }

  static var byteCount: Int { 28 + 2 * TerminalMode.byteCount }

  private static let mark = Array("vprompt1".utf8)
}
