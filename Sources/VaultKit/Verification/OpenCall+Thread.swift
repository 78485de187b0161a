import Glibc
import Synchronization
import VaultFormat

extension OpenCall {
  /// Runs a call that may wait for a person on a thread of its own, and suspends the task meanwhile.
  ///
  /// When the task is cancelled, the prompts of the call are told to end, and this throws at once: a prompt or a
  /// protector that hangs holds nobody. Its thread ends when it returns, and what it returns is discarded.
  ///
  /// - Throws: What `body` throws; ``VaultError/Code/appCancelled`` when the task is cancelled; ``VaultError/Code/io``
  ///   when the process can have no further thread.
  func run<R: ~Copyable & Sendable>(
    _ body: @escaping @Sendable () throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    let outcome = CallOutcome<R>()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        guard outcome.wait(with: continuation) else { return }
        let code = startThread { outcome.settle(Result { () throws(VaultError) in try body() }) }
        if code != 0 {
          outcome.settle(.failure(VaultError(.io, "no thread to ask a person on", underlying: code)))
        }
      }
    } onCancel: {
      if cancel() { outcome.settle(.failure(CallValidity.ended)) }
    }
    return try outcome.take()
  }
}

/// The result of a call on another thread: the first one counts.
private final class CallOutcome<R: ~Copyable & Sendable>: Sendable {
  private struct State: ~Copyable, Sendable {
    var isSettled = false
    var result: Result<R, VaultError>?
    var continuation: CheckedContinuation<Void, Never>?
  }
  private let state = Mutex(State())

  /// Resumes `continuation` when there is a result; at once, and returns false, if there is one already.
  func wait(with continuation: CheckedContinuation<Void, Never>) -> Bool {
    let isSettled = state.withLock { state in
      if !state.isSettled { state.continuation = continuation }
      return state.isSettled
    }
    if isSettled { continuation.resume() }
    return !isSettled
  }

  /// A second result is discarded.
  func settle(_ result: consuming Result<R, VaultError>) {
    var result: Result<R, VaultError>? = consume result
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.isSettled else { return nil }
      state.isSettled = true
      state.result = result.take()
      return state.continuation.take()
    }
    continuation?.resume()
  }

  func take() throws(VaultError) -> R {
    var result: Result<R, VaultError>?
    state.withLock { result = $0.result.take() }
    switch consume result {
    case .some(let result): return try result.get()
    case nil: preconditionFailure("CallOutcome.take: no result")
    }
  }
}

/// Starts a thread, and returns 0 or the code of the failure. Neither the threads of Swift's tasks nor those of
/// Dispatch may wait for a person, because there are only so many of them.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
  let start = unsafe Unmanaged.passRetained(ThreadStart(body))
  var thread = pthread_t()
  let code = unsafe pthread_create(
    &thread, nil,
    { argument in
      unsafe Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, start.toOpaque())
  guard code == 0 else {
    unsafe start.release()
    return code
  }
  return pthread_detach(thread)
}

private final class ThreadStart: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
