import Foundation
import TestSupport
import Testing
import CommandLineKit

@Suite("Values of options", .bounded)
struct ValueTests {
  @Test("a file that grows beyond a limit is reported in words")
  func systemErrors() {
    let message = CommandError.io("writing standard output", errno: EFBIG).message
    #expect(message.hasPrefix("writing standard output: the file") && !message.contains("error"))
  }

  @Test(
    "durations are whole numbers with units, the greater one first; a number alone is seconds",
    arguments: [
      ("90s", 90), ("15m", 900), ("12h", 43200), ("30d", 2_592_000), ("007s", 7), ("60", 60),
      ("2w", 1_209_600),
      ("12h30m", 45_000), ("1d1s", 86_401), ("1 h", 3600), ("1 h 30 min", 5400), ("5min", 300),
      ("6mo", 15_552_000), ("1y", 31_536_000), ("1y6mo1d", 47_174_400), ("2000ms", 2),
      ("36525d", 3_155_760_000),
    ] as [(String, Int64)])
  func durations(text: String, seconds: Int64) {
    expect(Durations.seconds(text), equals: seconds)
  }

  @Test(
    "anything else is no duration",
    arguments: [
      "", "s", "0", "0s", "-1s", "+1s", "1.5h", "90S", "1M", "١s", "99999999999d", "36526d", " 1s", "1s ",
      "1  h", "30m1h", "1h1h", "1h30", "1m 5min", "500ms", "999999999999999999999s", "9999999999999999y",
      "1x", "min",
      "0y", "1y\u{0}", "1h-5m", "101y",
    ])
  func noDurations(text: String) {
    #expect(Durations.seconds(text) == nil)
  }

  @Test(
    "instants are Unix seconds or RFC 3339",
    arguments: [
      ("0", 0), ("59", 59_000), ("1700000000", 1_700_000_000_000), ("1970-01-01T00:00:59Z", 59_000),
      ("2023-11-14T22:13:20Z", 1_700_000_000_000), ("2023-11-14t23:13:20.5+01:00", 1_700_000_000_500),
      ("2024-02-29T00:00:00.1239Z", 1_709_164_800_123), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
      ("2000-03-01T00:00:00-00:30", 951_870_600_000), ("2023-11-14", 1_699_920_000_000),
      ("2023-11-14T22:13", 1_699_999_980_000), ("2023-11-14 22:13:20Z", 1_700_000_000_000),
      ("2023-11-14T22:13:20", 1_700_000_000_000), ("2023-11-14T22:13:20+0100", 1_699_996_400_000),
      ("2023-11-14T22:13:20-05", 1_700_018_000_000), ("2023-11-14 22:13 UTC", 1_699_999_980_000),
      ("2024-02-29", 1_709_164_800_000), ("2000-02-29", 951_782_400_000), ("9999-12-31", 253_402_214_400_000),
    ] as [(String, Int64)])
  func instants(text: String, milliseconds: Int64) {
    expect(Instants.milliseconds(text), equals: milliseconds)
  }

  @Test(
    "anything else is no instant",
    arguments: [
      "", "-1", "1e9", "1700000000.5", "2023-11", "2023-11-14T", "2023-11-14T22", "2023-11-14  22:13",
      "2023-02-29T00:00:00Z", "1900-01-01T00:00:00Z", "2023-13-01T00:00:00Z", "2023-00-10T00:00:00Z",
      "2023-11-14T24:00:00Z", "2023-11-14T22:60:20Z", "2023-11-14T22:13:60Z", "2023-11-14T22:13:20.Z",
      "2023-11-14T22:13:20+01:", "2023-11-14T22:13:20Zx", "253402300800", "2023-1-14T22:13:20Z",
      "1970-01-01T00:00:00+00:01", "2023-02-29", "1900-02-29", "2100-02-29", "10000-01-01",
      "9999-12-31T23:59:59-00:01",
      "2023-11-14T22:13+24:00", "2023-11-14T22:13:20 utc", "23-11-14", "14.11.2023", "11/14/2023",
      "-2023-11-14",
      "2023-11-14Z", "2023-11-14T22:13:20+", "0000-01-01", "٢٠٢٣-11-14T22:13:20Z",
    ])
  func noInstants(text: String) {
    #expect(Instants.milliseconds(text) == nil)
  }

  @Test("printed instants agree with Foundation over four centuries and are read back")
  func printedInstants() {
    let formatter = ISO8601DateFormatter()
    for seconds in stride(from: Int64(0), to: 12_622_780_800, by: 86_400 * 13 + 3_601) {
      let text = Instants.text(seconds: seconds)
      expect(text, equals: formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds))))
      expect(Instants.milliseconds(text), equals: seconds * 1000)
    }
  }

  @Test("what is shown of an instant is read back, and says UTC")
  func shownInstants() {
    expect(Instants.shown(seconds: 1_801_353_600), equals: "2027-01-31 00:00 UTC")
    for seconds in stride(from: Int64(0), to: 253_402_300_799, by: 86_400 * 9973 + 3_607) {
      expect(Instants.seconds(Instants.shown(seconds: seconds)), equals: seconds)
    }
  }

  /// Verified to fail when months are of 30 days, when the day is not bounded by its month, and when 29 February is every year's.
  @Test(
    "months and years from now are those of the calendar, forward and back",
    arguments: [
      ("2027-01-31", "1mo", "2027-02-28", "2026-12-31"), ("2028-01-31", "1mo", "2028-02-29", "2027-12-31"),
      ("2028-02-29", "1y", "2029-02-28", "2027-02-28"), ("2028-02-29", "4y", "2032-02-29", "2024-02-29"),
      ("2027-11-30T10:00", "3mo", "2028-02-29T10:00", "2027-08-30T10:00"),
      ("2027-03-30", "1mo1d", "2027-05-01", "2027-02-27"), ("2027-12-31", "1d", "2028-01-01", "2027-12-30"),
      ("2027-12-01", "1y", "2028-12-01", "2026-12-01"), ("2000-03-01", "24mo", "2002-03-01", "1998-03-01"),
      ("2027-01-31", "90d", "2027-05-01", "2026-11-02"),
    ])
  func calendar(now: String, span: String, later: String, earlier: String) throws {
    let (now, later, earlier) = (
      try Instants.read(now), try Instants.read(later), try Instants.read(earlier)
    )
    let moment = try TypedMoment(span)
    expect(moment.milliseconds(after: now), equals: later)
    expect(moment.seconds(before: now / 1000), equals: earlier / 1000)
  }

  /// Verified to fail when a sum is not bounded.
  @Test("no clock and no length of time gives a moment outside of 1970 to 9999")
  func bounds() throws {
    for text in ["1s", "1mo", "9000y", "9999y11mo365d", "100000w"] {
      let moment = try TypedMoment(text)
      for now in [Int64.min, -1, 253_402_300_799_999, 253_402_300_800_000, .max] {
        #expect(moment.milliseconds(after: now) == nil)
      }
      for now in [Int64.min / 1000, -1, 0, 253_402_300_800, Int64.max / 1000] {
        expect(moment.seconds(before: now), equals: 0)
      }
    }
    #expect(try TypedMoment("7972y").milliseconds(after: 1_800_000_000_000) != nil)
    #expect(try TypedMoment("7973y").milliseconds(after: 1_800_000_000_000) == nil)
  }

  /// Verified to fail when any text is repeated, and when none is.
  @Test("an error names the option, what was typed where only a time looks so, why it is none, and the forms")
  func errors() {
    func error<V>(_ kind: ValueKind<V>, _ text: String) -> CommandError? {
      do throws(CommandError) {
        _ = try kind.read(text, "--when")
        return nil
      } catch { return error }
    }
    let said: [(String, String)] = [
      ("2027-02-30", "--when 2027-02-30 has a day that its month, of 28 days, does not have"),
      ("2027-13-01", "--when 2027-13-01 has a month after 12 or before 1"),
      ("10000-01-01", "--when 10000-01-01 is outside of the years 1970 to 9999"),
      ("2027-01-31T24:00", "--when 2027-01-31T24:00 has a time of day or a zone that does not exist"),
      ("1h2h", "--when 1h2h is not a time"), ("hunter2", "--when is not a time"),
      ("4711 hunter", "--when is not a time"), ("99999999999999", "--when is outside of the years"),
    ]
    for (text, words) in said {
      for error in [error(.future, text), error(.past, text), error(.instant, text)] {
        #expect(error?.exit == .usage && error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
        #expect(error?.hint?.contains("2027-01-31") == true)
      }
    }
    expect(error(.duration(1...2_592_000), "31d")?.message, equals: "--when 31d takes a time from 1s to 30d")
    expect(error(.duration, "correct horse")?.message, equals: "--when takes a time from 1s to 36525d")
    expect(
      error(.milliseconds(50...10_000), "11s")?.message,
      equals: "--when 11s takes a time from 50ms to 10000ms")
    #expect(error(.milliseconds(50...10_000), "50") == nil && error(.duration(0...5), "0") == nil)
  }

  @Test("a generator has a length and an alphabet")
  func generators() {
    expect(Generator("24")?.alphabet, equals: .alnum)
    expect(Generator("6:words")?.length, equals: 6)
    expect(Generator("64:hex")?.alphabet, equals: .hex)
    for text in ["", "0", "1025", "24:", "24:emoji", "-1", "24:all:all", "+4"] {
      #expect(Generator(text) == nil)
    }
  }
}
