import AuthenticatorKit
import Synchronization
import VaultKit

/// An error for the next request of an operation, and for no other.
final class FaultOnce: Sendable {
  private let operation: TransportOperation
  private let error: Mutex<VaultError?>

  init(_ operation: TransportOperation, _ error: VaultError) {
    self.operation = operation
    self.error = Mutex(error)
  }

  var hook: @Sendable (TransportRequest) throws(VaultError) -> Void {
    { request throws(VaultError) in
      guard request.operation == self.operation else { return }
      if let error = self.error.withLock({ $0.take() }) { throw error }
    }
  }
}
