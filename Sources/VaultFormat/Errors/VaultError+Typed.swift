package import SecretMemory
package import TextPreparation

extension TypedSecret {
  /// - Parameter name: What an error calls it: "the passcode".
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``.
  package init(_ bytes: consuming SecretBytes, named name: String) throws(VaultError) {
    do throws(Fault) { try self.init(bytes) } catch { throw VaultError(error, in: name) }
  }

  /// What `attempt` makes of the prepared form; if that is wrong, of the one that was given. Both are one attempt.
  ///
  /// - Parameter attempt: Throws ``VaultError/Code/authenticationFailed`` for a form that is wrong.
  package func firstRight<R: ~Copyable>(
    _ attempt: (borrowing SecretBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    do throws(VaultError) { return try attempt(prepared.bytes) } catch {
      guard wasPrepared, error.code == .authenticationFailed else { throw error }
      return try attempt(given.bytes)
    }
  }
}

extension VaultError {
  fileprivate init(_ fault: TypedSecret.Fault, in name: String) {
    self.init(
      fault == .libraryMissing ? .unsupported : .malformed, fault.message(name),
      hint: fault.hint)
  }

  /// The error for text that cannot be prepared.
  ///
  /// - Parameter name: What the text is called: "the name".
  package init(_ error: TextPreparationError, in name: String) {
    switch error {
    case .libraryMissing: self.init(TypedSecret.Fault.libraryMissing, in: name)
    }
  }
}
