import Glibc

/// Outcomes as JSON, one line each, for `scripts/bench` to make tables of.
enum Report {
  static func line(_ outcome: Outcome) -> String {
    object([
      ("id", text(outcome.race.id)), ("title", text(outcome.race.title)), ("unit", text(outcome.race.unit)),
      ("absent", list(outcome.race.absent.map(text))),
      ("readings", list(outcome.readings.map(reading))),
    ])
  }

  private static func reading(_ reading: Reading) -> String {
    object([
      ("name", text(reading.name)), ("allocations", number(reading.allocations.count)),
      ("allocatedBytes", number(reading.allocations.bytes)),
      ("ns", list(reading.samples.map(number))),
    ])
  }

  static func object(_ fields: [(String, String)]) -> String {
    "{" + fields.map { text($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
  }

  static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

  /// Only for our own names: they contain nothing that needs more escaping.
  static func text(_ value: String) -> String {
    "\"" + value.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
  }

  static func number(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }

  /// For people who watch the run.
  static func summary(_ outcome: Outcome) {
    let floor = outcome.readings[0].samples.min()!
    note("\(outcome.race.id)  \(outcome.race.title)")
    for reading in outcome.readings {
      let sorted = reading.samples.sorted()
      note(
        "  \(padded(reading.name, 44)) \(padded(short(sorted[0]), 10)) \(padded(short(sorted[sorted.count / 2]), 10))"
          + " x\(short(sorted[0] / floor))  \(short(reading.allocations.count)) malloc")
    }
    for name in outcome.race.absent { note("  \(name): absent") }
  }

  static func note(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func short(_ value: Double) -> String {
    value >= 100 ? "\(Int(value.rounded()))" : "\((value * 100).rounded() / 100)"
  }
}
