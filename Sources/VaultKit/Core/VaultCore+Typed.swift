import VaultFormat

extension VaultCore {
  /// ``read(_:)`` with a typed error, for closures of this package.
  package func reading<R>(_ body: (inout ReadTransaction) throws(VaultError) -> R) throws(VaultError) -> R {
    try typed { try read { (transaction: inout ReadTransaction) in try body(&transaction) } }
  }

  /// ``write(_:)`` with a typed error, for closures of this package.
  package func writing<R>(
    repairing: Bool = false, _ body: (inout WriteTransaction) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try typed {
      try write(repairing: repairing) { (transaction: inout WriteTransaction) in try body(&transaction) }
    }
  }

  /// ``read(_:)`` with the error type of the closure, and with a result that may be a secret.
  ///
  /// - Parameter convert: Makes the closure's type of error from an error of the vault.
  func lendingState<R: ~Copyable, E: Error>(
    _ body: (inout ReadTransaction) throws(E) -> R, converting convert: (VaultError) -> E
  ) throws(E) -> R {
    var result: R?
    do { try read { (transaction: inout ReadTransaction) in result = try body(&transaction) } } catch {
      throw Self.error(error, converting: convert)
    }
    return result.take()!
  }

  /// ``write(_:)`` with the error type of the closure, and with a result that may be a secret.
  ///
  /// - Parameter convert: Makes the closure's type of error from an error of the vault.
  func lendingChanges<R: ~Copyable, E: Error>(
    _ body: (inout WriteTransaction) throws(E) -> R, converting convert: (VaultError) -> E
  ) throws(E) -> R {
    var result: R?
    do { try write { (transaction: inout WriteTransaction) in result = try body(&transaction) } } catch {
      throw Self.error(error, converting: convert)
    }
    return result.take()!
  }

  private static func error<E: Error>(_ error: any Error, converting convert: (VaultError) -> E) -> E {
    if let error = error as? E { return error }
    guard let error = error as? VaultError else {
      preconditionFailure("VaultCore: an error of another type inside the library")
    }
    return convert(error)
  }

  private func typed<R>(_ body: () throws -> R) throws(VaultError) -> R {
    do { return try body() } catch let error as VaultError { throw error } catch {
      preconditionFailure("VaultCore: an error of another type inside the library")
    }
  }
}
