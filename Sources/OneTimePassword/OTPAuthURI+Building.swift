public import SecretMemory

extension OTPAuthURI {
  /// The URI, ASCII, with every parameter named; reading it gives this value again.
  ///
  /// Steam codes are written as the `totp` URI with `encoder=steam` that other authenticators read.
  public func text() -> SecretBytes {
    let encodedSecret = Base32.encode(secret)
    return encodedSecret.expose { secretText in
      SecretBytes(capacity: Self.maximumByteCount) { output in
        output.append("otpauth://\(typeWord)/")
        writeLabel(into: &output)
        output.append("?secret=")
        for offset in 0..<secretText.byteCount { output.append(secretText.byte(at: offset)) }
        writeParameters(into: &output)
      }
    }
  }

  private var typeWord: String {
    if case .hotp = kind { "hotp" } else { "totp" }
  }

  /// Readers split a label at its first colon, some of them also at `%3A`. So an issuer with a colon is in the parameter
  /// only, as long as the account has none. An account with a colon always has a plain colon before it.
  private func writeLabel(into output: inout OutputRawSpan) {
    let isAccountSplit = account.utf8.contains(UInt8(ascii: ":"))
    if let issuer, isAccountSplit || !issuer.utf8.contains(UInt8(ascii: ":")) {
      PercentCoding.encode(issuer, into: &output)
      output.append(":")
    } else if isAccountSplit {
      output.append(":")
    }
    PercentCoding.encode(account, into: &output)
  }

  private func writeParameters(into output: inout OutputRawSpan) {
    if let issuer {
      output.append("&issuer=")
      PercentCoding.encode(issuer, into: &output)
    }
    output.append("&algorithm=\(algorithm.rawValue)&digits=\(format.length)")
    switch kind {
    case .hotp(let counter): output.append("&counter=\(counter)")
    case .totp(let periodSeconds): output.append("&period=\(periodSeconds)")
    case .steam: output.append("&period=30&encoder=steam")
    }
  }
}

extension OutputRawSpan {
  /// Appends the UTF-8 of a text that is not secret.
  fileprivate mutating func append(_ text: String) {
    for byte in text.utf8 { append(byte) }
  }
}
