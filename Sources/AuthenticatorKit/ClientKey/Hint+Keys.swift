package import VaultKit

extension Hint {
  package static let listKeys: Hint =
    "\("list the keys for their names", tool: "'vaultctl key list' shows the keys")"
  package static let convertKeyFile: Hint = """
    convert a copy in a folder of memory, import that and delete it: 'openssl pkcs8 -topk8' and \
    'openssl pkcs12 -legacy' serve, and of an OpenSSH key 'ssh-keygen -p -N ""' takes the passphrase off
    """
}
