import VaultKit

/// Ends the prompt of one request when its answer is no longer wanted, and no other prompt.
struct RequestWatch {
  private let ending: PromptEnding?
  private let ticket: UInt64?
  /// For this request alone: the next prompt of the process may have a descriptor of the same number.
  private let open = OpenPrompt()

  /// - Parameter descriptor: Gets a 0 at the end of the request; at once, if it has ended already.
  init(_ ending: PromptEnding?, waking descriptor: Int32) {
    self.ending = ending
    open.open(descriptor)
    ticket = ending?.add { [open] in open.cancel() }
  }

  /// - Postcondition: The descriptor is no longer written to.
  func stop() {
    if let ending, let ticket { ending.remove(ticket) }
    open.close()
  }
}
