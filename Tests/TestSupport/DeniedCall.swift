import Foundation

/// A system call that a program cannot make, as under the filter (seccomp) of a container or a service.
///
/// The filter is a library that the program loads before all others, so the call is denied from before its `main` on.
package enum DeniedCall {
  /// What the kernel answers: a new filter ENOSYS, one from before the call was known EPERM.
  package enum Answer: String, CaseIterable, Sendable { case notPermitted = "EPERM", absent = "ENOSYS" }

  /// - Parameter call: Its name, such as `faccessat2`.
  /// - Returns: What the environment of the program must have.
  package static func variables(_ call: String, _ answer: Answer) throws -> [String: String] {
    ["LD_PRELOAD": try SharedLibrary.compile(source(call, answer))]
  }

  private static func source(_ call: String, _ answer: Answer) -> String {
    """
    #include <errno.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <stddef.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    __attribute__((constructor)) static void deny(void) {
      struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_\(call), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | \(answer.rawValue)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      struct sock_fprog program = {4, code};
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(99);
    }
    """
  }
}
