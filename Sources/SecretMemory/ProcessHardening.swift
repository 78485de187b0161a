import CLinux
import Glibc

/// What a program that holds secrets asks of the kernel.
public enum ProcessHardening {
  /// Prevents core dumps, the crash reports of the Swift runtime, and other programs of the same user from reading
  /// the memory of this process.
  ///
  /// Call it first in `main`. It does not stop root or the kernel.
  public static func apply() {
    _ = clinux_set_not_dumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // Where `swift-backtrace` is installed, the runtime handles these signals and prints the memory that the
    // registers point to on standard error. After such a signal from another process, the program would continue.
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
  }
}
