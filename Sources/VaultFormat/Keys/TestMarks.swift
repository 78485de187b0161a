/// Why a vault of a test protects nothing (section 5, header field 17).
package struct TestMarks: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Keys may come from a derivation that costs less than any real one.
  package static let cheapDerivation = TestMarks(rawValue: 1)
  /// Keys may come from random bytes that another program can draw too.
  package static let predictableRandom = TestMarks(rawValue: 2)

  /// The marks that the field holds; `nil` if it is malformed: a field without a mark is absent.
  init?(field: [UInt8]) {
    guard field.count == 1, 1...3 ~= field[0] else { return nil }
    self.init(rawValue: field[0])
  }

  /// The marks for a person who reads an error.
  package var words: String {
    var reasons: [String] = []
    if contains(.cheapDerivation) { reasons.append("a cheap key derivation") }
    if contains(.predictableRandom) { reasons.append("predictable random numbers") }
    return reasons.joined(separator: " and ")
  }
}
