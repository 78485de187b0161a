public import VaultKit

/// A transaction with what the person decides about.
public struct TransactionDetails: Sendable, Identifiable {
  /// The transaction.
  public let transaction: PeerTransaction
  /// What the server wants.
  public let action: TransactionAction
  /// The text that the person must see whole before the answer, and that is signed; `nil` if there is none, and if it must not
  /// be shown.
  public let context: ShownText?
  /// Why the text must not be shown, in words that continue "the text"; `nil` otherwise. Such a transaction can be rejected, and
  /// not accepted.
  public let whyTextIsHidden: String?
  /// What may accept it, as the server says.
  public let offered: [TransactionFactor]
  /// What of this the device has: of one there is no choice, of several the person chooses. Empty if the transaction cannot be
  /// accepted here.
  public let choices: [TransactionFactor]
  /// What the item has stored.
  let record: TransactionRecord

  /// The item that stores it.
  public var id: ItemID { transaction.id }
}

/// What a server wants of a person. A word of a later version is refused when the transaction comes in.
@nonexhaustive
public enum TransactionAction: String, Sendable, Hashable, CaseIterable {
  /// To confirm its text.
  case authenticate
  /// To activate a credential: with a code, not by accepting the transaction.
  case activate

  var number: UInt8 { self == .authenticate ? 1 : 2 }
}

/// What accepts a transaction.
@nonexhaustive
public enum TransactionFactor: String, Sendable, Hashable, CaseIterable {
  /// The device credential: the person confirms the text, and types nothing.
  case device
  /// The biokey of the PIN.
  case biometry
  /// The PIN.
  case pin

  var bit: UInt8 {
    switch self {
    case .device: 1
    case .biometry: 2
    case .pin: 4
    }
  }

  static func factors(in bits: UInt8) -> [TransactionFactor] { allCases.filter { bits & $0.bit != 0 } }
}

/// How a transaction ended.
public struct TransactionDecision: Sendable {
  /// The transaction, with its final status.
  public let transaction: PeerTransaction
  /// What accepted it; `nil` if it was not accepted. The PIN, if it came in place of a biokey.
  public let factor: TransactionFactor?
  /// What the program should tell the person.
  public let notices: [OTPResult.Notice]
}
