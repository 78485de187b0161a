import AuthenticatorKit
import VaultKit
import VaultLogging

extension VaultError {
  /// What is wrong with a transport, in words that continue "the transport PATH".
  static func transport(
    _ path: String, _ flaw: String, hint: Hint? = nil, underlying: Int32? = nil
  ) -> VaultError {
    VaultError(
      .network, "the transport \(VisibleText.escaped(path)) \(flaw)",
      hint: hint ?? "try the program by hand, with a request on its standard input",
      underlying: underlying)
  }
}
