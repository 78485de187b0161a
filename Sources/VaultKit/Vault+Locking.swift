public import VaultKeys

/// What a program that keeps a vault open for hours needs besides `lock()` and `unlock(with:)`.
extension Vault {
  /// What happens to the vault from this call on: each listener has every event, in order, however late it reads. The stream ends with
  /// the vault, or with the task that reads it.
  ///
  /// ```swift
  /// let events = vault.events()
  /// Task {
  ///   for await event in events where event == .locked { closeTheWindow() }
  /// }
  /// ```
  ///
  /// A lock and an unlock are told by whichever caller they come from (``asked(by:)``). What another process does to the keys is told when
  /// this process next reads the vault.
  public nonisolated func events() -> AsyncStream<VaultEvent> { core.session.events.stream() }

  /// Locks the vault when this time has passed by the boot clock, which counts while the machine sleeps. A later call replaces the time;
  /// ``lock()`` and ``lock(after:)`` with `nil` forget it. An unlock leaves it as it is.
  ///
  /// After a sleep, the vault is locked at most 10 s after the machine is awake. A program that wants it locked before the machine sleeps
  /// calls ``lock()`` then.
  ///
  /// - Parameter time: 0 or less locks at once, but on another thread; `nil` for never.
  public nonisolated func lock(after time: Duration?) { core.lock(after: time) }
}
