import SecretMemory
import VaultKit

/// Keeps a password in a new vault, finds it by its service, and lends it for one call.
func keepPassword(in folder: String) async throws -> [Int] {
  let keys = FileProtector(folder: folder + "/keys")  // the device key, never beside the vault
  let vault = try await Vault.create(at: VaultPath(folder + "/data/app.vault"), protector: keys)

  var mail = NewItem(.genericPassword, name: "mail")
  mail.attributes[.service] = "https://mail.example.org"
  mail.attributes[.account] = "alice"
  let password = SecretBytes(capacity: 64) { bytes in  // written in place; in real life by a prompt
    for byte in "correct horse".utf8 { bytes.append(byte) }
  }
  _ = try await vault.add(mail, secret: password)  // on the disk now; `password` cannot be used any more

  var lengths: [Int] = []
  for item in try await vault.items(matching: Query(.genericPassword, where: mail.attributes)) {
    lengths.append(try await vault.withSecret(of: item.id) { $0.byteCount })  // lent, then wiped
  }
  return lengths
}
