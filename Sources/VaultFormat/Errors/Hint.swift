/// What to do next after a failure, as a value: one sentence without a final period, and the action that it advises.
///
/// A hint that names only the vault and its system is a string literal. If a program has its own command for the
/// advice, the hint has an ``Action``. Then the program can word the hint for its users. A sentence of the library
/// never names a program, a command or an option.
public struct Hint: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The advised action, if a program can have a command for it; `nil` if the sentence says everything.
  public let action: Action?
  /// The object of the action, such as a path, if the sentence names it.
  public let subject: String?
  /// The hint in the words of the library.
  public let sentence: String

  /// A hint that is only a sentence.
  public init(stringLiteral sentence: String) { self.init(sentence) }

  /// A hint that is only a sentence.
  package init(_ sentence: String) { (action, subject, self.sentence) = (nil, nil, sentence) }

  /// A hint that programs word themselves.
  package init(_ action: Action, subject: String? = nil, saying sentence: String) {
    (self.action, self.subject, self.sentence) = (action, subject, sentence)
  }
}

/// Hints that several places give.
extension Hint {
  package static let verifyAndRestore = Hint(
    .verifyAndRestore, saying: "verify the vault and restore it from a backup")
  package static let useAnotherBackup: Hint = "use another backup"
  package static let rotateEpoch = Hint(.rotateEpoch, saying: "rotate the epoch")
  package static let useNewerVersion = Hint(
    .useNewerVersion, saying: "open it with the version of the program that made it")
  package static let setPasscodeFirst = Hint(.setPasscodeFirst, saying: "set a passcode first")
  package static let makeRecoveryCode = Hint(.makeRecoveryCode, saying: "make a recovery code")
  package static let nameRightKey = Hint(
    .nameRightKey, saying: "name the right device key, or use the recovery code")
  package static let nameOtherKeyPlace = Hint(
    .nameOtherKeyPlace, saying: "name another place for the device key")
}
