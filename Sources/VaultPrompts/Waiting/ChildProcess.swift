import Glibc

/// The end of a process that this one started.
enum ChildProcess {
  /// Waits for it, so that no zombie stays. False when it still runs after `duration`.
  static func hasEnded(_ pid: pid_t, within duration: Duration) -> Bool {
    let deadline = Deadline(after: duration)
    var pause: UInt32 = 500
    while true {
      let result = waitpid(pid, nil, WNOHANG)
      // ECHILD: the host lets the kernel reap its children.
      if result == pid || (result < 0 && errno != EINTR) { return true }
      if deadline.hasPassed { return false }
      usleep(pause)
      pause = min(pause * 2, 20_000)
    }
  }
}
