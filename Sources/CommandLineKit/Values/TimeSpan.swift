/// A length of time as people type it: `90s`, `15m`, `12h30m`, `2w`, `6mo`, `1y`, and as it is printed: `1 h 30 min`.
package struct TimeSpan: Sendable, Equatable {
  private(set) var years: Int64 = 0
  private(set) var months: Int64 = 0
  private(set) var milliseconds: Int64 = 0

  /// What a number without a unit counts.
  package enum Unit: String, Sendable, CaseIterable {
    case years = "y"
    case months = "mo"
    case weeks = "w"
    case days = "d"
    case hours = "h"
    case minutes = "m"
    case seconds = "s"
    case milliseconds = "ms"

    fileprivate var length: Int64 {
      switch self {
      case .years: 365 * 86_400_000
      case .months: 30 * 86_400_000
      case .weeks: 7 * 86_400_000
      case .days: 86_400_000
      case .hours: 3_600_000
      case .minutes: 60_000
      case .seconds: 1000
      case .milliseconds: 1
      }
    }
  }

  /// Reads whole numbers with units, the greater unit first, each at most once; nil for anything else, and for more than the years
  /// of the calendar.
  ///
  /// - Parameter alone: The unit of a number that has none; nil where each needs its own.
  package init?(_ text: String, alone: Unit? = nil) {
    var rest = Array(text.utf8)[...]
    guard rest.count <= Self.longestText else { return nil }
    var last: Unit?
    repeat {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty, digits.count <= 15 else { return nil }
      let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
      rest = rest.dropFirst(digits.count)
      let isAlone = last == nil && rest.isEmpty
      if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
      let letters = rest.prefix { (0x61...0x7A).contains($0) }
      guard let unit = isAlone ? alone : Self.unit(letters), last.map({ $0.length > unit.length }) ?? true
      else { return nil }
      rest = rest.dropFirst(letters.count)
      guard number <= Self.longest / unit.length else { return nil }
      add(number, unit)
      last = unit
      if !rest.isEmpty, rest.first == UInt8(ascii: " ") { rest.removeFirst() }
    } while !rest.isEmpty
    guard text.utf8.last != UInt8(ascii: " "), fixedMilliseconds <= Self.longest else { return nil }
  }

  /// Its length where no date says which months and years are meant: of 30 and of 365 days.
  package var fixedMilliseconds: Int64 {
    years * Unit.years.length + months * Unit.months.length + milliseconds
  }

  private mutating func add(_ number: Int64, _ unit: Unit) {
    switch unit {
    case .years: years = number
    case .months: months = number
    default: milliseconds += number * unit.length
    }
  }

  private static func unit(_ letters: ArraySlice<UInt8>) -> Unit? {
    // As `Durations.text(seconds:)` prints minutes.
    if letters.elementsEqual("min".utf8) { return .minutes }
    return Unit.allCases.first { letters.elementsEqual($0.rawValue.utf8) }
  }

  /// Ten thousand years: more than any option takes, and no sum of it overflows.
  private static let longest: Int64 = 10_000 * 366 * 86_400_000
  private static let longestText = 60
}
