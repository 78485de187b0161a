import TestSupport
import Testing
import TextFormats

@Suite("Percent encoding", .bounded)
struct PercentEncodingTests {
  @Test("each byte is found again, in both cases of the digits")
  func allBytes() {
    for byte in UInt8.min...UInt8.max {
      expect(PercentEncoding.decoded(PercentEncoding.text(of: byte).utf8), equals: [byte])
      let digits = String(byte, radix: 16)
      expect(PercentEncoding.decoded("%\(byte < 16 ? "0" : "")\(digits)".utf8), equals: [byte])
    }
  }

  @Test("what is not encoded stays, and a plus is a plus")
  func plain() {
    expect(PercentEncoding.decoded("a+b/ä%2B".utf8), equals: Array("a+b/ä+".utf8))
    expect(PercentEncoding.decoded("".utf8), equals: [])
  }

  @Test(
    "a % without two digits behind it is no encoding",
    arguments: ["%", "a%", "%4", "%g0", "%0g", "%%41", "%4%31", "% 41", "%é", "%:0", "%@A", "%`a"])
  func malformed(text: String) {
    #expect(PercentEncoding.decoded(text.utf8) == nil)
  }
}
