import VaultFormat

extension VaultCore {
  /// ``read(_:)`` with a typed error, for closures of this package.
  package func reading<R>(_ body: (inout ReadTransaction) throws(VaultError) -> R) throws(VaultError) -> R {
    try typed { try read { (transaction: inout ReadTransaction) in try body(&transaction) } }
  }

  /// ``write(_:)`` with a typed error, for closures of this package.
  package func writing<R>(_ body: (inout WriteTransaction) throws(VaultError) -> R) throws(VaultError) -> R {
    try typed { try write { (transaction: inout WriteTransaction) in try body(&transaction) } }
  }

  private func typed<R>(_ body: () throws -> R) throws(VaultError) -> R {
    do { return try body() } catch let error as VaultError { throw error } catch {
      preconditionFailure("VaultCore: an error of another type inside the library")
    }
  }
}
