import OneTimePassword
import VaultKit

/// A code that a peer is told.
struct CodeForPeer {
  let code: String
  /// `nil` for a credential without a counter.
  let counter: UInt64?
  var notices: [OTPResult.Notice] = []

  /// The members of a request.
  func write(to fields: inout TransportFields) {
    fields["code"] = .text(code)
    if let counter { fields["counter"] = .number(counter) }
  }
}

extension OTPResult {
  /// The counter of a HOTP code.
  var counter: UInt64? { if case .counter(let counter) = factor { counter } else { nil } }
}
