import CLinux
import Glibc
import PAMMessages
import TrustedPaths

/// The process of root that verifies logins for a keeper: it starts `vault-pam` for one person, and has no keys (docs/decisions/0052).
///
/// It reads one byte and one descriptor of each request, and passes the descriptor on. The name of the person and the service are
/// arguments that root gives. It also says which program a process of the person runs, which no other user may see
/// (docs/decisions/0062). It ends when the keeper does.
struct KeeperLogins: ~Copyable {
  /// The first part of its only argument; the name of the person follows.
  static let word = "--logins="

  /// Starts it beside this process, which becomes the keeper.
  ///
  /// - Returns: This end of its socket, which ends with another program.
  static func begin(for person: KeeperAccounts.Account) throws(KeeperError) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_packet_pair(&ends) == 0 else { throw .system("making a socket for logins", errno) }
    defer { close(ends[1]) }
    let program = unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
    guard program >= 0 else { throw .system("opening this program in /proc", errno) }
    defer { close(program) }
    guard unsafe clinux_spawn_helper(program, "vault-keeper", word + person.name, ends[1]) > 0 else {
      throw .system("starting the process for logins", errno)
    }
    return ends[0]
  }

  /// - Throws: ``KeeperError/usage`` if no keeper was started with this process.
  static func serve(person: String) throws(KeeperError) -> Never {
    guard geteuid() == 0, !person.isEmpty, let requests = takeRequests() else { throw .usage }
    _ = unsafe clinux_name_process("vault-keeper")
    // Neither Ctrl-C nor a terminal of root reaches it or PAM's modules.
    _ = setsid()
    unsafe clinux_replace_environment(Self.environment)
    guard let user = KeeperAccounts.user(named: person) else { throw .noPerson(person) }
    var logins = KeeperLogins(
      requests, of: user, limit: PAMLimit(service: PAMRequest.usualService, user: person).argument)
    while true { logins.turn() }
  }

  private struct Helper {
    let process: pid_t
    /// Can be read when it has ended.
    let watch: Int32
    /// Its end of the connection: when it crashes, the keeper sees that here.
    let end: Int32
    /// When it is killed; nil while the keeper wants its verdict.
    var deadline: ContinuousClock.Instant?
  }

  private let requests: Int32
  /// The person.
  private let user: uid_t
  private let limit: String
  private var running: [Helper] = []

  private init(_ requests: Int32, of user: uid_t, limit: String) {
    (self.requests, self.user, self.limit) = (requests, user, limit)
  }

  /// As many guesses of a login password at the same time as there can be.
  private static let mostHelpers = 8
  /// How long a helper goes on whose verdict is not wanted any more: PAM's modules count a wrong password and delay, and hanging up
  /// must save a guesser neither.
  private static let patience = Duration.seconds(10)

  /// Never freed.
  private static var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    let variables = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 2)
    unsafe variables[0] = unsafe strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin")
    unsafe variables[1] = nil
    return unsafe variables
  }

  /// Moves the socket to another number, which no helper inherits; 0, 1 and 2 become /dev/null.
  ///
  /// - Returns: nil where 0 is no socket.
  private static func takeRequests() -> Int32? {
    var status = stat()
    guard unsafe fstat(0, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    let socket = fcntl(0, F_DUPFD_CLOEXEC, 3)
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard socket >= 0, null >= 0 else { return nil }
    for standard in Int32(0)..<3 { guard dup2(null, standard) == standard else { return nil } }
    close(null)
    return socket
  }
}

extension KeeperLogins {
  /// Waits for the keeper and for the helpers, and does what is to be done.
  private mutating func turn() {
    var waited = [pollfd(fd: requests, events: Int16(POLLIN), revents: 0)]
    for helper in running {
      waited.append(pollfd(fd: helper.watch, events: Int16(POLLIN), revents: 0))
      waited.append(pollfd(fd: helper.deadline == nil ? helper.end : -1, events: 0, revents: 0))
    }
    guard unsafe poll(&waited, nfds_t(waited.count), pollTime) >= 0 else { return }
    let now = ContinuousClock.now
    for index in running.indices.reversed() {
      if waited[1 + 2 * index].revents != 0 {
        forget(running.remove(at: index))
        continue
      }
      if waited[2 + 2 * index].revents != 0 { running[index].deadline = now + Self.patience }
      if let deadline = running[index].deadline, deadline <= now { kill(running[index].process, SIGKILL) }
    }
    if waited[0].revents != 0 { take() }
  }

  /// One second while a helper has a deadline.
  private var pollTime: Int32 { running.contains { $0.deadline != nil } ? 1000 : -1 }

  private func forget(_ helper: Helper) {
    while waitpid(helper.process, nil, 0) < 0, errno == EINTR {}
    close(helper.watch)
    close(helper.end)
  }

  /// Takes one request. When the keeper is gone, this process ends, and the kernel ends the helpers with it.
  private mutating func take() {
    var bytes = [UInt8](repeating: 0, count: PAMMessages.programLength + 1)
    var descriptors = [Int32](repeating: -1, count: clinux_most_descriptors)
    var count = 0
    let length = unsafe clinux_receive_packet(requests, &bytes, bytes.count, &descriptors, &count)
    let problem = errno
    let came = descriptors.prefix(count)
    if length == 1, bytes[0] == PAMMessages.start, count == 1 { return start(with: came[0]) }
    if length == PAMMessages.programLength, bytes[0] == PAMMessages.program, count == 1 {
      let process = bytes[1..<PAMMessages.programLength].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return say(Int32(bitPattern: process), to: came[0])
    }
    for descriptor in came { close(descriptor) }
    guard length > 0 || length < 0 && [EAGAIN, EMSGSIZE, EMFILE].contains(problem) else { _exit(0) }
  }

  /// Says which program a process of the person runs. Owns `end`, and does not wait for it.
  private func say(_ process: Int32, to end: Int32) {
    defer { close(end) }
    let isPersons = ProcessFile.user(of: process) == user
    let path = Array((isPersons ? ProcessFile.executable(of: process) ?? "" : "").utf8)
    _ = unsafe path.withUnsafeBytes {
      unsafe send(end, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }

  /// Owns `end`. Where no helper starts, the keeper sees the end of the connection.
  private mutating func start(with end: Int32) {
    guard running.count < Self.mostHelpers else {
      _ = PAMChannel(owning: end).send(PAMReport.busyBytes)
      return
    }
    let process = spawn(with: end)
    let watch = process > 0 ? clinux_watch_process(process) : -1
    guard watch >= 0 else {
      close(end)
      guard process > 0 else { return }
      kill(process, SIGKILL)
      while waitpid(process, nil, 0) < 0, errno == EINTR {}
      return
    }
    running.append(Helper(process: process, watch: watch, end: end))
  }

  private func spawn(with end: Int32) -> pid_t {
    for path in [TrustedProgram.path(beside: "vault-pam"), CLINUX_INSTALLED_HELPER].compactMap(\.self) {
      do throws(TrustedProgram.Flaw) {
        let program = try TrustedProgram(path)
        return unsafe clinux_spawn_helper(program.descriptor, program.path, limit, end)
      } catch { guard error == .missing else { return -1 } }
    }
    return -1
  }
}
