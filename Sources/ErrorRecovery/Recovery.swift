/// What a program can do after an error.
///
/// The room has one idea: every public error says the same four things. ``RecoverableFailure`` names them: a code for
/// the program, a message for a person, the cause below, and the way to recover. `OTPError` and `VaultError` conform.
@nonexhaustive
public enum Recovery: Sendable, Hashable {
  /// The same call can succeed when the condition holds. Nothing about the call has to change.
  case retryable(RetryCondition)
  /// The same call fails again. The operation starts over: with other input, with a person who decides otherwise, or in
  /// another state of its item.
  case startOver
  /// The program alone cannot recover. The action is one sentence for a person, without a final period.
  case nonRecoverable(action: String)

  /// The word of the case, as JSON has it: `retryable`, `startOver` or `nonRecoverable`.
  public var word: String {
    switch self {
    case .retryable: "retryable"
    case .startOver: "startOver"
    case .nonRecoverable: "nonRecoverable"
    }
  }

  /// What the call waits for; `nil` if it must not be repeated.
  public var condition: RetryCondition? {
    if case .retryable(let condition) = self { condition } else { nil }
  }
}

/// When the same call can succeed.
@nonexhaustive
public enum RetryCondition: Sendable, Hashable {
  /// After this time. Zero: at any time, because what prevented the call was of the moment.
  case after(Duration)
  /// When what is locked is unlocked: the vault by its passcode, or the collection of the Secret Service that has the
  /// device key.
  case whenUnlocked
  /// When the server or the network can be reached.
  case whenOnline
  /// When the credential is synchronized with its server.
  case whenSynchronized
  /// When a person can be asked: in a call that takes a context, with a prompt, or when the person is back.
  case whenSomebodyIsThere

  /// The word of the case, as JSON has it: `after`, `whenUnlocked` and so on.
  public var word: String {
    switch self {
    case .after: "after"
    case .whenUnlocked: "whenUnlocked"
    case .whenOnline: "whenOnline"
    case .whenSynchronized: "whenSynchronized"
    case .whenSomebodyIsThere: "whenSomebodyIsThere"
    }
  }
}

/// What every public error of these libraries says. None of it contains a secret or a part of one.
public protocol RecoverableFailure: Error, Sendable {
  /// An open set of kinds of failure; the raw value is the word used in JSON.
  associatedtype Code: RawRepresentable<String>, Hashable, Sendable

  /// The kind of failure.
  var code: Code { get }
  /// What went wrong: one line for a person, without a final period.
  var message: String { get }
  /// What is behind the failure, where that is known: the code of a C library or of the kernel, or the part of the
  /// input that is wrong.
  var cause: String? { get }
  /// What the program can do.
  var recovery: Recovery { get }
}
