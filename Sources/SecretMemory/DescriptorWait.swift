import Glibc

/// Ends the waits of a thread for descriptors that belong to others: a command of an agent reads and writes those of its client, and the
/// pipe of a client that has gone away can stay open for ever. Without ``during(until:_:)`` nothing is different from plain calls.
package enum DescriptorWait {
  @TaskLocal private static var isEnded: (@Sendable () -> Bool)?

  /// Runs `body`, in which this thread waits for no descriptor any longer once `isEnded` says so.
  package static func during<R>(until isEnded: @escaping @Sendable () -> Bool, _ body: () throws -> R)
    rethrows -> R
  {
    try $isEnded.withValue(isEnded, operation: body)
  }

  /// Whether this thread waits for nothing any longer. Asked by waits that are for no descriptor, such as for the turn of this process.
  package static var hasEnded: Bool { isEnded?() ?? false }

  /// Waits until a descriptor is ready, where a wait can end early.
  ///
  /// - Returns: Whether it has ended: the descriptor is not used.
  private static func isOver(for descriptor: Int32, _ events: Int32) -> Bool {
    guard let isEnded else { return false }
    while !isEnded() {
      var wait = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      let ready = unsafe poll(&wait, 1, interval)
      // A call on a descriptor that cannot be waited for says why.
      if ready > 0 || ready < 0 && errno != EINTR { return false }
    }
    return true
  }

  /// Before a call that reads.
  ///
  /// - Returns: False if the wait has ended.
  package static func mayRead(_ descriptor: Int32) -> Bool { !isOver(for: descriptor, POLLIN) }

  /// How many of so many bytes can be written in one call. A pipe that has room has it for this many; more would wait in the call.
  ///
  /// - Returns: 0 if the wait has ended.
  package static func writableCount(of count: Int, to descriptor: Int32) -> Int {
    guard isEnded != nil else { return count }
    return isOver(for: descriptor, POLLOUT) ? 0 : min(count, Int(PIPE_BUF))
  }

  /// How often it is asked whether the wait has ended, in milliseconds.
  private static let interval: Int32 = 100
}
