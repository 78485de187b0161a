/// A sum modulo 2^256 of 32-byte values, big endian: the head row's S.
struct Sum256: Sendable, Equatable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)  // least significant first

  init() {}

  init(bytes: [UInt8]) {
    words = (
      bytes.bigEndian(at: 24), bytes.bigEndian(at: 16), bytes.bigEndian(at: 8), bytes.bigEndian(at: 0)
    )
  }

  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    bytes.setBigEndian(words.3, at: 0)
    bytes.setBigEndian(words.2, at: 8)
    bytes.setBigEndian(words.1, at: 16)
    bytes.setBigEndian(words.0, at: 24)
    return bytes
  }

  static func += (sum: inout Sum256, value: Sum256) {
    var carry: UInt64 = 0
    sum.words.0 = add(sum.words.0, value.words.0, &carry)
    sum.words.1 = add(sum.words.1, value.words.1, &carry)
    sum.words.2 = add(sum.words.2, value.words.2, &carry)
    sum.words.3 = add(sum.words.3, value.words.3, &carry)
  }

  static func -= (sum: inout Sum256, value: Sum256) {
    var one = Sum256()
    one.words.0 = 1
    var negative = Sum256()
    negative.words = (~value.words.0, ~value.words.1, ~value.words.2, ~value.words.3)
    negative += one
    sum += negative
  }

  static func == (a: Sum256, b: Sum256) -> Bool { a.words == b.words }

  private static func add(_ a: UInt64, _ b: UInt64, _ carry: inout UInt64) -> UInt64 {
    let (first, over1) = a.addingReportingOverflow(b)
    let (second, over2) = first.addingReportingOverflow(carry)
    carry = (over1 ? 1 : 0) + (over2 ? 1 : 0)
    return second
  }
}
