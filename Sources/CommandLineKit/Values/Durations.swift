/// `90s 15m 12h 30d`: a whole number and one unit.
package enum Durations {
  /// Whole seconds, from one second to a hundred years.
  package static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard let unit = bytes.last, bytes.count >= 2, bytes.count <= 12 else { return nil }
    let factor: Int64
    switch unit {
    case UInt8(ascii: "s"): factor = 1
    case UInt8(ascii: "m"): factor = 60
    case UInt8(ascii: "h"): factor = 3600
    case UInt8(ascii: "d"): factor = 86400
    default: return nil
    }
    var value: Int64 = 0
    for byte in bytes.dropLast() {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    let (seconds, overflow) = value.multipliedReportingOverflow(by: factor)
    return !overflow && seconds > 0 && seconds <= longest ? seconds : nil
  }

  /// The largest unit that divides it, else minutes and seconds and so on: `1 h 30 min`.
  package static func text(seconds: Int64) -> String {
    let units: [(Int64, String)] = [(86400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    var rest = seconds
    var parts: [String] = []
    for (size, name) in units where rest >= size {
      parts.append("\(rest / size) \(name)")
      rest %= size
    }
    return parts.isEmpty ? "0 s" : parts.prefix(2).joined(separator: " ")
  }

  /// A hundred years.
  static let longest: Int64 = 36525 * 86400
}
