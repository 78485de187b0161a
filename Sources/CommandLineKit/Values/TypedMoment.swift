/// A moment as it is typed: an instant, or how far it is from now.
package enum TypedMoment: Sendable, Equatable {
  case at(milliseconds: Int64)
  case away(TimeSpan)

  /// A number alone is seconds since 1970; anything else is a date, or a time with its units.
  ///
  /// - Throws: Why it is neither.
  package init(_ text: String) throws(TimeFlaw) {
    if let span = TimeSpan(text) {
      self = .away(span)
    } else {
      self = .at(milliseconds: try Instants.read(text))
    }
  }

  /// Milliseconds since 1970 of a moment to come. Years and months are those of the calendar: a day that the month lacks is its last.
  ///
  /// - Returns: nil beyond the year 9999.
  package func milliseconds(after now: Int64) -> Int64? {
    switch self {
    case .at(let milliseconds): milliseconds
    case .away(let span): Instants.advance(now, by: span, sign: 1)
    }
  }

  /// Seconds since 1970 of a moment that is over; 0 for one before.
  package func seconds(before now: Int64) -> Int64 {
    switch self {
    case .at(let milliseconds): milliseconds / 1000
    case .away(let span): (Instants.advance(now * 1000, by: span, sign: -1) ?? 0) / 1000
    }
  }
}

/// Why a text is no moment.
package enum TimeFlaw: Error, Equatable {
  /// It has none of the forms.
  case form
  /// There is no such month.
  case month
  /// The month has only so many days.
  case day(Int64)
  /// Its time of day or its zone is none.
  case time
  /// It is before 1970 or after 9999.
  case range

  /// What is wrong, as the end of a sentence that begins with the option.
  package var words: String {
    switch self {
    case .form: "is not a time"
    case .month: "has a month after 12 or before 1"
    case .day(let days): "has a day that its month, of \(days) days, does not have"
    case .time: "has a time of day or a zone that does not exist: hours go to 23, minutes and seconds to 59"
    case .range: "is outside of the years 1970 to 9999"
    }
  }
}
