import Dispatch

/// Runs an asynchronous body to its end on the shared pool, while this thread waits.
func wait(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}
