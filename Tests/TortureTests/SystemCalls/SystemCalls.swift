import Foundation
import Testing

extension Torture {
  /// One system call of a command, counted among those of its name from the start of the process.
  struct SystemCall: Sendable, CustomStringConvertible {
    let name: String
    let number: Int
    var description: String { "\(name) \(number)" }

    /// The calls that a command makes after the beginning of `main`, which is the call that ends core dumps.
    static func all(
      of scenario: Scenario, in home: ScenarioHome
    ) throws -> [SystemCall] {
      let log = home.folder + ".calls"
      defer { try? FileManager.default.removeItem(atPath: log) }
      try home.run(
        scenario.words, scenario.input,
        before: ["strace", "-f", "-qq", "-s", "0", "-e", "signal=none", "-o", log], exit: scenario.exit)
      return try after(main: String(contentsOfFile: log, encoding: .utf8))
    }

    struct NoMain: Error {}

    private static func after(main log: String) throws -> [SystemCall] {
      let lines = log.split(separator: "\n")
      guard let main = lines.first(where: { $0.contains("prctl(PR_SET_DUMPABLE") })?.prefix(while: \.isNumber)
      else { throw NoMain() }
      var counts: [Substring: Int] = [:]
      var calls: [SystemCall] = []
      var isInMain = false
      // strace counts the calls of each thread separately; only those of the first thread are counted here.
      for line in lines where line.hasPrefix(main + " ") {
        let text = line.dropFirst(main.count).drop { $0 == " " }
        guard let end = text.firstIndex(of: "("), !text.hasPrefix("<"), !text.hasPrefix("+") else { continue }
        let name = text[..<end]
        counts[name, default: 0] += 1
        if isInMain { calls.append(SystemCall(name: String(name), number: counts[name]!)) }
        isInMain = isInMain || text.hasPrefix("prctl(PR_SET_DUMPABLE")
        // Later calls belong to another program.
        if isInMain, name == "execve" { break }
      }
      return calls
    }

    /// Calls that never fail: an error of theirs would be one of the test alone. `brk` returns the end of the memory,
    /// which the C library compares; calls that end the process have no result.
    private static let infallible: Set<String> = [
      "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "umask", "exit_group", "exit",
      "brk", "rt_sigreturn", "sched_yield", "alarm", "set_robust_list", "gettimeofday", "uname",
    ]
    /// Failing with these errors is not in their nature, and the C library treats them as wrong use of itself.
    private static let ofTheLibrary: Set<String> = ["futex", "rt_sigprocmask", "rt_sigaction", "rseq"]

    /// SYSTEM_CALLS_CALL narrows a run to the calls of one name.
    var isChosen: Bool { Self.chosen == nil || Self.chosen == name }

    private static let chosen = ProcessInfo.processInfo.environment["SYSTEM_CALLS_CALL"]

    var reads: Bool { ["pread64", "read", "mmap"].contains(name) }

    var canFail: Bool { !Self.infallible.contains(name) && !Self.ofTheLibrary.contains(name) }

    /// Whether it changes what is on the disk: the short form takes these alone.
    var isLasting: Bool { Self.lasting.contains(name) }

    private static let lasting: Set<String> = [
      "openat", "fsync", "fdatasync", "pwrite64", "ftruncate", "rename", "renameat2", "unlink", "unlinkat",
      "link", "mkdir",
    ]

    /// Without memory a Swift process ends by a trap; all other checks hold.
    var givesMemory: Bool { ["mmap", "mremap", "munmap", "mprotect", "madvise"].contains(name) }
  }

  /// What happens at a system call.
  enum CallFault: String, CaseIterable, Sendable {
    case inputOutput = "EIO"
    case noSpace = "ENOSPC"
    case interrupted = "EINTR"
    case manyFiles = "EMFILE"
    case noAccess = "EACCES"
    case killed = "KILL"
    /// The synchronization of a commit fails, and the power after it: the commit may be found all the same.
    case failedCommit = "EIO+crash"

    /// For the option `inject` of strace.
    var injection: String {
      switch self {
      case .killed: "signal=SIGKILL"
      case .failedCommit: "error=EIO"
      default: "error=\(rawValue)"
      }
    }

    /// How many calls of a verb it hits at least, where there are so many.
    var least: Int { self == .failedCommit ? 1 : 20 }

    func canHit(_ call: SystemCall) -> Bool {
      switch self {
      case .killed: true
      case .failedCommit: call.name == "fdatasync"
      default: call.canFail
      }
    }
  }
}
