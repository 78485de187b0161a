import AuthenticatorKit
import CommandLineKit
import VaultKit
import VaultWords

/// The options of verbs whose code a server can get at once.
enum OnlineOptions {
  static let online = Flag(
    "online", "Give the code to the server, and print it once the server has accepted it.")
  static let all: [any OptionKey] = [online, TransportOptions.program]

  static let note =
    "With --online, the server of the credential is told that a code comes, and gets it: --transport names the program that "
    + "takes requests to it. A code that the server refuses is not printed (3), and one that comes too late is not either (7). If "
    + "the two sides are out of step afterwards, the code is printed, and the exit code is 17."

  /// The failure that is told besides what the server did.
  static func failure(
    _ notices: [OTPResult.Notice], done: String = "accepted the code"
  ) -> CommandError? {
    guard notices.contains(.synchronizationFailed) else { return nil }
    return CommandError(
      .outOfStep, "the server \(done), but the two sides are out of step",
      hint: "synchronize the credential with 'vaultctl otp sync'")
  }
}

extension Command {
  /// The transport of a verb with `--online`; `nil` without this option.
  ///
  /// - Parameter offline: Options that choose another code than that of now.
  /// - Throws: exit 2 for options that contradict each other.
  func onlineTransport(refusing offline: [any OptionKey]) throws -> (any Transport)? {
    guard self[OnlineOptions.online] else {
      guard !has(TransportOptions.program) else { throw CommandError.usage("--transport needs --online") }
      return nil
    }
    for option in offline where has(option) {
      throw CommandError.usage(
        "\(option.shown) and --online contradict each other: the server waits for the code of now")
    }
    return try neededTransport()
  }

  /// The context of a use that a server waits for. Unlocks the vault first: a wrong passcode then costs no request.
  func unlockedContext(for item: Item) throws -> AuthenticationContext {
    let core = try vault.opened()
    if core.hasPasscode, item.access.accessibility != .afterFirstUnlock { try vault.unlock(core) }
    return try vault.pinContext()
  }

  /// Whether the codes of a credential are for questions.
  func hasSuite(_ item: Item) throws -> Bool {
    do {
      _ = try vault.opened().describeOCRA(of: item.id)
      return true
    } catch let error as VaultError where error.code == .policy { return false }
  }
}
