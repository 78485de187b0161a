/// Instants as they are typed and printed: Unix seconds or RFC 3339.
package enum Instants {
  /// Milliseconds since 1970-01-01T00:00:00Z, or nil for what is neither.
  ///
  /// Strict: four-digit years from 1970, a capital or small `T` and `Z`, an offset with its colon, no leap
  /// second (RFC 3339 §5.6). Digits of a second beyond the third are dropped.
  package static func milliseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= 40 else { return nil }
    if bytes.allSatisfy(isDigit) {
      guard bytes.count <= 12, let seconds = Int64(text), seconds <= latest else { return nil }
      return seconds * 1000
    }
    return dateTime(bytes[...])
  }

  /// The same in whole seconds.
  package static func seconds(_ text: String) -> Int64? {
    milliseconds(text).map { $0.floorDivided(by: 1000) }
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
  private static func dateTime(_ bytes: ArraySlice<UInt8>) -> Int64? {
    var rest = bytes
    guard let year = number(&rest, count: 4), take(&rest, character: "-"),
      let month = number(&rest, count: 2), take(&rest, character: "-"),
      let day = number(&rest, count: 2), take(&rest, character: "T") || take(&rest, character: "t"),
      let hour = number(&rest, count: 2),
      take(&rest, character: ":"), let minute = number(&rest, count: 2), take(&rest, character: ":"),
      let second = number(&rest, count: 2),
      let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty
    else { return nil }
    guard year >= 1970, (1...12).contains(month), day >= 1, day <= length(of: month, in: year),
      hour <= 23, minute <= 59, second <= 59
    else { return nil }
    let seconds = days(year, month: month, day: day) * 86400 + hour * 3600 + minute * 60 + second - offset
    guard seconds >= 0, seconds <= latest else { return nil }
    return seconds * 1000 + fraction
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

  /// Seconds east of UTC.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if take(&rest, character: "Z") || take(&rest, character: "z") { return 0 }
    let sign: Int64
    if take(&rest, character: "+") {
      sign = 1
    } else if take(&rest, character: "-") {
      sign = -1
    } else {
      return nil
    }
    guard let hours = number(&rest, count: 2), take(&rest, character: ":"),
      let minutes = number(&rest, count: 2), hours <= 23,
      minutes <= 59
    else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, count: Int) -> Int64? {
    guard rest.count >= count, rest.prefix(count).allSatisfy(isDigit) else { return nil }
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
