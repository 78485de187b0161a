/// A sum modulo 2^256 of 32-byte values, big endian: the head row's S.
package struct Sum256: Sendable, Equatable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)  // least significant first

  package init() {}

  /// From 32 bytes.
  package init(_ bytes: RawSpan) {
    words = (bytes.word(at: 24), bytes.word(at: 16), bytes.word(at: 8), bytes.word(at: 0))
  }

  package func append(to output: inout OutputRawSpan) {
    output.append(bigEndian: words.3)
    output.append(bigEndian: words.2)
    output.append(bigEndian: words.1)
    output.append(bigEndian: words.0)
  }

  package static func += (sum: inout Sum256, value: Sum256) {
    var carry: UInt64 = 0
    sum.words.0 = add(sum.words.0, value.words.0, &carry)
    sum.words.1 = add(sum.words.1, value.words.1, &carry)
    sum.words.2 = add(sum.words.2, value.words.2, &carry)
    sum.words.3 = add(sum.words.3, value.words.3, &carry)
  }

  package static func -= (sum: inout Sum256, value: Sum256) {
    var one = Sum256()
    one.words.0 = 1
    var negative = Sum256()
    negative.words = (~value.words.0, ~value.words.1, ~value.words.2, ~value.words.3)
    negative += one
    sum += negative
  }

  package static func == (a: Sum256, b: Sum256) -> Bool { a.words == b.words }

  private static func add(_ a: UInt64, _ b: UInt64, _ carry: inout UInt64) -> UInt64 {
    let (first, over1) = a.addingReportingOverflow(b)
    let (second, over2) = first.addingReportingOverflow(carry)
    carry = (over1 ? 1 : 0) + (over2 ? 1 : 0)
    return second
  }
}
