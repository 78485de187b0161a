/// What to do in place of reading, adding or deleting an item that belongs to a component.
extension Hint {
  package static let addWithComponent: Hint = """
    use \("its component", tool: "'vaultctl otp add' for a credential, 'vaultctl pin set' for a PIN, 'vaultctl key generate' for a key")\
    \("; for data of your own, use a kind of your own", tool: "")
    """
  package static let giveSession: Hint =
    "give its session\(tool: " with --session-fd N or --session-file PATH")"
  package static let deleteWithPIN: Hint = "\(tool: "'vaultctl ls' shows them; ")delete them first"
}
