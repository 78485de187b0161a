import Dispatch

/// A serial executor on a separate queue: a call that blocks here never blocks the shared pool.
final class VaultExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "vault")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
