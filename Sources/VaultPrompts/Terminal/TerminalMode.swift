import CLinux
import Glibc

/// The mode of a terminal: what `tcgetattr` gives and `tcsetattr` takes.
struct TerminalMode: Equatable {
  private(set) var flags: termios

  init(of terminal: Int32) throws(TerminalError) {
    var flags = termios()
    guard unsafe tcgetattr(terminal, &flags) == 0 else { throw .noTerminal(errno) }
    self.flags = flags
  }

  /// Whether what is typed is shown.
  var echoes: Bool { flags.c_lflag & tcflag_t(ECHO) != 0 }

  /// Whether the terminal delivers whole lines. A program that reads key by key has set it otherwise.
  var isLineByLine: Bool { flags.c_lflag & tcflag_t(ICANON) != 0 }

  /// This mode, with the changes that another program made from `old` to `new`.
  func taking(changesFrom old: TerminalMode, to new: TerminalMode) -> TerminalMode {
    let mine = bytes
    let (old, new) = (old.bytes, new.bytes)
    return TerminalMode(
      mine.indices.map { index in
        let changed = old[index] ^ new[index]
        return mine[index] & ~changed | new[index] & changed
      }[...])
  }

  /// This mode while a line is typed: line by line, Ctrl-C as a signal.
  func typing(echoes: Bool) -> TerminalMode {
    var mode = self
    mode.flags.c_lflag &= ~tcflag_t(ECHO | ECHONL)
    mode.flags.c_lflag |= tcflag_t(ICANON | ISIG | (echoes ? ECHO : 0))
    mode.flags.c_iflag |= tcflag_t(ICRNL)
    return mode
  }

  /// This mode, in which the terminal delivers also what is not a whole line.
  var byCharacter: TerminalMode {
    var mode = self
    mode.flags.c_lflag &= ~tcflag_t(ICANON)
    unsafe withUnsafeMutableBytes(of: &mode.flags.c_cc) { keys in
      // One byte is enough for a reader, and none is waited for.
      unsafe keys[Int(VMIN)] = 0
      unsafe keys[Int(VTIME)] = 0
    }
    return mode
  }

  /// Sets the mode at once. Waiting until all output is shown could last for ever on a terminal that is stopped.
  ///
  /// - Returns: 0 or an errno; EINTR after SIGTTOU, which a process in the background gets.
  func set(on terminal: Int32) -> Int32 {
    var flags = flags
    return unsafe tcsetattr(terminal, TCSANOW, &flags) == 0 ? 0 : errno
  }

  static func == (one: TerminalMode, other: TerminalMode) -> Bool { one.bytes == other.bytes }
}

extension TerminalMode {
  /// Every field in a fixed order, without padding.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for number in [
      flags.c_iflag, flags.c_oflag, flags.c_cflag, flags.c_lflag, flags.c_ispeed, flags.c_ospeed,
    ] {
      unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }
    bytes.append(flags.c_line)
    unsafe withUnsafeBytes(of: flags.c_cc) { unsafe bytes.append(contentsOf: $0) }
    return bytes
  }

  /// - Precondition: There are ``byteCount`` bytes.
  init(_ bytes: ArraySlice<UInt8>) {
    precondition(bytes.count == Self.byteCount, "TerminalMode: \(bytes.count) bytes")
    let bytes = Array(bytes)
    func number(_ index: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[index * 4 + $1]) << (8 * UInt32($1)) }
    }
    flags = termios()
    (flags.c_iflag, flags.c_oflag) = (number(0), number(1))
    (flags.c_cflag, flags.c_lflag) = (number(2), number(3))
    (flags.c_ispeed, flags.c_ospeed) = (number(4), number(5))
    flags.c_line = bytes[24]
    unsafe withUnsafeMutableBytes(of: &flags.c_cc) { unsafe $0.copyBytes(from: bytes[25...]) }
  }

  static var byteCount: Int { 6 * 4 + 1 + Int(NCCS) }
}
