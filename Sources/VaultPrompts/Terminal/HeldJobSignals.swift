import Glibc

/// While a prompt is open its thread holds back SIGTTIN and SIGTTOU: a read in the background then is an error and does
/// not stop the process group; a write goes through, and so does restoring the mode.
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
