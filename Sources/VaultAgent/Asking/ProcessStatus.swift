import TrustedPaths

/// What the kernel says of a process: `/proc/PID/stat` (proc(5)).
struct ProcessStatus {
  /// Its name, which the process can change.
  let name: String
  let parent: Int32
  let session: Int32
  /// The device number of its controlling terminal; nil without one.
  let terminal: (major: UInt32, minor: UInt32)?
  /// Clock ticks since boot.
  let started: UInt64

  /// nil for a process that is gone or cannot be seen.
  init?(of process: Int32) {
    guard let text = ProcessFile.text("stat", of: process) else { return nil }
    self.init(text)
  }

  /// - Parameter text: The line of the kernel. The name in parentheses can have spaces and parentheses itself, so the fields are counted
  ///   from the last one.
  init?(_ text: String) {
    guard let begin = text.firstIndex(of: "("), let end = text.lastIndex(of: ")"), begin < end else {
      return nil
    }
    let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // The field after the name is the third.
    guard fields.count > 19, let parent = Int32(fields[1]), let session = Int32(fields[3]),
      let terminal = Int32(fields[4]), let started = UInt64(fields[19])
    else { return nil }
    name = String(text[text.index(after: begin)..<end])
    (self.parent, self.session, self.started) = (parent, session, started)
    self.terminal = terminal == 0 ? nil : Self.device(UInt32(bitPattern: terminal))
  }

  /// Bits 8 to 15 are the major number, the others the minor one.
  private static func device(_ number: UInt32) -> (major: UInt32, minor: UInt32) {
    (number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00)
  }
}
