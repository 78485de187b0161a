import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

extension Command {
  /// Says what a person should know besides the code. The same for every PIN.
  func note(_ notices: [OTPResult.Notice], item: Item) {
    for notice in notices {
      switch notice {
      case .confirmationDue(let codes):
        let counter =
          item.countsCodes ? "'vaultctl otp counter --set' sets the server's counter" : "look at the clock"
        messages.note(
          "\(codes) codes since the server last confirmed one: 'vaultctl otp confirm' after it accepted one; if it "
            + "refuses them, check the PIN, then \(counter)")
      case .pinWasMarked: note(marked: true)
      // The failure of the command says it.
      case .synchronizationFailed: break
      case .decisionTold(let alias): messages.note("the server now has the decision about '\(alias)'")
      case .decisionRefused(let alias):
        messages.note("the server refused the decision about '\(alias)': look there what became of it")
      case .decisionNeedsPIN(let alias):
        messages.note(
          "the server does not know yet that '\(alias)' is accepted: 'vaultctl transaction accept' asks for the PIN again"
        )
      }
    }
  }

  /// The credential that the command is about.
  func credential() throws -> Item { try target() }
}
