/// Lengths of time in seconds, typed as a ``TimeSpan``.
package enum Durations {
  /// Whole seconds, from one second to a hundred years. A number alone is seconds; a month has 30 days, and a year 365.
  package static func seconds(_ text: String) -> Int64? {
    guard let milliseconds = TimeSpan(text, alone: .seconds)?.fixedMilliseconds, milliseconds % 1000 == 0,
      1...longest ~= milliseconds / 1000
    else { return nil }
    return milliseconds / 1000
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
