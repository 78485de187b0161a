/// Instants as they are typed and printed: Unix seconds, a date, a date with a time.
package enum Instants {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  ///
  /// A date is its first moment, and a time without a zone is of UTC: `2027-01-31`, `2027-01-31T10:00`, `2027-01-31 10:00 UTC`,
  /// `2027-01-31T10:00:00.5+01:00`. Years have four digits, from 1970. There is no leap second. Digits of a second beyond the third
  /// are dropped.
  package static func read(_ text: String) throws(TimeFlaw) -> Int64 {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= 40 else { throw .form }
    if bytes.allSatisfy(isDigit) {
      guard bytes.count <= 12, let seconds = Int64(text), seconds <= latest else { throw .range }
      return seconds * 1000
    }
    return try dateTime(bytes[...])
  }

  /// The same; nil for what is none.
  package static func milliseconds(_ text: String) -> Int64? { try? read(text) }

  /// The same in whole seconds.
  package static func seconds(_ text: String) -> Int64? {
    milliseconds(text).map { $0.floorDivided(by: 1000) }
  }

  /// The moment so far from another one: first years and months by the calendar, then the rest.
  ///
  /// - Parameter sign: 1 for later, -1 for earlier.
  /// - Returns: nil outside of 1970 to 9999.
  static func advance(_ milliseconds: Int64, by span: TimeSpan, sign: Int64) -> Int64? {
    guard 0...latest ~= milliseconds.floorDivided(by: 1000) else { return nil }
    let days = milliseconds / dayLength
    let date = civil(days)
    let months = date.year * 12 + date.month - 1 + sign * (span.years * 12 + span.months)
    let (year, month) = (months.floorDivided(by: 12), months - months.floorDivided(by: 12) * 12 + 1)
    guard 1970...9999 ~= year else { return nil }
    let day = min(date.day, length(of: month, in: year))
    let moved = self.days(year, month: month, day: day) * dayLength + milliseconds % dayLength
    let sum = moved + sign * span.milliseconds
    return 0...latest ~= sum.floorDivided(by: 1000) ? sum : nil
  }

  private static let dayLength: Int64 = 86_400_000

  /// For people: `2027-01-31 00:00 UTC`, with seconds where there are any.
  package static func shown(seconds: Int64) -> String {
    let text = Array(text(seconds: seconds).utf8.dropLast())
    let hasSeconds = !text.suffix(3).elementsEqual(":00".utf8)
    let (date, time) = (text.prefix { $0 != UInt8(ascii: "T") }, text.drop { $0 != UInt8(ascii: "T") })
    let shownTime = hasSeconds ? time.dropFirst() : time.dropFirst().dropLast(3)
    return "\(String(decoding: date, as: UTF8.self)) \(String(decoding: shownTime, as: UTF8.self)) UTC"
  }

  /// RFC 3339 in UTC with whole seconds.
  package static func text(seconds: Int64) -> String {
    let days = seconds.floorDivided(by: 86400)
    let time = seconds - days * 86400
    let date = civil(days)
    return "\(padded(date.year, width: 4))-\(padded(date.month, width: 2))-\(padded(date.day, width: 2))"
      + "T\(padded(time / 3600, width: 2)):\(padded(time / 60 % 60, width: 2)):\(padded(time % 60, width: 2))Z"
  }
}

extension Instants {
  private static func dateTime(_ bytes: ArraySlice<UInt8>) throws(TimeFlaw) -> Int64 {
    var rest = bytes
    let years = rest.prefix(while: isDigit).count
    guard let year = number(&rest, count: years), take(&rest, character: "-"),
      let month = number(&rest, count: 2), take(&rest, character: "-"),
      let day = number(&rest, count: 2)
    else { throw .form }
    let time = try timeOfDay(&rest)
    guard years == 4, year >= 1970 else { throw years >= 4 ? .range : .form }
    guard (1...12).contains(month) else { throw .month }
    let length = length(of: month, in: year)
    guard 1...length ~= day else { throw .day(length) }
    let milliseconds = days(year, month: month, day: day) * dayLength + time
    guard 0...latest ~= milliseconds.floorDivided(by: 1000) else { throw .range }
    return milliseconds
  }

  /// Milliseconds of UTC since the beginning of a day, as it is written; 0 where nothing follows the date.
  private static func timeOfDay(_ rest: inout ArraySlice<UInt8>) throws(TimeFlaw) -> Int64 {
    if rest.isEmpty { return 0 }
    guard take(&rest, character: "T") || take(&rest, character: "t") || take(&rest, character: " "),
      let hour = number(&rest, count: 2), take(&rest, character: ":"), let minute = number(&rest, count: 2)
    else { throw .form }
    var (second, part): (Int64, Int64) = (0, 0)
    if take(&rest, character: ":") {
      guard let whole = number(&rest, count: 2), let fraction = fraction(&rest) else { throw .form }
      (second, part) = (whole, fraction)
    }
    guard let offset = offset(&rest), rest.isEmpty else { throw .form }
    guard hour <= 23, minute <= 59, second <= 59, abs(offset) < 86_400 else { throw .time }
    return (hour * 3600 + minute * 60 + second - offset) * 1000 + part
  }

  /// Milliseconds of `.123`; 0 when there is none, nil for a point without a digit.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard take(&rest, character: ".") else { return 0 }
    var value: Int64 = 0
    var count = 0
    while let byte = rest.first, isDigit(byte) {
      if count < 3 { value = value * 10 + Int64(byte - 0x30) }
      count += 1
      rest.removeFirst()
    }
    guard count > 0 else { return nil }
    return count == 1 ? value * 100 : count == 2 ? value * 10 : value
  }

  /// Seconds east of UTC: 0 where no zone is given.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if rest.isEmpty || take(&rest, character: "Z") || take(&rest, character: "z") { return 0 }
    if rest.elementsEqual(" UTC".utf8) {
      rest = []
      return 0
    }
    let isEast = take(&rest, character: "+")
    guard isEast || take(&rest, character: "-"), let hours = number(&rest, count: 2) else { return nil }
    let hasColon = take(&rest, character: ":")
    guard let minutes = rest.isEmpty && !hasColon ? 0 : number(&rest, count: 2) else { return nil }
    let seconds = hours * 3600 + minutes * 60
    // No zone is that far, and the sum is refused.
    return hours <= 23 && minutes <= 59 ? (isEast ? seconds : -seconds) : 86_400
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, count: Int) -> Int64? {
    guard 1...9 ~= count, rest.count >= count, rest.prefix(count).allSatisfy(isDigit) else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, character: Unicode.Scalar) -> Bool {
    guard let first = rest.first, UInt32(first) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func length(of month: Int64, in year: Int64) -> Int64 {
    if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
    return [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days since 1970-01-01 in the Gregorian calendar, counted in years that begin in March.
  private static func days(_ year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.floorDivided(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }

  private static func padded(_ value: Int64, width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The last second of the year 9999.
  private static let latest: Int64 = 253_402_300_799
}

extension Int64 {
  /// Rounds towards the past, also before 1970.
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
