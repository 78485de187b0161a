/// What to do next after a failure, as a value: one sentence without a final full stop, and the action that it advises.
///
/// A sentence that names nothing but the vault and its system is a string literal. Where a program has a command of its
/// own for what is advised, the hint carries an ``Action``. The program can then word the hint for its users; a sentence
/// of the library never names a program, a command or an option.
public struct Hint: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// What is advised, where a program can have a command for it; `nil` where the sentence says all.
  public let action: Action?
  /// What the action is done to, such as a path, where the sentence names it.
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

/// What several places advise.
extension Hint {
  package static let verifyAndRestore = Hint(
    .verifyAndRestore, saying: "verify the vault and restore it from a backup")
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
