import Glibc
import SecretMemory
import VaultKit
import VaultPrompts
import CommandLineKit

extension Command {
  /// Whether a person is present to whom the command can offer something that its arguments do not ask for.
  var mayOffer: Bool {
    guard let path = try? world.localHost().terminalPath else { return false }
    return !isJSON && invocation.mayPrompt && invocation.asking != .pinentry
      && isatty(world.standardInput) == 1 && Terminal.obstacle(at: path) == nil
  }

  /// Offers a recovery code, and makes one when the person agrees.
  ///
  /// - Returns: Whether one was made.
  func offerRecoveryCode(to core: VaultCore) throws -> Bool {
    var request = PromptRequest(
      .confirmation,
      operation: "a recovery code opens the vault when the device key is lost; it is written on paper")
    request.question = "make a recovery code now"
    guard try TerminalPrompt(path: world.localHost().terminalPath).confirm(request) else { return false }
    try NewRecoveryCode(command: self, target: .terminal, core: core).make(
      core.freshRecoveryCode(), replacing: false
    ) {
      try core.setRecoveryCode($0)
    }
    return true
  }
}
