package import VaultKit

/// What to do where a credential cannot do what was asked of it.
extension Hint {
  package static let listCredentials: Hint = """
    the item of that name is of another kind; \("list the", tool: "'vaultctl otp list' shows the") credentials
    """
  package static let setCounter: Hint =
    "ask the server for its counter and set it\(tool: " with 'vaultctl otp counter NAME --set N'")"
  package static let forceCounter: Hint = "\("force it", tool: "add --force") if the server really is behind"
  package static let makeCode: Hint = "\("make codes with it", tool: "use 'vaultctl code'")"
  package static let verifyCode: Hint = "\("verify codes with it", tool: "use 'vaultctl otp verify'")"
  package static let signQuestion: Hint = """
    \("sign a question with it, or verify the code of one", tool: "use 'vaultctl transaction sign'")\
    \(tool: "; of a verifier 'vaultctl transaction verify'")
    """
  package static let verifySignature: Hint =
    "\("verify codes of questions with it", tool: "use 'vaultctl transaction verify'")"
  package static let exportItems: Hint =
    "export the items of the vault\(tool: " with 'vaultctl export jsonl FILE --plain'")"
  package static let addSuite: Hint = """
    add one with \("a suite", tool: "'vaultctl otp add --suite'"), or \
    \("make or verify codes", tool: "use 'vaultctl code' or 'vaultctl otp verify'")
    """
  package static let allowWeak: Hint = """
    compare it with what the service shows; where the service chose a short secret, or codes of 4 or 5 digits, \
    \("allow weak credentials", tool: "--allow-weak stores it"), and any other length needs another program
    """
}
