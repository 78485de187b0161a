public import VaultFormat

/// How many digits a PIN has.
public struct PINPolicy: Sendable, Equatable {
  /// The fewest and the most ASCII digits, within 1...16.
  public let lengths: ClosedRange<Int>

  /// 4 to 6 digits.
  public static let standard = PINPolicy(unchecked: 4...6)

  /// A policy of another length, such as that of a PSKC PINPolicy (RFC 6030 §4.3.4).
  ///
  /// - Throws: ``VaultError/Code/malformed`` for lengths outside of 1...16.
  public init(lengths: ClosedRange<Int>) throws(VaultError) {
    guard lengths.lowerBound >= 1, lengths.upperBound <= 16 else {
      throw VaultError(.malformed, "a PIN has 1 to 16 digits")
    }
    self.init(unchecked: lengths)
  }

  private init(unchecked lengths: ClosedRange<Int>) { self.lengths = lengths }

  /// "4 to 6 digits"
  var words: String {
    lengths.count == 1
      ? "\(lengths.lowerBound) digits" : "\(lengths.lowerBound) to \(lengths.upperBound) digits"
  }
}
