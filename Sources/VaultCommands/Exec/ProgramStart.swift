package import CommandLineKit
import Glibc
package import SecretMemory
import VaultWords

/// What the process of `exec` becomes, and what it passes on: the program of its command line, whatever found its secrets.
///
/// In the agent, the secrets come as files in memory from there, and this process still takes the program and the places from its own
/// command line.
package struct ProgramStart {
  /// The program and its arguments.
  private let words: [String]
  /// Where the program finds each secret, in the order of the secrets.
  let handovers: [Handover]
  /// The descriptors that brought a secret to this process.
  private let channels: [Int32]
  private let ignoredBrokenPipes: Bool
  private let ignoredFileSizeSignal: Bool

  /// - Throws: Exit 2 if the command line names no program, or no place for a secret.
  init(_ invocation: Invocation, in world: World) throws(CommandError) {
    words = invocation.rest(Exec.program)
    guard !words.isEmpty else {
      throw .usage("PROGRAM is missing", hint: "write it behind --: vaultctl exec --fd 3=NAME -- PROGRAM")
    }
    handovers = try Handover.all(in: invocation)
    channels =
      Exec.secretOptions.compactMap { invocation[$0.descriptor] }
      + (Exec.secretOptions.compactMap { $0.file.flatMap { invocation[$0] } }
      + [Places(invocation: invocation, world: world).deviceKey].compactMap(\.self))
      .compactMap(SecretInput.descriptor(named:))
    ignoredBrokenPipes = world.ignoredBrokenPipes
    ignoredFileSizeSignal = world.ignoredFileSizeSignal
  }

  /// Becomes the program.
  ///
  /// - Parameter files: The secrets, as files in memory, in the order of ``handovers``.
  /// - Throws: Always: why this process is still vaultctl.
  func become(with files: [Int32]) throws(CommandError) {
    let taken = Set(handovers.compactMap(\.number))
    var image = ProgramImage(words)
    var passed: [(file: Int32, number: Int32?)] = []
    for (handover, file) in zip(handovers, files) {
      let file = try MemoryFile.moved(file, avoiding: taken)
      switch handover.place {
      case .value(let name): try Self.set(name, to: file, in: &image)
      case .descriptor(let number): passed.append((file, number))
      case .path(let name):
        passed.append((file, nil))
        image.set(name, to: try Self.path(of: file))
      }
    }
    try closeChannels()
    for (file, number) in passed {
      if let number { try MemoryFile.hand(over: file, as: number) } else { try MemoryFile.hand(over: file) }
    }
    if !ignoredBrokenPipes { signal(SIGPIPE, SIG_DFL) }
    if !ignoredFileSizeSignal { signal(SIGXFSZ, SIG_DFL) }
    throw CommandError(
      .io, "starting the program: \(systemMessage(image.become()))",
      hint: "look at its name and at PATH", code: "programNotStarted")
  }

  /// A path that the program and every process that it starts can open, as long as the program lives and keeps the descriptor:
  /// `/proc/self` would be the process that opens it. The program keeps the number of this process.
  ///
  /// - Throws: Exit 13 where `/proc` does not show this process: nobody could open the path.
  private static func path(of file: Int32) throws(CommandError) -> String {
    // The number in the namespace of the mounted /proc, which can be another one than that of getpid().
    var number = [CChar](repeating: 0, count: 16)
    let count = unsafe readlink("/proc/self", &number, number.count)
    guard count > 0, count < number.count else {
      throw CommandError(
        .io, "/proc does not show this process, so no path leads to a file in memory",
        hint: "mount /proc, or hand the secret over with --fd")
    }
    return "/proc/" + String(decoding: number.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      + "/fd/\(file)"
  }

  /// - Parameter file: Ends with this process, or when it becomes the program.
  private static func set(
    _ name: String, to file: Int32, in image: inout ProgramImage
  ) throws(CommandError) {
    guard image.set(name, to: SharedSecret(try MemoryFile.content(of: file))) else {
      throw .malformed(
        "the secret for --env has a NUL byte, which no variable can hold", hint: "use --fd or --file")
    }
  }

  /// What brought a secret to vaultctl is not for the program: a file could be read again.
  private func closeChannels() throws(CommandError) {
    for number in channels {
      guard number <= 2 else {
        close(number)
        continue
      }
      let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
      guard null >= 0, dup2(null, number) == number else { throw .io("opening /dev/null", errno: errno) }
      if null != number { close(null) }
    }
  }
}

extension ProgramStart {
  /// The same, where the command has done something before.
  ///
  /// - Parameter done: As the log names it.
  func become(with files: [Int32], after done: [String]) throws(CommandError) {
    do throws(CommandError) { try become(with: files) } catch {
      var told = error
      if told.exit == .io { told.sayWhatStays(done) }
      throw told
    }
  }
}

extension LocalHost {
  package func become(
    _ program: ProgramStart, with secrets: [SharedSecret], after done: [String]
  ) throws(CommandError) {
    var files: [Int32] = []
    for secret in secrets { files.append(try MemoryFile.make(secret)) }
    try program.become(with: files, after: done)
  }
}
