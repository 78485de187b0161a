import Glibc

/// Writing to a pipe without a reader must be an error here, not a signal that ends the host: SIGPIPE is blocked in this
/// thread, and one that came is taken out before it is let through again.
struct BlockedPipeSignal {
  private let before: sigset_t
  private let wasPending: Bool

  init() {
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigpending(&pending)
    var pipe = Self.pipe
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
    self.before = before
    wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
  }

  func restore() {
    if !wasPending {
      var pipe = Self.pipe
      var now = timespec()
      while unsafe sigtimedwait(&pipe, nil, &now) < 0, errno == EINTR {}
    }
    var before = before
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  private static var pipe: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGPIPE)
    return set
  }
}
