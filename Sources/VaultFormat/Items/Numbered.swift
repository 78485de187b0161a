/// An enum that is stored as a number: its cases have the numbers from ``firstNumber`` on, in their order. A new case comes last.
package protocol Numbered: CaseIterable, Equatable where AllCases == [Self] {
  static var firstNumber: UInt8 { get }
}

extension Numbered {
  /// `nil` for a number of a later version.
  package init?(number: UInt8) {
    let cases = Self.allCases
    guard number >= Self.firstNumber, case let index = Int(number - Self.firstNumber), index < cases.count
    else {
      return nil
    }
    self = cases[index]
  }

  package var number: UInt8 {
    let before = Self.allCases.prefix { $0 != self }
    return Self.firstNumber + UInt8(before.count)
  }
}
