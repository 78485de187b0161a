import CSQLiteLog

/// Work for the time in which the log goes to the disk and a processor has nothing to do.
struct MeanwhileTask {
  private let work: () -> Bool
  private var hasRun = false
  private var isGood = true

  private mutating func runOnce() -> Bool {
    if !hasRun {
      hasRun = true
      isGood = work()
    }
    return isGood
  }

  /// Runs `commit`, and `work` within its first synchronisation of the log, which fails where `work` answers `false`.
  ///
  /// - Throws: What `commit` throws; ``StorageError/io(code:errno:)`` for work that ran in no synchronisation and failed.
  static func run(
    _ work: () -> Bool, during commit: () throws(StorageError) -> Void
  ) throws(StorageError) {
    try withoutActuallyEscaping(work) { work throws(StorageError) in
      var task = MeanwhileTask(work: work)
      try unsafe withUnsafeMutablePointer(to: &task) { task throws(StorageError) in
        unsafe csqlitelog_during_sync(
          { task in unsafe task!.assumingMemoryBound(to: MeanwhileTask.self).pointee.runOnce() ? 0 : 1 }, task
        )
        defer { csqlitelog_during_sync(nil, nil) }
        try commit()
        // There was nothing to synchronise.
        guard unsafe task.pointee.runOnce() else { throw .io(code: 0, errno: 0) }
      }
    }
  }
}
