package import VaultKit

/// Whether the server of a transaction has the person's decision.
@nonexhaustive
public enum TransactionDelivery: String, Sendable, CaseIterable {
  /// It took it.
  case told
  /// It does not have it yet: it is told at the next contact.
  case untold
  /// It refused it. Ask there what became of the transaction.
  case refused
}

/// Attribute 93 (section 6). It is absent for ``told``, and where there is no decision.
extension TransactionDelivery: Numbered { package static let firstNumber: UInt8 = 0 }

/// Why the text of a transaction must not be shown: attribute 94 (section 6).
package enum HiddenText: Int64, Sendable {
  /// A character of it would not show as itself.
  case hasHiddenCharacter = 1
  /// It came with more than 4,096 bytes.
  case isTooLong = 2
}

extension Attributes {
  /// Of a transaction.
  package var delivery: TransactionDelivery {
    get { self[.delivery].flatMap { UInt8(exactly: $0) }.flatMap(TransactionDelivery.init(number:)) ?? .told }
    set { self[.delivery] = newValue == .told ? nil : Int64(newValue.number) }
  }

  /// Of a transaction; `nil` where a person can see the text whole.
  package var hiddenText: HiddenText? {
    get { self[.hiddenText].flatMap(HiddenText.init) }
    set { self[.hiddenText] = newValue?.rawValue }
  }
}

extension Attribute where Value == Int64 {
  fileprivate static var delivery: Self { Self(code: 93) }
  fileprivate static var hiddenText: Self { Self(code: 94) }
}
