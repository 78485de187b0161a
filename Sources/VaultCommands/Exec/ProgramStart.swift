package import CommandLineKit
import Glibc
import SecretMemory
import VaultKit
import VaultWords

/// What the process of `exec` becomes or starts, and what it passes on: the program of its command line, whatever found its secrets.
///
/// In the agent, the secrets come as files in memory from there, and this process still takes the program and the places from its own
/// command line.
package struct ProgramStart {
  /// The program and its arguments.
  private let words: [String]
  /// Where the program finds each value.
  private let handovers: [Handover]
  /// The variables that get a reference in braces as it is.
  let withBraces: [String]
  /// The descriptors that brought a secret to this process.
  private let channels: [Int32]
  /// Whether secrets are concealed in the output.
  private let conceals: Bool
  private let ignoredBrokenPipes: Bool
  private let ignoredFileSizeSignal: Bool

  /// - Parameter file: What `--env-file` names, if it was read already: a pipe can be read once.
  /// - Throws: Exit 2 if the command line names no program, or no place for a secret; exit 12 for a name, a reference or a line.
  init(
    _ invocation: Invocation, in world: World, reading file: SharedSecret? = nil
  ) throws(CommandError) {
    words = invocation.rest(Exec.program)
    guard !words.isEmpty else {
      throw .usage("PROGRAM is missing", hint: "write it behind --: vaultctl run --fd 3=NAME -- PROGRAM")
    }
    let variables: EnvironmentFile?
    if let file {
      variables = try EnvironmentFile(file)
    } else {
      variables = try EnvironmentFile(of: invocation, in: world)
    }
    withBraces = variables?.withBraces ?? []
    handovers = try Handover.all(in: invocation, and: variables)
    channels =
      Exec.secretOptions.compactMap { invocation[$0.descriptor] }
      + (Exec.secretOptions.compactMap { $0.file.flatMap { invocation[$0] } }
      + [invocation[Exec.environmentFile], Places(invocation: invocation, world: world).deviceKey]
      .compactMap(\.self))
      .compactMap(SecretInput.descriptor(named:))
    conceals = !invocation[Exec.noMasking]
    ignoredBrokenPipes = world.ignoredBrokenPipes
    ignoredFileSizeSignal = world.ignoredFileSizeSignal
  }

  /// What the vault gives, in the order in which it is handed over.
  var wanted: [(origin: String, value: WantedValue)] {
    handovers.compactMap { handover in handover.wanted.map { (handover.origin, $0) } }
  }

  /// Becomes the program; where secrets are concealed in its output, starts it, and ends as it ends.
  ///
  /// - Parameter files: The secrets, as files in memory, in the order of ``wanted``.
  /// - Throws: Always: why this process is still vaultctl.
  func become(with files: [HandedFile]) throws(CommandError) {
    var image = ProgramImage(words)
    (image.ignoresBrokenPipes, image.ignoresFileSizes) = (ignoredBrokenPipes, ignoredFileSizeSignal)
    let looks = conceals && MaskedProgram.isNeeded && files.contains(where: \.isConcealed)
    let concealed = try hand(files, to: &image, keepingConcealed: looks)
    try closeChannels()
    guard let mask = SecretMask(concealed) else { return try image.become() }
    switch try MaskedProgram(image, concealing: mask).run() {
    case .exit(let code): ThisProcess.end(with: code)
    case .signal(let number): ThisProcess.end(by: number)
    }
  }

  /// - Returns: The secrets that are to be concealed, if they are kept.
  private func hand(
    _ files: [HandedFile], to image: inout ProgramImage, keepingConcealed keeps: Bool
  ) throws(CommandError) -> [SharedSecret] {
    let taken = Set(handovers.compactMap(\.number))
    var (rest, concealed) = (files[...], [SharedSecret]())
    for handover in handovers {
      if case .text(let text) = handover.source {
        guard case .value(let name) = handover.place else { continue }
        try image.set(name, to: text)
        continue
      }
      guard let given = rest.popFirst() else {
        preconditionFailure("ProgramStart.become(with:): a file is missing")
      }
      var file = given.file
      if keeps, given.isConcealed { concealed.append(try MemoryFile.seen(&file)) }
      file = try MemoryFile.moved(file, avoiding: taken)
      switch handover.place {
      case .value(let name): try image.set(name, to: SharedSecret(try MemoryFile.content(of: file)))
      case .path(let name): image.set(name, toPathOf: file)
      case .descriptor(let number): image.pass(file, as: number)
      }
    }
    return concealed
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
  func become(with files: [HandedFile], after done: [String]) throws(CommandError) {
    do throws(CommandError) { try become(with: files) } catch {
      var told = error
      if [.io, .programNotRun, .programNotFound].contains(told.exit) { told.sayWhatStays(done) }
      throw told
    }
  }
}

extension LocalHost {
  package func become(
    _ program: ProgramStart, with secrets: [HandedSecret], after done: [String]
  ) throws(CommandError) {
    var files: [HandedFile] = []
    for handed in secrets {
      files.append(HandedFile(file: try MemoryFile.make(handed.secret), isConcealed: handed.isConcealed))
    }
    try program.become(with: files, after: done)
  }
}
