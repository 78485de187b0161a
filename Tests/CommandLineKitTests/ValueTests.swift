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
    "durations are a whole number and one unit",
    arguments: [("90s", 90), ("15m", 900), ("12h", 43200), ("30d", 2_592_000), ("007s", 7)]
      as [(String, Int64)])
  func durations(text: String, seconds: Int64) {
    expect(Durations.seconds(text), equals: seconds)
  }

  @Test(
    "anything else is no duration",
    arguments: [
      "", "s", "90", "0s", "-1s", "+1s", "1.5h", "1 h", "1h30m", "90S", "١s", "99999999999d", "36526d", " 1s",
      "1w",
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
      ("2000-03-01T00:00:00-00:30", 951_870_600_000),
    ] as [(String, Int64)])
  func instants(text: String, milliseconds: Int64) {
    expect(Instants.milliseconds(text), equals: milliseconds)
  }

  @Test(
    "anything else is no instant",
    arguments: [
      "", "-1", "1e9", "1700000000.5", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14 22:13:20Z",
      "2023-02-29T00:00:00Z", "1900-01-01T00:00:00Z", "2023-13-01T00:00:00Z", "2023-00-10T00:00:00Z",
      "2023-11-14T24:00:00Z", "2023-11-14T22:60:20Z", "2023-11-14T22:13:60Z", "2023-11-14T22:13:20.Z",
      "2023-11-14T22:13:20+0100", "2023-11-14T22:13:20Zx", "253402300800", "2023-1-14T22:13:20Z",
      "1970-01-01T00:00:00+00:01", "٢٠٢٣-11-14T22:13:20Z",
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
