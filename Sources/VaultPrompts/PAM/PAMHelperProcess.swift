import CLinux
import Glibc
import PAMMessages
import TrustedPaths
import VaultKit

/// A running helper and this end of its connection. The value ends the helper and waits for it in any case; one that root has started
/// ends because its connection does.
struct PAMHelperProcess: ~Copyable {
  let channel: PAMChannel
  /// nil for a process of root.
  private let pid: pid_t?

  init(_ helper: PAMPresence.Helper) throws(VaultError) {
    // Root looks at the same file; here it is looked at for what to tell a person.
    let program = try helper.opened()
    if case .root(let starter?) = helper.start {
      let channel = try starter.start()
      self.channel = channel
      pid = nil
      return
    }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw VaultError(.io, "no socket for vault-pam", underlying: errno)
    }
    // For this end only: each end has its own flags.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let channel = PAMChannel(owning: ends[0])
    let pid = unsafe clinux_spawn_helper(program.descriptor, program.path, helper.word, ends[1])
    let problem = errno
    close(ends[1])
    guard pid > 0 else {
      throw VaultError(
        .verificationUnavailable, "\(PromptText.visible(program.path)) does not start", underlying: problem)
    }
    self.channel = channel
    self.pid = pid
  }

  deinit {
    guard let pid else { return }
    // The helper has nothing to tidy up, and a module could block any other signal.
    if ChildProcess.hasEnded(pid, within: .zero) { return }
    kill(pid, SIGKILL)
    _ = ChildProcess.hasEnded(pid, within: .seconds(2))
  }
}
