package import SecretMemory
import Synchronization

/// The passcode that one call has verified, kept in locked memory until the call ends, so that it can refuse a new PIN that
/// is the passcode.
final class PasscodeWitness: Sendable {
  private let passcode = Mutex<SharedSecret?>(nil)

  func note(_ bytes: borrowing SecretBytes) {
    let copy = SharedSecret(bytes.copy())
    passcode.withLock { $0 = copy }
  }

  func saw(_ secret: borrowing SecretBytes) -> Bool {
    passcode.withLock { $0 }?.bytes.isEqualInConstantTime(to: secret) ?? false
  }
}

extension AuthenticationContext {
  /// A copy for one call that asks ``isPasscode(_:)``. It shares everything else with this context.
  package func witnessingPasscode() -> AuthenticationContext {
    var copy = self
    copy.witness = PasscodeWitness()
    return copy
  }

  /// Whether a secret is the passcode that this context was given, or that a call with this copy has verified.
  package func isPasscode(_ secret: borrowing SecretBytes) -> Bool {
    let isGiven = memory.given(.passcode)?.bytes.isEqualInConstantTime(to: secret) ?? false
    return isGiven || witness?.saw(secret) ?? false
  }
}
