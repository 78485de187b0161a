/// What a program that asks PAM and `vault-pam`, the helper in which PAM's modules run, say to each other.
///
/// They are the two ends of a pair of SOCK_SEQPACKET sockets; the helper gets its end as descriptors 0 and 1. A message is one
/// packet of at most ``longest`` bytes, and its first byte is its type:
///
/// | type | from | the rest |
/// |---|---|---|
/// | `R` request | program | version 1 (u8), nonce (16 bytes), byte count of the service (u8), service, user (UTF-8) |
/// | `Q` question | helper | the words of a module, at most ``longestText`` bytes |
/// | `A` answer | program | what the person typed: at most ``longestAnswer`` bytes, no NUL |
/// | `E` error, `T` text | helper | the words of a module, which has no answer to wait for |
/// | `V` verdict | helper | the nonce of the request, step (u8, ``PAMVerdict/Step``), PAM's result (i32, little-endian) |
///
/// The order: one request; then texts, errors, and questions, of which each waits for its answer; then one verdict, and the
/// end of the connection. Everything else is a fault, and a fault is a denial. Success is a verdict of step 0 and result 0
/// that repeats the nonce, with nothing behind it: no exit status, and nothing that a module prints, can look like it.
package enum PAMMessages {
  /// The most bytes of one message.
  package static let longest = 4224
  /// The most bytes of a module's words; what is longer is cut.
  package static let longestText = 4096
  /// The most bytes that PAM takes as an answer.
  package static let longestAnswer = 511

  static let version: UInt8 = 1
  static let answer = UInt8(ascii: "A")
}

/// 16 random bytes that tell one request from all others.
package struct PAMNonce: Equatable, Sendable {
  fileprivate let bytes: [UInt8]

  package static func random() -> PAMNonce {
    var generator = SystemRandomNumberGenerator()
    return PAMNonce(bytes: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }
}

/// What is asked of PAM.
package struct PAMRequest: Sendable {
  package let nonce: PAMNonce
  package let service: String
  package let user: String

  /// - Precondition: `service` has at most 255 bytes.
  package init(_ nonce: PAMNonce, service: String, user: String) {
    (self.nonce, self.service, self.user) = (nonce, service, user)
  }

  package var bytes: [UInt8] {
    [UInt8(ascii: "R"), PAMMessages.version] + nonce.bytes + [UInt8(service.utf8.count)] + service.utf8
      + user.utf8
  }

  /// nil for bytes that are no request of this version.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count > 19, bytes[0] == UInt8(ascii: "R"), bytes[1] == PAMMessages.version else { return nil }
    let end = 19 + Int(bytes[18])
    guard end > 19, bytes.count > end, !bytes[19...].contains(0) else { return nil }
    self.init(
      PAMNonce(bytes: Array(bytes[2..<18])), service: String(decoding: bytes[19..<end], as: UTF8.self),
      user: String(decoding: bytes[end...], as: UTF8.self))
  }
}

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

  package init(_ nonce: PAMNonce, _ step: Step, result: Int32) {
    (self.nonce, self.step, self.result) = (nonce, step, result)
  }

  package var bytes: [UInt8] {
    let number = UInt32(bitPattern: result)
    return [Self.type] + nonce.bytes + [step.rawValue]
      + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  fileprivate static let type = UInt8(ascii: "V")

  fileprivate init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == 21, let step = Step(rawValue: bytes[bytes.startIndex + 16]) else { return nil }
    let number = bytes.suffix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    self.init(PAMNonce(bytes: Array(bytes.prefix(16))), step, result: Int32(bitPattern: number))
    guard (step == .success) == (result == 0) || step == .otherUser || step == .conversation else {
      return nil
    }
  }
}

/// What the helper says.
package enum PAMReport: Sendable {
  case question(String)
  case error(String)
  case text(String)
  case verdict(PAMVerdict)

  /// The words of a module as a message, cut where they are too long; they need not be UTF-8.
  package static func bytes(ofKind kind: Kind, words: UnsafeRawBufferPointer) -> [UInt8] {
    unsafe [kind.rawValue] + words.prefix(PAMMessages.longestText)
  }

  /// What a module does with its words.
  package enum Kind: UInt8, Sendable {
    case question = 0x51
    case error = 0x45
    case text = 0x54
  }

  /// nil for bytes that are none of these.
  package init?(_ bytes: [UInt8]) {
    let rest = bytes.dropFirst()
    guard let first = bytes.first else { return nil }
    let words = String(decoding: rest, as: UTF8.self)
    switch Kind(rawValue: first) {
    case .question: self = .question(words)
    case .error: self = .error(words)
    case .text: self = .text(words)
    case nil:
      guard first == PAMVerdict.type, let verdict = PAMVerdict(rest) else { return nil }
      self = .verdict(verdict)
    }
  }
}
