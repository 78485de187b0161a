import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TransportPrograms
import VaultKit
import VaultPrompts
import VaultTestKit

// With C++ interoperability: a vault, an item and its secret, a code, a prompt, a transport and errors.
func tryIt(in directory: String) async throws -> Int {
  let vault = try await Vault.create(
    at: VaultPath(directory + "/data/a.vault"), protector: FileProtector(folder: directory + "/keys"))
  let secret = SecretBytes(capacity: 3) { bytes in
    for byte in "abc".utf8 { bytes.append(byte) }
  }
  let item = try await vault.add(NewItem(.genericPassword, name: "a"), secret: secret)
  let context = AuthenticationContext(
    reason: "try it", prompt: AutomaticPrompt(), interaction: .notAllowed)
  do {
    _ = try await OTPCredential.named("b", in: vault).nextCode()
  } catch {
    guard error.code == .itemNotFound else { throw error }
  }
  do {
    _ = try TransportProgram(directory + "/no-transport").send(
      TransportRequest(.login, id: String(repeating: "0", count: 32), fields: TransportFields()))
  } catch {
    guard error.code == .network else { throw error }
  }
  return try await vault.withSecret(of: item.id, context: context) { $0.byteCount }
}

let count = try await tryIt(in: CommandLine.arguments[1])
print("a secret of \(count) bytes")
