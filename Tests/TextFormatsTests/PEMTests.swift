import SecretMemory
import TestSupport
import Testing
import TextFormats

@Suite("PEM", .bounded)
struct PEMTests {
  private func blocks(_ text: String) throws(TextError) -> [PEMBlock] {
    try SecretBytes(copying: Array(text.utf8)).expose { (text) throws(TextError) in
      try PEMBlock.blocks(in: text)
    }
  }

  private func bytes(_ block: PEMBlock) -> [UInt8] {
    block.content.expose { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }

  @Test("what is written is read again, whatever its length", arguments: [0, 1, 2, 3, 47, 48, 49, 1000])
  func roundTrip(count: Int) throws {
    let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let text = PEMBlock.text("SOME BYTES", content)
    let found = try blocks("remark\n" + text + "Bag Attributes: 1\n" + text.replacing("\n", with: " \r\n"))
    #expect(found.map(\.label) == ["SOME BYTES", "SOME BYTES"] && found.map(bytes) == [content, content])
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 64 })
  }

  @Test("headers are noticed, and their block is not decoded")
  func headers() throws {
    let text = "-----BEGIN K-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,Y\n\nAAAA\n-----END K-----\n"
    let found = try blocks(text)
    #expect(found.map(\.hasHeaders) == [true] && found[0].content.byteCount == 0)
  }

  @Test(
    "what is not base64 between two lines of one label is refused",
    arguments: [
      "-----BEGIN K-----\nAAAA\n", "-----BEGIN K-----\nAAAA\n-----END L-----\n",
      "-----BEGIN K-----\nAAA\n-----END K-----",
      "-----BEGIN K-----\nA===\n-----END K-----", "-----BEGIN K-----\nAA==AAAA\n-----END K-----",
      "-----BEGIN K-----\nAAB=\n-----END K-----", "-----BEGIN K-----\nAA-A\n-----END K-----",
      "-----BEGIN K-----\n-----BEGIN K-----\n-----END K-----",
    ])
  func refused(text: String) {
    #expect(throws: TextError.self) { try blocks(text) }
  }

  @Test(
    "a text without a block has none",
    arguments: ["", "-----BEGIN -----\n", "-----BEGIN K----\n", "BEGIN K", "\n\n"])
  func none(text: String) throws {
    #expect(try blocks(text).isEmpty)
  }

  @Test("base64 of public bytes has padding")
  func base64() { expect(Base64.text([0xfb, 0xff, 0xfe, 0x00]), equals: "+//+AA==") }
}
