import CLinux
package import Glibc

/// A process forked off the test, as a program could do it: without `exec`.
///
/// For exit tests alone. Where other tests run beside, one of them may hold a lock of the allocator or of the runtime at the
/// fork, and the child waits for it for ever. It ends with the thread that forked it at the latest.
package struct ForkedChild {
  package let pid: pid_t

  /// Starts a child that ends with what `body` returns.
  package init(_ body: () -> Int32) {
    // Swift hides `fork`, for good reasons; these tests are about what happens all the same.
    let fork = unsafe unsafeBitCast(dlsym(nil, "fork")!, to: (@convention(c) () -> pid_t).self)
    let parent = getpid()
    pid = fork()
    precondition(pid >= 0, "no fork")
    if pid == 0 { Self.run(body, childOf: parent) }
  }

  private static func run(_ body: () -> Int32, childOf parent: pid_t) -> Never {
    // An exit test may have inherited that they are ignored.
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] { signal(number, SIG_DFL) }
    guard clinux_end_with_parent() == 0, getppid() == parent else { _exit(255) }
    _exit(body())
  }

  /// The exit code, or minus the signal that ended it.
  package func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 { precondition(errno == EINTR, "no child") }
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }

  package static func run(_ body: () -> Int32) -> Int32 { ForkedChild(body).wait() }
}
