import Foundation
import TestSupport
import Testing
import VaultTestKit

extension Torture {
  /// One system call of a command, counted among those of its name from the start of the process.
  struct SystemCall: Sendable, CustomStringConvertible {
    let name: String
    let number: Int
    var description: String { "\(name) \(number)" }

    /// The calls that a command makes after the beginning of `main`.
    static func all(
      of scenario: Scenario, in home: ScenarioHome
    ) throws -> [SystemCall] {
      let log = home.folder + ".calls"
      defer { try? FileManager.default.removeItem(atPath: log) }
      try home.run(
        scenario.words, scenario.input,
        before: ["strace", "-f", "-qq", "-s", "0", "-e", "signal=none", "-o", log], exit: scenario.exit)
      return try inMain(String(contentsOfFile: log, encoding: .utf8))
    }

    struct NoMain: Error {}

    /// The calls of the first thread after the beginning of `main`, in a log of strace, with `-f` or without: strace counts the
    /// calls of each thread separately.
    ///
    /// `main` begins with the call that ends core dumps or, in `vault-torture`, with a look for a home directory.
    static func inMain(_ log: String) throws -> [SystemCall] {
      func begins(_ line: Substring) -> Bool {
        line.contains("prctl(PR_SET_DUMPABLE") || line.contains(", F_OK)")
      }
      let lines = log.split(separator: "\n")
      guard let thread = lines.first(where: begins)?.prefix(while: \.isNumber) else { throw NoMain() }
      var counts: [Substring: Int] = [:]
      var calls: [SystemCall] = []
      var isInMain = false
      for line in lines where thread.isEmpty || line.hasPrefix(thread + " ") {
        let text = line.dropFirst(thread.count).drop { $0 == " " }
        guard let end = text.firstIndex(of: "("), !text.hasPrefix("<"), !text.hasPrefix("+") else { continue }
        let name = text[..<end]
        counts[name, default: 0] += 1
        if isInMain { calls.append(SystemCall(name: String(name), number: counts[name]!)) }
        isInMain = isInMain || begins(line)
        // Later calls belong to another program.
        if isInMain, name == "execve" { break }
      }
      return calls
    }

    /// What starts a program whose first thread is killed as it begins this call, after all that it did before. What the program
    /// starts is not killed.
    var killing: [String] { signalling("SIGKILL") }

    /// The same with another signal.
    func signalling(_ signal: String) -> [String] {
      [
        "strace", "-qq", "-o", "/dev/null", "-e", "trace=\(name)", "-e",
        "inject=\(name):signal=\(signal):when=\(number)",
      ]
    }

    /// Calls that never fail: an error of theirs would be one of the test alone. `brk` returns the end of the memory,
    /// which the C library compares; calls that end the process have no result.
    private static let infallible: Set<String> = [
      "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "umask", "exit_group", "exit",
      "brk", "rt_sigreturn", "sched_yield", "alarm", "set_robust_list", "gettimeofday", "clock_gettime",
      "uname",
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

    /// Whether others notice it, or can do something meanwhile: wherever else a process is killed, it is the same to them.
    var isNoticed: Bool { isLasting || Self.noticed.contains(name) }

    private static let noticed: Set<String> = [
      "write", "fcntl", "flock", "read", "poll", "ppoll", "clone", "clone3", "vfork", "wait4", "waitid",
      "renameat",
      "linkat", "fchmod", "exit_group",
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

extension SeededRandom {
  /// In random order, the names in turn: what is called once counts as much as what is called a hundred times.
  func mixed<Element>(_ all: [Element], by name: (Element) -> String) -> [Element] {
    let names = Dictionary(grouping: all, by: name).sorted { $0.key < $1.key }.map { shuffled($0.value) }
    let turns = names.map(\.count).max() ?? 0
    return (0..<turns).flatMap { turn in shuffled(names.compactMap { turn < $0.count ? $0[turn] : nil }) }
  }

  private func shuffled<Element>(_ list: [Element]) -> [Element] {
    var list = list
    for index in list.indices.reversed() where index > 0 { list.swapAt(index, below(index + 1)) }
    return list
  }
}
