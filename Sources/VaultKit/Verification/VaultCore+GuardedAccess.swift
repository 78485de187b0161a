import SealedStorage
package import VaultFormat
import VaultStorage

extension VaultCore {
  /// As ``authorizing(_:on:by:context:body:)``, for an item that a PIN may guard. This costs nothing where none does.
  ///
  /// - Parameters:
  ///   - component: The component that asks.
  ///   - obtain: Gets the PIN that guards the item. Returns the component with what it has obtained. Runs before the gate
  ///     asks for what the access rule requires, on a thread that may wait.
  ///   - body: Must throw before it changes anything if it needs a grant or a PIN and has none.
  package func authorizing<R: ~Copyable>(
    _ operation: ItemOperation, on id: ItemID, by component: Component, context: AuthenticationContext?,
    obtaining obtain: (GuardingPIN) throws(VaultError) -> Component,
    body: (consuming Grant?, Component) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    do throws(VaultError) {
      return try unlocking(context) { () throws(VaultError) in try body(nil, component) }
    } catch {
      guard error.code == .verificationNeeded, context?.call?.needsPerson != true else { throw error }
    }
    var transaction = try beginReading()
    let policy = try transaction.item(id).policy
    transaction.end()
    var component = component
    if let pin = try policy.requirements().pin { component = try obtain(pin) }
    guard try policy.isWrapped() else {
      return try using(context) { () throws(VaultError) in try body(nil, component) }
    }
    return try granting(operation, on: id, by: component, context: context) {
      (grant) throws(VaultError) in try body(grant, component)
    }
  }
}

extension ReadTransaction {
  /// The vault that this is a state of.
  package var vault: VaultID { store.vault }

  /// The clocks of this process.
  package var clock: any VaultClock { store.environment.clock }

  /// The version of an item's secret; it changes when the secret is replaced.
  package mutating func materialVersion(of id: ItemID) throws(VaultError) -> UInt64 {
    try store.row(of: id).material
  }
}

extension AuthenticationContext {
  /// Whether a secret can be had without a person: it was given to this context, or the prompt's channel has it.
  package func isGiven(_ subject: PromptRequest.Subject) throws(VaultError) -> Bool {
    if memory.given(subject) != nil { return true }
    guard interaction == .allowed, let prompt else { return false }
    return try prompt.givenSecret(for: PromptRequest(subject, operation: "find out what was given")) != nil
  }

  /// Continues only on a thread that may wait for a person: what follows changes the vault before it asks.
  package func requirePerson() throws(VaultError) { try call?.requirePerson() }
}
