import VaultFormat

extension VaultCore {
  /// Ends the items that are not valid now. A vault that cannot be written keeps them; they open nothing.
  func endItems() {
    try? beginWriting().commit()
  }

  /// The same where one is over: without that, nothing is written.
  private func endItemsWherePast() {
    if (try? hasItemToEnd()) != false { endItems() }
  }

  private func hasItemToEnd() throws(VaultError) -> Bool {
    var transaction = try beginReading()
    return try transaction.hasItemToEnd(transaction.store.head().nextTokenEnd)
  }

  /// From now on, ends items at their time, for as long as the vault is open.
  func startEndTimer() {
    session.endTimer.start(for: session, clock: environment.clock) { $0.endItemsWherePast() }
  }
}
