import OneTimePassword
import SecretMemory

extension FuzzedText {
  /// A URI is refused, or written and read again as the same.
  static func faultOfURI(_ input: [UInt8], allowingWeak: Bool) -> String? {
    do throws(OTPError) {
      let uri = try OTPAuthURI(parsing: SecretBytes(copying: input), allowingWeak: allowingWeak)
      return faultOfWriting(uri, allowingWeak: allowingWeak)
    } catch {
      guard case .unknownParameter(let name?, let count)? = error.fault else { return nil }
      return name.utf8.count == count && name.contains(where: \.isLowercase) ? nil : "shown: \(count)"
    }
  }

  private static func faultOfWriting(_ uri: borrowing OTPAuthURI, allowingWeak: Bool) -> String? {
    if uri.format.isWeak || uri.secret.byteCount < OTPAuthURI.minimumSecretByteCount, !allowingWeak {
      return "weak"
    }
    if let steps = uri.steps, steps.periodSeconds < 1 { return "a period of \(steps.periodSeconds)" }
    let text = uri.text()
    guard text.byteCount <= OTPAuthURI.maximumByteCount else { return "too long" }
    do throws(OTPError) {
      let again = try OTPAuthURI(parsing: text, allowingWeak: allowingWeak)
      guard again.kind == uri.kind, again.algorithm == uri.algorithm, again.format == uri.format else {
        return "other codes"
      }
      guard again.issuer == uri.issuer, again.account == uri.account else { return "other names" }
      guard again.secret.isEqualInConstantTime(to: uri.secret) else { return "another secret" }
      return again.text().isEqualInConstantTime(to: text) ? nil : "another text"
    } catch { return "what was written is refused: \(error)" }
  }

  /// A suite is refused at a place inside of it, or has codes of its length.
  static func faultOfSuite(_ text: String) -> String? {
    let suite: OCRASuite
    do throws(OTPError) {
      suite = try OCRASuite(text)
    } catch {
      guard error.code == .invalidSuite, error.part != nil, let position = error.position else {
        return "\(error)"
      }
      return (0...text.utf8.count).contains(position) ? nil : "position \(position)"
    }
    guard suite.description == text, text.utf8.allSatisfy({ (0x2D...0x5A).contains($0) }) else {
      return "text"
    }
    guard (4...64).contains(suite.questionLength), (1...512).contains(suite.sessionByteCount ?? 1),
      (0...172_800).contains(suite.timeStepSeconds ?? 0)
    else { return "a value out of range" }
    do throws(OTPError) {
      var input = OCRADataInput(question: try OCRAQuestion("1", for: suite))
      if suite.hasCounter { input.counter = 7 }
      if let hash = suite.pinHash {
        input.pinHash = try OCRAPINHash(of: SecretBytes(copying: [0x31]), algorithm: hash)
      }
      input.session = suite.sessionByteCount.map { [UInt8](repeating: 1, count: $0) }
      input.timeStep = suite.timeStepSeconds.map(UInt64.init)
      let code = try OCRAGenerator(key: SecretBytes(copying: [1, 2, 3]), suite: suite).code(for: input)
      return code.utf8.count == suite.codeLength ? nil : "a code of \(code.utf8.count) characters"
    } catch { return "\(error)" }
  }
}
