import TestSupport
import Testing

/// What ends a process, or changes what all of its threads share, has its place in a list with the reason.
///
/// In the agent many commands run in one process: a verb that ends it, or changes its signals, its directory or its environment, does
/// so for all of them. A verb gives an outcome instead (`Ending`), and what belongs to the process that the person started is behind
/// `Host`.
@Suite("What belongs to the whole process", .bounded)
struct ProcessStateTests {
  @Test(
    "nothing but the listed places ends a process or changes its signals, directory, mask, or environment")
  func places() throws {
    var unused = Set(Self.allowed.keys)
    for file in try Repository.files(below: "Sources") where Self.isLookedAt(file) {
      let found = Set(ProcessState.calls(in: try Repository.text(file)))
      let listed = Self.allowed[file]?.calls ?? []
      expect(found.subtracting(listed).sorted(), equals: [], "\(file) has no reason here")
      expect(listed.subtracting(found).sorted(), equals: [], "\(file) no longer needs this")
      unused.remove(file)
    }
    expect(unused.sorted(), equals: [], "an entry whose file is gone goes")
  }

  @Test(
    "a call is found wherever it is in a line",
    arguments: [
      ("    _exit(0)", ["_exit"]), ("    guard true else { Glibc.exit(1) }", ["exit"]),
      ("    if unsafe sigaction(SIGINT, &new, &old) == 0 { raise(SIGINT) }", ["sigaction", "raise"]),
      ("  const pid_t child = fork();", ["fork"]), ("    kill(getpid(), signal)", ["kill"]),
    ])
  func found(line: String, calls: [String]) {
    expect(ProcessState.calls(in: line), equals: calls)
  }

  @Test(
    "a value, a declaration, another process and a comment are no such calls",
    arguments: [
      "    return .exit(.done)", "  case signal(Int32)", "    var new = sigaction()",
      "  func exit(by code: Int32) {",
      "    kill(child, SIGKILL)", "  /// Calls fork().", "    wake.signal()", "    quickexit(1)",
    ])
  func other(line: String) {
    expect(ProcessState.calls(in: line), equals: [])
  }

  /// The tests of users are processes of their own, and so are the C headers' declarations.
  private static func isLookedAt(_ file: String) -> Bool {
    (file.hasSuffix(".swift") || file.hasSuffix(".c")) && !file.hasPrefix("Sources/VaultTestKit/")
  }

  /// The calls that a file may make, and the reason.
  private static let allowed: [String: (calls: Set<String>, reason: String)] = [
    // Programs of one task each, which are their whole process.
    "Sources/PAMHelper/PAMHelper.swift": (["_exit", "dup2"], "vault-pam: its process serves one question"),
    "Sources/HTTPTransport/HTTPTransport.swift": (
      ["_exit", "signal"], "vault-http: its process is one request"
    ),
    "Sources/HTTPTransport/Environment.swift": (
      ["setenv"], "vault-http: libcurl reads no variables of the caller"
    ),
    "Sources/KeeperPlacement/KeeperPlacement.swift": (
      ["_exit", "umask"], "main of vault-keeper, which becomes another program"
    ),
    "Sources/KeeperPlacement/KeeperLogins.swift": (
      ["_exit", "dup2"], "the process of root beside a keeper, which starts helpers"
    ),
    "Sources/KeeperPlacement/KeeperStart.swift": (["chdir"], "becomes another program"),
    // What main calls, before a command runs and after it.
    "Sources/VaultCommands/VaultControl.swift": (["_exit", "signal"], "main of vaultctl"),
    "Sources/CommandLineKit/Output/Pager.swift": (
      ["signal"], "vaultctl alone: Ctrl-C is the pager's while it runs, as a shell does it"
    ),
    "Sources/CommandLineKit/ThisProcess.swift": (
      ["_exit", "exit", "raise", "sigaction", "signal"], "called by main of vaultctl and by ProcessSignals"
    ),
    "Sources/SecretMemory/ProcessHardening.swift": (
      ["signal"], "called by main: no handler may write a core"
    ),
    "Sources/VaultAgent/VaultAgent.swift": (["_exit", "signal", "umask"], "main of the agent"),
    "Sources/VaultAgent/Process/StopSignals.swift": (
      ["sigaction"], "the agent's own signals, set up by its main"
    ),
    // What only the process that the person started does: no request of the agent comes here.
    "Sources/VaultCommands/World/ProcessSignals.swift": (
      ["_exit", "raise", "sigaction", "signal"], "the signals of a process that runs one command"
    ),
    "Sources/VaultCommands/Agent/AgentSignals.swift": (
      ["sigaction"], "the signals of a process whose command runs in the agent"
    ),
    "Sources/VaultCommands/Exec/ProgramStart.swift": (
      ["dup2"], "becomes the program, in the process that the person started alone"
    ),
    "Sources/CommandLineKit/Secrets/ProgramImage.swift": (
      ["signal"], "becomes the program of exec: called by ProgramStart"
    ),
    "Sources/CommandLineKit/Masking/MaskedProgram.swift": (
      ["dup2"], "stays while the program of exec runs: called by ProgramStart"
    ),
    "Sources/CommandLineKit/Secrets/MemoryFile.swift": (
      ["dup2"], "hands a descriptor to the program of exec"
    ),
    "Sources/CommandLineKit/Clipboard/ClipboardWatch.swift": (
      ["_exit"], "ends the child that clears the clipboard"
    ),
    "Sources/VaultPrompts/Waiting/PromptSignals.swift": (
      ["kill", "sigaction"], "a prompt turns signals into bytes, and gives back those that it did not use"
    ),
    "Sources/VaultPrompts/Terminal/JobControl.swift": (["raise", "sigaction"], "Ctrl-Z in a prompt"),
    "Sources/VaultPrompts/Fingerprint/FingerVerification.swift": (
      ["raise"], "Ctrl-Z while a finger is awaited"
    ),
    // C: children between fork and exec, and the terminal's guard against faults.
    "Sources/CSystem/CLinux/CLinuxProcesses.c": (
      ["_exit", "dup2", "fork", "sigaction", "vfork"], "children on their way to a program"
    ),
    "Sources/CSystem/CLinux/CLinuxProgram.c": (
      ["_exit", "dup2", "kill", "sigaction", "vfork"],
      "a process that stays while the program of exec runs, and its child on the way to the program"
    ),
    "Sources/CSystem/CLinux/CLinuxAgent.c": (
      ["_exit", "chdir", "dup2", "fork", "sigaction"], "the child that becomes the agent"
    ),
    "Sources/CSystem/CLinux/CLinuxTerminal.c": (
      ["_exit", "fork", "raise", "sigaction", "signal"],
      "a fault in a prompt restores the terminal first; the child that hangs up a terminal"
    ),
    "Sources/CSystem/CSecretService/CSecretService.c": (["abort"], "out of memory in the C library"),
  ]
}

private enum ProcessState {
  /// The names of the calls of a source, line by line.
  static func calls(in source: String) -> [String] {
    source.split(separator: "\n").filter { !isComment($0) }.flatMap(calls(inLine:))
  }

  private static func isComment(_ line: Substring) -> Bool {
    let text = line.drop { $0 == " " }
    return text.hasPrefix("//") || text.hasPrefix("*") || text.hasPrefix("/*")
  }

  private static func calls(inLine line: Substring) -> [String] {
    // The search for a parenthesis first: the regular expression is slow.
    guard line.holds("(") else { return [] }
    return line.matches(of: call).filter { match in
      let isDeclared = ["func", "case"].contains { match.before == "\($0) " }
      let isEmpty = match.name == "sigaction" && line[match.range.upperBound...].hasPrefix(")")
      let isOther = match.name == "kill" && !line[match.range.upperBound...].hasPrefix("getpid")
      return !isDeclared && !isEmpty && !isOther
    }.map { String($0.name) }
  }

  /// A word that stands by itself: `.exit(` is a value, `quickexit(` another function.
  private static var call: Regex<(Substring, before: Substring, name: Substring)> {
    /(?<before>^|func |case |Glibc\.|[^\w.])(?<name>_exit|exit|raise|signal|sigaction|v?fork|f?chdir|umask|setenv|unsetenv|putenv|abort|dup2|kill)\(/
  }
}
