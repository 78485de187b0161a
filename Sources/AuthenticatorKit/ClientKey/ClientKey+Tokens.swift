public import SecretMemory
public import VaultKit

/// The signed tokens of a key in a vault. For several, open the key once: ``ClientKey/signer(context:)``.
extension ClientKey {
  /// A proof for one request that its sender has this key: ``Signer/proof(for:at:)``.
  ///
  /// - Throws: As ``sign(_:as:context:)``.
  public func proof(
    for request: ProofRequest, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> String {
    let signer = try await signer(context: context)
    return try signer.proof(for: request)
  }

  /// An assertion of a client: ``Signer/assertion(client:audience:seconds:keyID:at:)``.
  ///
  /// - Throws: As ``sign(_:as:context:)``; ``VaultError/Code/malformed``.
  public func assertion(
    client: String, audience: String, seconds: Int64 = 60, keyID: String? = nil,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> SecretBytes {
    let signer = try await signer(context: context)
    return try signer.assertion(client: client, audience: audience, seconds: seconds, keyID: keyID)
  }
}
