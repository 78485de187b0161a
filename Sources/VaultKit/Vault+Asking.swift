import SecretMemory
import VaultFormat
import VaultKeys

extension Vault {
  /// Runs a call that may need a person.
  ///
  /// The call first runs on the actor, like every other call. If it needs a person, a key derivation or the protector,
  /// it is stopped before it changes anything, and runs again on a thread of its own. The actor is free meanwhile: other
  /// calls go on while a prompt is open. The last part of the call is one transaction, which checks everything again.
  ///
  /// - Parameter body: Is called a second time only if the first time it threw because it needs a person.
  /// - Throws: What `body` throws; ``VaultError/Code/appCancelled`` if the task is cancelled before the last part.
  package func asking<R: ~Copyable & Sendable>(
    _ context: AuthenticationContext?,
    _ body: @escaping @Sendable (VaultCore, AuthenticationContext?) throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    let core = core
    guard let context else { return try body(core, nil) }
    let onActor = OpenCall(mayAsk: false)
    do throws(VaultError) { return try body(core.used(in: onActor), context.used(in: onActor)) } catch {
      guard onActor.needsPerson else { throw error }
    }
    let call = OpenCall(mayAsk: true)
    return try await call.run { () throws(VaultError) in
      try body(core.used(in: call), context.used(in: call))
    }
  }

  /// Runs a call that waits for something else than a person, such as a server, on a thread of its own at once. As
  /// ``asking(_:_:)``, but without the attempt on the actor.
  ///
  /// - Parameter context: `nil` if no person can be asked.
  package func waiting<R: ~Copyable & Sendable>(
    _ context: AuthenticationContext?,
    _ body: @escaping @Sendable (VaultCore, AuthenticationContext) throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    let core = core
    let context = context ?? AuthenticationContext(reason: "", interaction: .notAllowed)
    let call = OpenCall(mayAsk: true)
    return try await call.run { () throws(VaultError) in
      try body(core.used(in: call), context.used(in: call))
    }
  }

  /// Unlocks with a passcode, on a thread of its own.
  func unlock(_ passcode: SharedSecret, shown: Shown) async throws(VaultError) {
    let core = core
    let call = OpenCall(mayAsk: true)
    try await call.run { () throws(VaultError) in
      try core.used(in: call).unlock(with: Passcode(passcode.bytes.copy(), shown: shown), call: call)
    }
  }
}
