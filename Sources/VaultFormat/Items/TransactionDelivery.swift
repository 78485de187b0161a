/// Whether the server of a transaction has its decision: attribute 93 (section 6). Absent, it has, or there is none.
package enum TransactionDelivery: Int64, Sendable {
  /// It does not have it yet.
  case untold = 1
  /// It refused it.
  case refused = 2
}

/// Why the text of a transaction must not be shown: attribute 94 (section 6).
package enum HiddenText: Int64, Sendable {
  /// A character of it would not show as itself.
  case hasHiddenCharacter = 1
  /// It came with more than 4,096 bytes.
  case isTooLong = 2
}

extension Attributes {
  /// Of a transaction.
  package var delivery: TransactionDelivery? {
    get { self[.delivery].flatMap(TransactionDelivery.init) }
    set { self[.delivery] = newValue?.rawValue }
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
