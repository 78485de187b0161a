import SecretMemory
import VaultFormat
import VaultStorage

/// Waiting for something that is neither a person nor the disk, such as the answer of a server.
extension VaultCore {
  /// Runs `body`, which may wait, outside of every lock. The end of the call, of its context or of the session ends it, as
  /// it ends a prompt.
  ///
  /// - Parameters:
  ///   - cancel: Ends `body` from another thread, where `body` does not look at the ending itself.
  ///   - body: Runs on a thread that may wait.
  /// - Throws: What `body` throws; ``VaultError/Code/appCancelled`` if the result is no longer wanted.
  package func waiting<R: ~Copyable>(
    context: AuthenticationContext?, cancel: @escaping @Sendable () -> Void,
    _ body: (PromptEnding) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    context?.call?.endUse()
    let validity = CallValidity(self, context: context)
    let ending = PromptEnding()
    let owners = [prompts, context?.memory.prompts, validity.call?.prompts].compactMap { $0 }
    for owner in owners { owner.add(ending) }
    defer { for owner in owners { owner.remove(ending) } }
    let ticket = ending.add(cancel)
    defer { ending.remove(ticket) }
    try validity.check()
    let result = try body(ending)
    try validity.check()
    return result
  }

  /// Runs `body` while no other process and no other thread does the same for this item. The end of a process, however it ends, ends
  /// its turn.
  ///
  /// - Parameters:
  ///   - what: What is done, as the subject and the verb of a message.
  ///   - context: Of the call: its end ends the wait.
  /// - Throws: ``VaultError/Code/busy`` where others take longer than a transport may; ``VaultError/Code/appCancelled``; what `body`
  ///   throws.
  package func alone<R>(
    with item: ItemID, _ what: String, context: AuthenticationContext?, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let lock = try waiting(context: context, cancel: {}) { ending throws(VaultError) in
      try turn(with: item, what, until: ending)
    }
    let result = try body()
    lock.release()
    return result
  }

  private func turn(
    with item: ItemID, _ what: String, until ending: PromptEnding
  ) throws(VaultError) -> ItemLock {
    var left = Self.longestTurn
    while left > .zero {
      do throws(StorageError) {
        if let lock = try ItemLock.take(opened.path, of: item.hexadecimal) { return lock }
      } catch {
        if case .refusedBeside(_, let file) = error { throw VaultNames.taken(file) }
        throw VaultError(error, at: opened.path)
      }
      try pause(Self.look, until: ending)
      left -= Self.look
    }
    throw VaultError(
      .busy, "another process is not done: \(what) there", hint: "try again when it has ended")
  }

  /// Waits for a time, outside of every lock.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` at the end of the call, of its context, of the session or of the command.
  package func wait(_ time: Duration, context: AuthenticationContext?) throws(VaultError) {
    try waiting(context: context, cancel: {}) { ending throws(VaultError) in try pause(time, until: ending) }
  }

  private func pause(_ time: Duration, until ending: PromptEnding) throws(VaultError) {
    var left = time
    while left > .zero {
      guard !ending.isEnded, !DescriptorWait.hasEnded else { throw CallValidity.ended }
      let step = min(left, Self.look)
      environment.pause(step)
      left -= step
    }
  }

  /// Longer than the 60 seconds of a transport.
  private static var longestTurn: Duration { .seconds(65) }
  /// How often it is looked whether a wait is over.
  private static var look: Duration { .milliseconds(50) }
}
