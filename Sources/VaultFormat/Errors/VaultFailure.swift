/// An error type of a program that can hold an error of the vault. A call that takes a closure with such an error type
/// throws this one type, for errors of the closure and of the vault.
///
/// ```swift
/// enum PaymentError: VaultFailure {
///   case vault(VaultError)
///   case limitReached
///   init(vault error: VaultError) { self = .vault(error) }
/// }
/// try await vault.write { transaction throws(PaymentError) in
///   throw PaymentError.limitReached
/// }
/// ```
public protocol VaultFailure: Error {
  /// The error for an error of the vault.
  init(vault error: VaultError)
}

extension VaultError: VaultFailure {
  /// The same error.
  public init(vault error: VaultError) { self = error }
}
