package import SecretMemory

/// What a person can type as a secret: a passcode, a passphrase, a phrase, an application password.
///
/// 1. It has 1 to 1,024 bytes.
/// 2. It has no NUL byte.
/// 3. It neither begins nor ends with a blank. No keyboard shows such a blank, and many programs drop or add one.
/// 4. If it is text (UTF-8), it has no control characters and no line or paragraph separators, so it is one line, and it does not
///    begin with a byte order mark: a file can have two, and nobody sees them.
/// 5. Text is prepared (``TextPreparation/opaque(_:)``). Where the bytes that were given are others, both are tried as one attempt,
///    because a secret may have been set by a program that prepares nothing. Bytes that are no text are taken as they are.
/// 6. An empty answer is not a secret. The question says what an empty answer does; most often it cancels.
///
/// A prompt stops reading at ``longest`` bytes. The vault checks the rules again, because secrets also come from
/// files, descriptors and other programs.
package struct TypedSecret: ~Copyable, Sendable {
  /// The bytes that were given.
  package let given: SharedSecret
  /// The prepared form, from which a new key is made.
  package let prepared: SharedSecret

  /// - Throws: The first rule that the bytes break.
  package init(_ bytes: consuming SecretBytes) throws(Fault) {
    let given = SharedSecret(bytes)
    if let fault = given.bytes.sizeFault { throw fault }
    let prepared = try Self.prepared(given)
    if let fault = prepared.bytes.sizeFault ?? prepared.bytes.formFault { throw fault }
    (self.given, self.prepared) = (given, prepared)
  }

  private static func prepared(_ text: SharedSecret) throws(Fault) -> SharedSecret {
    do throws(TextPreparationError) {
      guard let changed = try TextPreparation.opaque(text.bytes) else { return text }
      return SharedSecret(changed)
    } catch { throw .libraryMissing }
  }

  /// Whether the bytes that were given are another form.
  package var wasPrepared: Bool { given !== prepared }

  /// The most bytes.
  package static var longest: Int { 1024 }

  /// Which rule a secret breaks.
  package enum Fault: Error {
    case empty
    case tooLong
    case containsNUL
    case severalLines
    case control
    case blankAtEnd
    case blankAtStart
    case markAtStart
    /// The text cannot be prepared.
    case libraryMissing

    /// What is wrong, for a person.
    ///
    /// - Parameter secret: What the secret is called: "the passcode".
    package func message(_ secret: String) -> String {
      switch self {
      case .empty: "\(secret) is empty"
      case .tooLong: "\(secret) is too long, at most \(TypedSecret.longest) bytes are allowed"
      case .containsNUL: "\(secret) has a NUL byte"
      case .severalLines: "\(secret) has several lines"
      case .control: "\(secret) has a control character"
      case .blankAtEnd: "\(secret) ends with a blank"
      case .blankAtStart: "\(secret) begins with a blank"
      case .markAtStart: "\(secret) begins with a byte order mark"
      case .libraryMissing: "\(secret) has characters that need libunistring, which is not installed"
      }
    }

    /// What to do, where the message does not say it.
    package var hint: String? {
      switch self {
      case .empty, .tooLong, .containsNUL: nil
      case .severalLines: "give one line; nothing was tried"
      case .control, .blankAtEnd, .blankAtStart, .markAtStart: "give it without; nothing was tried"
      case .libraryMissing: "install the package libunistring2"
      }
    }
  }
}

extension SecretBytes {
  fileprivate var sizeFault: TypedSecret.Fault? {
    if byteCount == 0 { return .empty }
    if byteCount > TypedSecret.longest { return .tooLong }
    return containsNUL ? .containsNUL : nil
  }

  /// - Precondition: There is a byte.
  fileprivate var formFault: TypedSecret.Fault? {
    expose { bytes in
      let all = 0..<bytes.byteCount
      let hasLineEnd = all.contains { bytes.byte(at: $0) == 0x0A || bytes.byte(at: $0) == 0x0D }
      if hasLineEnd { return .severalLines }
      if bytes.isBlank(at: all.upperBound - 1) { return .blankAtEnd }
      if bytes.isBlank(at: 0) { return .blankAtStart }
      return bytes.characterFault
    }
  }

  /// Whether one of the bytes is 0.
  package var containsNUL: Bool {
    expose { bytes in (0..<bytes.byteCount).contains { bytes.byte(at: $0) == 0 } }
  }
}

extension RawSpan {
  /// What text has that no secret has: a control character (category Cc), a separator of lines or paragraphs (Zl, Zp), or a
  /// byte order mark at its beginning.
  fileprivate var characterFault: TypedSecret.Fault? {
    var characters = UTF8Characters()
    var fault: TypedSecret.Fault?
    var isFirst = true
    while let character = characters.next(in: self) {
      switch character {
      case 0x00..<0x20, 0x7F...0x9F: fault = fault ?? .control
      case 0x2028, 0x2029: fault = fault ?? .severalLines
      case 0xFEFF where isFirst: fault = .markAtStart
      default: break
      }
      isFirst = false
    }
    return characters.isMalformed ? nil : fault
  }
}
