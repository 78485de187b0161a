import Foundation
import TestSupport

extension Torture {
  /// A marker that exists nowhere before it is made.
  struct Canary {
    let bytes: [UInt8]
    /// What a text canary says.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(_ text: String = "canary" + Self.letters(20)) { self.init(bytes: Array(text.utf8)) }

    init(bytes: [UInt8]) {
      self.bytes = bytes
      forms = Self.forms(of: bytes)
    }

    /// So many letters, of which nothing else has copies.
    static func letters(_ count: Int, of alphabet: String = "abcdefghijkmnpqrstuvwxyz23456789") -> String {
      let all = Array(alphabet)
      return String(freshBytes(count).map { all[Int($0) % all.count] })
    }

    /// The forms in which it stands in some bytes.
    func forms(in bytes: Data) -> [String] {
      forms.filter { bytes.holds($0.bytes) }.map(\.name)
    }

    private let forms: [(name: String, bytes: [UInt8])]

    /// Without the ends that depend on what stands beside it.
    private static func forms(of raw: [UInt8]) -> [(name: String, bytes: [UInt8])] {
      let hex = raw.map { String(format: "%02x", $0) }.joined()
      return [
        ("raw", raw), ("hex", Array(hex.utf8)), ("HEX", Array(hex.uppercased().utf8)),
        ("base64", Array(Data(raw.prefix(min(24, raw.count / 3 * 3))).base64EncodedString().utf8)),
        ("base32", base32(Array(raw.prefix(min(25, raw.count / 5 * 5))))),
        ("UTF-16 LE", raw.flatMap { [$0, 0] }), ("UTF-16 BE", raw.flatMap { [0, $0] }),
      ]
    }

    private static func base32(_ bytes: [UInt8]) -> [UInt8] {
      let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
      let bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
      return stride(from: 0, to: bits.count, by: 5).map { start in
        letters[Int(bits[start..<start + 5].reduce(0) { $0 << 1 | $1 })]
      }
    }
  }
}
