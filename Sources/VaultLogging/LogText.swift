import CLinux
import Glibc

/// Texts of a line.
enum LogText {
  /// The value on one line, at most 200 characters: a control character, a separator of lines or paragraphs and a
  /// character that changes the direction of text are written as `\u{…}`, and a backslash as two. So a value can
  /// neither begin a line nor look like another one.
  static func harmless(_ value: String) -> String {
    var text = ""
    for (index, scalar) in value.unicodeScalars.enumerated() {
      guard index < 200 else { return text + "…" }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      default:
        if scalar == "\\" { text += "\\\\" } else { text.unicodeScalars.append(scalar) }
      }
    }
    return text
  }

  /// `#fileID` is `Module/File.swift`. Returns `File`.
  static func file(_ id: StaticString) -> String {
    let name = id.description.split(separator: "/").last ?? ""
    return String(name.hasSuffix(".swift") ? name.dropLast(6) : name)
  }

  /// The present time in UTC with milliseconds, as RFC 3339 has it.
  static func now() -> String {
    var moment = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &moment)
    // The names of time zones, which are pointers, are not read.
    var parts = unsafe tm()
    unsafe gmtime_r(&moment.tv_sec, &parts)
    let (year, month, day) = unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday)
    let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
    let date = "\(padded(Int(year) + 1900, 4))-\(padded(Int(month) + 1))-\(padded(Int(day)))"
    let time = "\(padded(Int(hour))):\(padded(Int(minute))):\(padded(Int(second)))"
    return "\(date)T\(time).\(padded(moment.tv_nsec / 1_000_000, 3))Z"
  }

  /// The process and the thread: `vaultctl[4711:4712]`.
  static func place(_ process: String) -> String { "\(process)[\(getpid()):\(clinux_thread_id())]" }

  /// The name of the program that this process runs.
  static func processName() -> String {
    var path = [UInt8](repeating: 0, count: 4096)
    let length = unsafe path.withUnsafeMutableBytes {
      unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    guard length > 0 else { return "process" }
    return harmless(
      String(decoding: path[..<length].split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self))
  }

  private static func padded(_ number: Int, _ count: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
