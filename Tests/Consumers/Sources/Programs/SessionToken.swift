import SecretMemory
import VaultKit

/// A token that opens for the people who were enrolled when it was stored. When that set has changed, it is replaced.
struct SessionToken: Sendable {
  let vault: Vault

  func token(for context: AuthenticationContext, signIn: () async throws -> SecretBytes) async throws
    -> SecretBytes
  {
    do {
      return try await vault.secret(of: vault.item(named: "token").id, context: context)
    } catch {
      guard [.itemNotFound, .invalidated].contains(error.code) else { throw error }
      try await vault.delete(Query(name: "token"))
      let new = NewItem(.genericPassword, name: "token", access: try AccessControl(.biometryCurrentSet))
      return try await vault.secret(of: vault.add(new, secret: signIn()).id, context: context)
    }
  }
}
