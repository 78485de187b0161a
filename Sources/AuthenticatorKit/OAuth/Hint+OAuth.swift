package import VaultKit

/// What to do with a client of an OAuth server, and with its tokens.
extension Hint {
  package static let registerClient: Hint = """
    register\(" the client", tool: " with 'vaultctl oauth register'"); a registration that is there is deleted first\
    \(tool: " with 'vaultctl rm'")
    """
  package static let giveClient: Hint = """
    register the client at the server by hand, and give it here\
    \(tool: ": 'vaultctl oauth register NAME --client-id ID', with --client-secret-fd N if it has a secret")
    """
  package static let nameIssuer: Hint =
    "if that is the server that you mean, give the name that it calls itself\(tool: " with --url")"
  package static let nameEndpoints: Hint = """
    if the server does not describe itself, give \
    \("its addresses", tool: "--client-id with --token-endpoint and --authorization-endpoint")
    """
  package static let requestTokens: Hint = "get new \("tokens", tool: "ones with 'vaultctl oauth token'")"
  package static let refreshTokens: Hint = "\("refresh the tokens", tool: "run 'vaultctl oauth refresh'")"
  package static let refreshOnce: Hint = """
    the server may have used the refresh token up: \("refresh", tool: "run 'vaultctl oauth refresh'") once more, \
    and if that is refused, get new tokens\(tool: " with 'vaultctl oauth token'")
    """
  package static let useAuthorizationCode: Hint = """
    use \("authorization_code", tool: "'vaultctl oauth token NAME --grant authorization_code'"): \
    its address opens in a browser of any machine
    """
  package static let bindTokens: Hint = "give a key\(tool: " with 'vaultctl oauth token … --dpop KEY'")"
  package static let requestUnboundTokens: Hint = """
    if tokens that anybody can use will do, get new ones\(tool: " with 'vaultctl oauth token'") without \("a key", tool: "--dpop")
    """
}
