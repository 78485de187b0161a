package import VaultKit

/// What to do until the server knows a decision.
extension Hint {
  package static let receiveTransactions: Hint = """
    \("the next request for transactions", tool: "'vaultctl transaction list --transport PROGRAM'") tells the server
    """
  package static let acceptAgain: Hint = """
    \("accept it", tool: "run 'vaultctl transaction accept'") again: the server gets the code when the PIN is given
    """
}
