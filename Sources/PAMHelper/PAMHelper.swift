import CLinux
import Glibc
import PAMMessages
import SecretMemory

/// `vault-pam`: the process in which PAM's modules run, so that a module that crashes, hangs, exits or prints does
/// so here.
///
/// `VaultPrompts` starts it for one question and ends it. It trusts the program that started it. That program
/// trusts it for one verdict only. This is the front page of PAMHelper; read in this order:
///
/// - ``PAMMessages`` defines what the two programs say to each other (module PAMMessages).
/// - ``main(_:)`` reads one request, and sends one verdict.
/// - ``PAMSession`` calls libpam, with both steps.
/// - ``PAMQuestions`` passes the questions and texts of modules on to the program.
package enum PAMHelper {
  /// The arguments of this process without its name, also where there is no `/proc`.
  package static var arguments: [String] {
    (1..<max(1, clinux_argument_count())).map { unsafe String(cString: clinux_argument($0)) }
  }

  /// Answers one request and ends the process.
  ///
  /// - Parameters:
  ///   - place: The place of the services; nil for that of the system. The shipped program passes nil.
  ///   - words: The arguments behind that place. Root gives one to the helper of a keeper: its ``PAMLimit``.
  package static func main(_ place: PAMSession.Place? = nil, _ words: [String]) -> Never {
    ProcessHardening.apply()
    let limit = words.first.flatMap { PAMLimit(argument: $0) }
    guard words.count <= 1, words.isEmpty == (limit == nil), isStartedByProgram else {
      say("vault-pam: another program starts this one; do not start it by hand")
      _exit(2)
    }
    _ = unsafe clinux_name_process("vault-pam")
    // If the program ended before the first call, the second one notices it.
    guard clinux_end_with_parent() == 0, let channel = takeChannel(), !channel.isClosed else { _exit(1) }
    guard let bytes = try? channel.receive(), let request = PAMRequest(bytes),
      limit?.allows(request) ?? true
    else { _exit(1) }
    let own = getpid()
    let conversation = PAMQuestions(channel)
    let (step, result) = PAMSession.verify(request, in: place, asking: conversation)
    // A module may have made a child that returns here. The child must say nothing.
    guard getpid() == own else { _exit(1) }
    let isSent = conversation.channel.send(PAMVerdict(request.nonce, step: step, result: result).bytes)
    conversation.channel.finish()
    // Skips what modules have registered for the exit of the process.
    _exit(isSent ? 0 : 1)
  }

  private static var isStartedByProgram: Bool {
    var status = stat()
    return unsafe fstat(0, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// Moves the socket to another number, which no program that a module starts inherits. Descriptors 0, 1 and 2
  /// become /dev/null: the output of modules is lost, and reaches neither the program nor the person.
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
