import SecretMemory
import VaultFormat
import VaultKeys

extension Vault {
  /// Runs a call that may need a person: on a thread of its own, because a prompt, a derivation and a protector take their time.
  /// The actor is free meanwhile: other calls go on while a prompt is open. Without a context nobody can be asked, and the call runs
  /// on the actor, like every other one.
  ///
  /// - Throws: What `body` throws; ``VaultError/Code/appCancelled`` if the task is cancelled while the call waits.
  package func asking<R: ~Copyable & Sendable>(
    _ context: AuthenticationContext?,
    _ body: @escaping @Sendable (VaultCore, AuthenticationContext?) throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    guard let context else { return try body(core, nil) }
    return try await waiting(context, body)
  }

  /// Runs a call that waits for something else than a person, such as a server, on a thread of its own.
  ///
  /// - Parameter context: `nil` if no person can be asked.
  package func waiting<R: ~Copyable & Sendable>(
    _ context: AuthenticationContext?,
    _ body: @escaping @Sendable (VaultCore, AuthenticationContext) throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    let core = core
    let context = context ?? AuthenticationContext(reason: "", interaction: .notAllowed)
    let call = OpenCall()
    return try await call.run { () throws(VaultError) in
      try body(core.used(in: call), context.used(in: call))
    }
  }

  /// Unlocks with a passcode, on a thread of its own.
  func unlock(_ passcode: SharedSecret, shown: Shown) async throws(VaultError) {
    let core = core
    let call = OpenCall()
    try await call.run { () throws(VaultError) in
      try core.used(in: call).unlock(with: Passcode(passcode.bytes.copy(), shown: shown), call: call)
    }
  }
}
