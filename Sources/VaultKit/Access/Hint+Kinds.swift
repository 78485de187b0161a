/// What to do in place of reading, adding or deleting an item that belongs to a component.
extension Hint {
  package static let useCredential: Hint = """
    \("make codes with it", tool: "use 'vaultctl otp code'"), or \("export it through its component", tool: "'vaultctl otp export' to take it out")
    """
  package static let usePIN: Hint =
    "\("verify or change it through its component", tool: "use 'vaultctl pin verify' or 'vaultctl pin change'")"
  package static let manageBiokeys: Hint =
    "\("list or reset the biokeys through their component", tool: "use 'vaultctl biokey list' or 'vaultctl biokey reset'")"
  package static let signWithKey: Hint = """
    \("sign with it through its component", tool: "use 'vaultctl key sign'; 'vaultctl key public' prints the public half")
    """
  package static let takeToken: Hint = "\("take it through its component", tool: "use 'vaultctl token get'")"
  package static let listTransactions: Hint =
    "\("list the transactions", tool: "'vaultctl transaction list' shows them")"
  package static let authorizeRequest: Hint =
    "\("authorize requests with it through its component", tool: "use 'vaultctl oauth authorize-header'")"
  package static let addWithComponent: Hint = """
    use \("its component", tool: "'vaultctl otp add' for a credential, 'vaultctl pin set' for a PIN, 'vaultctl key generate' for a key")\
    \("; for data of your own, use a kind of your own", tool: "")
    """
  package static let giveSession: Hint =
    "give its session\(tool: " with --session-fd N or --session-file PATH")"
  package static let deleteWithPIN: Hint = "\(tool: "'vaultctl item list' shows them; ")delete them first"
}
