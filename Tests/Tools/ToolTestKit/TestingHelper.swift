import TrustedPaths
package import VaultPrompts

extension PAMPresence.Helper {
  /// The helper of tests, which is beside this program.
  package static func testing(services folder: String) -> PAMPresence.Helper {
    guard let path = TrustedProgram.path(beside: "vault-pam-testing") else {
      fatalError("where is this program?")
    }
    return PAMPresence.Helper(at: path, services: folder)
  }
}
