/// What PAM found.
package struct PAMVerdict: Sendable {
  /// Where it ended.
  package enum Step: UInt8, Sendable {
    /// Both steps succeeded, for the user of the request, and so did the conversation.
    case success
    /// The service cannot be started.
    case start
    /// `pam_authenticate`.
    case authenticate
    /// `pam_acct_mgmt`.
    case account
    /// The modules speak of another user.
    case otherUser
    /// A fault of the conversation, whatever the modules made of it.
    case conversation
  }

  package let nonce: PAMNonce
  package let step: Step
  /// The result of that step, of Linux-PAM; negative where libpam was not asked.
  package let result: Int32

  package init(_ nonce: PAMNonce, step: Step, result: Int32) {
    (self.nonce, self.step, self.result) = (nonce, step, result)
  }

  package var bytes: [UInt8] {
    let number = UInt32(bitPattern: result)
    return [Self.type] + nonce.bytes + [step.rawValue]
      + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  static let type = UInt8(ascii: "V")

  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == 21, let step = Step(rawValue: bytes[bytes.startIndex + 16]) else { return nil }
    let number = bytes.suffix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    self.init(PAMNonce(bytes: Array(bytes.prefix(16))), step: step, result: Int32(bitPattern: number))
    guard (step == .success) == (result == 0) || step == .otherUser || step == .conversation else {
      return nil
    }
  }
}
