import VaultFormat

extension VaultCore {
  /// Asks whether the person accepts the text of the context, where no secret is asked for. Runs on a thread that may wait.
  ///
  /// - Parameters:
  ///   - action: What follows, as a verb phrase for the person.
  ///   - item: The item that is used then.
  /// - Throws: ``VaultError/Code/cancelled`` if the person declines, ``VaultError/Code/interactionNotAllowed``.
  package func askAcceptance(
    to action: String, with item: Item, context: AuthenticationContext
  ) throws(VaultError) {
    var asking = Asking(
      context: context, operation: .use, environment: environment,
      validity: CallValidity(self, context: context)
    ) { self.logWherePossible($0) }
    asking.action = action
    asking.item = item
    try asking.refuseInvalid()
    try asking.accept(at: context.interaction == .allowed ? context.prompt : nil)
  }
}
