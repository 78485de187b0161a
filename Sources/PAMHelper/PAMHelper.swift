import CLinux
import Glibc
import PAMMessages
import SecretMemory

/// `vault-pam`: the process in which PAM's modules run, so that one that crashes, hangs, exits or prints does it here.
///
/// `VaultPrompts` starts it for one question and ends it. ``PAMMessages`` is what the two say to each other, and ``PAMSession``
/// asks PAM. It trusts the program that started it, and is trusted by it no further than one verdict.
package enum PAMHelper {
  /// Answers one request and ends the process.
  ///
  /// - Parameter place: Where the services are; nil for the system's. What is shipped passes nil.
  package static func main(_ place: PAMSession.Place? = nil) -> Never {
    ProcessHardening.apply()
    guard isStarted(withWords: place == nil ? 1 : 2) else {
      say("vault-pam: another program starts this one; it is of no use by itself")
      _exit(2)
    }
    _ = unsafe clinux_name_process("vault-pam")
    // Where the program ended before the first of these, the second sees it.
    guard clinux_end_with_parent() == 0, let channel = takeChannel(), !channel.isClosed else { _exit(1) }
    guard let bytes = try? channel.receive(), let request = PAMRequest(bytes) else { _exit(1) }
    let own = getpid()
    let conversation = PAMQuestions(channel)
    let (step, result) = PAMSession.verify(request, in: place, asking: conversation)
    // A module may have made a child that came back here: it has nothing to say.
    guard getpid() == own else { _exit(1) }
    let isSent = conversation.channel.send(PAMVerdict(request.nonce, step, result: result).bytes)
    conversation.channel.finish()
    // Without what modules have left to do at the exit of their process.
    _exit(isSent ? 0 : 1)
  }

  private static func isStarted(withWords count: Int) -> Bool {
    var status = stat()
    return unsafe CommandLine.arguments.count == count && fstat(0, &status) == 0
      && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// The socket gets another number, which no program that a module starts inherits, and 0, 1 and 2 become /dev/null: what
  /// modules print is lost, and reaches neither the program nor the person.
  private static func takeChannel() -> PAMChannel? {
    let socket = fcntl(0, F_DUPFD_CLOEXEC, 3)
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard socket >= 0, null >= 0 else { return nil }
    for standard in Int32(0)..<3 { guard dup2(null, standard) == standard else { return nil } }
    close(null)
    return PAMChannel(owning: socket)
  }

  private static func say(_ line: String) {
    let line = line + "\n"
    _ = unsafe line.withCString { unsafe write(2, $0, strlen($0)) }
  }
}
