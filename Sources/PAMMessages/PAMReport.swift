/// A message of the helper.
package enum PAMReport: Sendable {
  case question(String)
  case error(String)
  case text(String)
  case verdict(PAMVerdict)
  /// No helper was started, because too many run.
  case busy

  /// The text of a module as a message, cut where it is too long. It need not be UTF-8.
  package static func bytes(ofKind kind: Kind, words: UnsafeRawBufferPointer) -> [UInt8] {
    unsafe [kind.rawValue] + words.prefix(PAMMessages.longestText)
  }

  /// What a module wants with its text.
  package enum Kind: UInt8, Sendable {
    case question = 0x51
    case error = 0x45
    case text = 0x54
  }

  /// ``busy`` as a message.
  package static let busyBytes: [UInt8] = [0x42]

  /// nil for bytes that are none of these messages.
  package init?(_ bytes: [UInt8]) {
    let rest = bytes.dropFirst()
    guard let first = bytes.first else { return nil }
    let words = String(decoding: rest, as: UTF8.self)
    switch Kind(rawValue: first) {
    case .question: self = .question(words)
    case .error: self = .error(words)
    case .text: self = .text(words)
    case nil where bytes == Self.busyBytes: self = .busy
    case nil:
      guard first == PAMVerdict.type, let verdict = PAMVerdict(rest) else { return nil }
      self = .verdict(verdict)
    }
  }
}
