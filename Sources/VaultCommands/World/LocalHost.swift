package import CommandLineKit
import Glibc
import SecretMemory
package import TransportPrograms
package import VaultKit
package import VaultPrompts
import VaultWords

/// The host of a command that runs in the process that the person started.
package struct LocalHost: Host {
  let environment: Environment
  /// The path of the terminal that prompts open.
  package var terminalPath = "/dev/tty"
  /// The questions of that terminal that ended early; nil for a terminal of the person.
  package var cuts: CutQuestions?
  /// How members other than phrases are verified: the login password by PAM, fingers by the reader.
  package var pam = PAMPresence()
  package var biometry: any BiometrySource
  /// How long a program of the clipboard may take.
  package var clipboardPatience = ClipboardProgram.usualPatience
  /// Waits for the seconds of `--copy` in the process that clears the clipboard; `nil` for the clock of this machine.
  package var clipboardWait: (@Sendable (_ seconds: Int64) -> Void)?

  package init(environment: Environment) {
    self.environment = environment
    // In the place of a keeper, that of the person whom it serves: root sets both.
    let person = environment["VAULTD_PERSON"]
    biometry = FprintdSource(of: person ?? "")
    if let person {
      pam = PAMPresence(
        user: person, helper: .ofKeeper(PAMStarter(number: environment["VAULTD_LOGINS"])))
    }
  }

  package var presence: any PresenceSource { pam }

  package func prompt(_ way: AutomaticPrompt.Way) -> any HostPrompt { automaticPrompt(way) }

  /// The prompt, for what looks at who can be asked.
  func automaticPrompt(_ way: AutomaticPrompt.Way = .automatic) -> AutomaticPrompt {
    let environment = environment
    return AutomaticPrompt(terminalPath: terminalPath, way: way, cuts: cuts) { environment[$0] }
  }

  package func lend<R: ~Copyable>(
    _ file: HostFile, _ body: (Int32) throws(CommandError) -> R
  ) throws(CommandError) -> R {
    if case .descriptor(let number) = file { return try body(number) }
    let descriptor = try open(file)
    defer { close(descriptor) }
    return try body(descriptor)
  }

  package func exists(_ path: String) throws(CommandError) -> Bool { try FilePlace.exists(path) }

  package func isOwn(_ path: String) -> Bool { OwnFile.isOurs(path) }

  package func makeFile(
    _ path: String, interruption: Interruption
  ) throws(CommandError) -> any UnfinishedFile {
    try NewFile(path, interruption: interruption)
  }

  package func removeFile(_ path: String) { _ = unsafe unlink(path) }

  package func programs(within time: Duration) -> any ProgramRunner {
    endTransportsOnSignals()
    return LocalRunner(.init(time: time))
  }

  package func holdingEndingSignal<R, E: Error>(
    for seconds: Int, _ body: () throws(E) -> R
  ) throws(E) -> R {
    try VaultPrompts.holdingEndingSignal(for: seconds, body)
  }
}

extension LocalHost {
  /// Opens a file by the rules of what it holds, for whoever closes it.
  package func open(_ file: HostFile) throws(CommandError) -> Int32 {
    switch file {
    case .descriptor(let number):
      let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { throw .io("using descriptor \(number)", errno: errno) }
      return copy
    case .secret(let path, let channel): return try SecretFile.open(path, of: channel)
    case .credential(let path, let name): return try SecretFile.openCredential(path, named: name)
    case .readable(let path, let doing):
      let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { throw .io(doing, errno: errno) }
      return descriptor
    case .data(let path, let option): return try Self.openData(path, of: option)
    }
  }

  private static func openData(_ path: String, of option: String) throws(CommandError) -> Int32 {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw .io("\(option), \(printable(path))", errno: errno) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
      return descriptor
    }
    close(descriptor)
    let kind = [S_IFDIR: "a directory", S_IFIFO: "a pipe"][status.st_mode & S_IFMT] ?? "a device"
    throw .malformed(
      "\(option): \(printable(path)) is \(kind), and no file",
      hint: "name a file; a pipe is read by its descriptor: 3< <(COMMAND)")
  }
}
