import VaultFormat

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
    try context?.call?.requirePerson()
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
}
