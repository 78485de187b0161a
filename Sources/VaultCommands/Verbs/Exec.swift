import CLinux
import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl exec -- PROGRAM …`: becomes the program. Returns only by an error.
enum Exec: VaultVerb {
  static let words = ["exec"]
  static let summary = "Run a program that gets secrets as sealed files in memory."
  static let program = Argument(
    "PROGRAM", .program, "The program and its arguments, after --.", takesRest: true)
  static let arguments = [program]
  static let fd = Settings(
    "fd", .placeAndName, "N=NAME", "Hand over the secret of NAME as descriptor N: 0, or 3 and more.")
  static let file = Settings(
    "file", .placeAndName, "VAR=NAME",
    "Hand over the secret of NAME as a file in memory, whose path is in the variable VAR.")
  static let env = Settings(
    "env", .placeAndName, "VAR=NAME",
    "Put the secret of NAME into the variable VAR itself, where every program of the same user can "
      + "read it while the program runs.")
  static let ownOptions: [any OptionKey] = [fd, file, env]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let runsIn = RunPlace.client
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.notFound, .expired, .refused, .malformed]
  static let notes = [
    "A memory file is on no disk. Its mode is 0400, and it is sealed: no program can change it. It begins at its first "
      + "byte and can be read again through its path, /proc/self/fd/N. Programs that the program starts inherit it. The path "
      + "does not work in a program that closes descriptors which it did not open, as ssh does: use ssh-add for a key.",
    "vaultctl becomes the program, so the exit code is the program's and signals reach it directly. The "
      + "vault is closed before, and so is a descriptor that gave the passcode; other descriptors stay "
      + "open. The program leaves no core dump.",
    "The exit code is 13 when the program cannot be started.",
  ]
  static let example = "vaultctl exec --fd 3=mail -- sh -c 'wc -c <&3'"
  static let allowedInBatch = false
  static let namesCommand: String? = NamesCommand.text()

  static func run(_ command: Command) throws -> Outcome {
    let words = command.invocation.rest(program)
    guard !words.isEmpty else {
      throw CommandError.usage(
        "PROGRAM is missing", hint: "write it behind --: vaultctl exec --fd 3=NAME -- PROGRAM")
    }
    let handovers = try Handover.all(in: command.invocation)
    let secrets = try command.secrets(of: handovers)
    let numbers = Set(handovers.compactMap(\.number))
    var image = ProgramImage(words)
    var files: [(file: Int32, number: Int32?)] = []
    for (handover, secret) in zip(handovers, secrets) {
      switch handover.place {
      case .value(let name):
        guard image.set(name, to: secret) else {
          throw CommandError.malformed(
            "the secret for --env has a NUL byte, which no variable can hold", hint: "use --fd or --file")
        }
      case .descriptor(let number):
        files.append((try MemoryFile.make(secret, avoiding: numbers), number))
      case .path(let name):
        let file = try MemoryFile.make(secret, avoiding: numbers)
        files.append((file, nil))
        image.set(name, to: "/proc/self/fd/\(file)")
      }
    }
    command.vault.close()
    try command.closeChannels()
    for (file, number) in files {
      if let number { try MemoryFile.hand(over: file, as: number) } else { try MemoryFile.hand(over: file) }
    }
    if !command.world.ignoredBrokenPipes { signal(SIGPIPE, SIG_DFL) }
    if !command.world.ignoredFileSizeSignal { signal(SIGXFSZ, SIG_DFL) }
    throw CommandError(
      .io, "starting the program: \(systemMessage(image.become()))",
      hint: "look at its name and at PATH", code: "programNotStarted")
  }
}

/// One secret and where the program finds it.
private struct Handover {
  enum Place {
    case descriptor(Int32)
    case path(in: String)
    case value(of: String)
  }

  let option: String
  let place: Place
  let item: String

  var number: Int32? { if case .descriptor(let number) = place { number } else { nil } }

  static func all(in invocation: Invocation) throws(CommandError) -> [Handover] {
    var handovers: [Handover] = []
    var seen: Set<String> = []
    for option in [Exec.fd, Exec.file, Exec.env] {
      for (index, value) in invocation[option].enumerated() {
        let handover = try Handover(value, of: option.name, named: "\(option.shown) number \(index + 1)")
        let key =
          option.name == Exec.fd.name ? "\(handover.number ?? -1)" : String(value.prefix { $0 != "=" })
        guard seen.insert(key).inserted else {
          throw .usage(
            "\(option.shown) names a place that is taken already", hint: "give each secret its own")
        }
        handovers.append(handover)
      }
    }
    guard !handovers.isEmpty else {
      throw .usage("nothing to hand over", hint: "give --fd N=NAME, --file VAR=NAME or --env VAR=NAME")
    }
    return handovers
  }

  private init(_ value: String, of option: String, named place: String) throws(CommandError) {
    guard let equals = value.firstIndex(of: "=") else {
      throw .usage(
        "\(place) has no =", hint: option == "fd" ? "write --fd 3=NAME" : "write --\(option) VAR=NAME")
    }
    let left = String(value[..<equals])
    item = String(value[value.index(after: equals)...])
    self.option = place
    try Names.check(item, named: "the name in \(place)")
    if option == "fd" {
      guard let number = Int32(left), left.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        number == 0 || number > 2
      else { throw .usage("\(place) takes descriptor 0, or 3 and more") }
      self.place = .descriptor(number)
    } else {
      guard Self.isVariable(left) else {
        throw .usage(
          "\(place) names no variable", hint: "a variable has letters, digits and _, and no digit first")
      }
      self.place = option == "file" ? .path(in: left) : .value(of: left)
    }
  }

  private static func isVariable(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.enumerated().allSatisfy { index, byte in
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x5F: true
        case 0x30...0x39: index > 0
        default: false
        }
      }
  }
}

extension Command {
  /// Every name is looked up before the passcode is asked for.
  fileprivate func secrets(of handovers: [Handover]) throws -> [SharedSecret] {
    let core = try vault.opened()
    let items = try handovers.map { handover in
      do { return try core.item(named: handover.item) } catch let error as VaultError {
        guard error.code == .itemNotFound else { throw error }
        throw CommandError(
          .notFound, "there is no item with the name in \(handover.option)", hint: CommandError(error).hint)
      }
    }
    return try items.map { try secret(of: $0) }
  }

  /// What brought a secret to vaultctl is not for the program: a file could be read again.
  fileprivate func closeChannels() throws(CommandError) {
    for channel in verb.allChannels {
      guard let number = self[channel.options.descriptor] else { continue }
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
