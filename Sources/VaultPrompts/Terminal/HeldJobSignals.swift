import Glibc

/// Blocks SIGTTIN and SIGTTOU in the thread of an open prompt. A read in the background is then an error and does
/// not stop the process group. A write succeeds, and so does restoring the mode.
struct HeldJobSignals {
  private let before: sigset_t

  init() {
    var before = sigset_t()
    var both = JobControl.signals(SIGTTIN, SIGTTOU)
    unsafe pthread_sigmask(SIG_BLOCK, &both, &before)
    self.before = before
  }

  func restore() {
    var before = before
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }
}
