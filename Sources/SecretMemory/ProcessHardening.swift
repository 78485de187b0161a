import CLinux
import Glibc

/// What a program that holds secrets asks of the kernel.
public enum ProcessHardening {
  /// Ends core dumps, the crash reports of the Swift runtime, and the reading of this process's memory by other
  /// programs of the same user.
  ///
  /// Call it first thing in `main`. Root and the kernel are not stopped by it.
  public static func apply() {
    _ = clinux_set_not_dumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // Where `swift-backtrace` is installed the runtime catches these and prints, on standard error, the memory that
    // the registers point to; and after a signal from outside the program would go on.
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
  }
}
