import CLinux
import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl exec -- PROGRAM …`: becomes the program. Returns only by an error.
func runExec(_ command: Command) throws -> Outcome {
  let words = command.invocation.arguments["PROGRAM"] ?? []
  guard !words.isEmpty else {
    throw CommandError.usage(
      "PROGRAM is missing", hint: "write it behind --: vaultctl exec --fd 3=NAME -- PROGRAM")
  }
  let handovers = try Handover.all(in: command.invocation)
  let secrets = try command.secrets(of: handovers)
  let numbers = Set(handovers.compactMap(\.number))
  var variables: [SharedSecret] = []
  var files: [(file: Int32, number: Int32?)] = []
  for (handover, secret) in zip(handovers, secrets) {
    switch handover.place {
    case .value(let name): variables.append(try assignment(name, secret))
    case .descriptor(let number):
      files.append((try MemoryFile.make(secret, avoiding: numbers), number))
    case .path(let name):
      let file = try MemoryFile.make(secret, avoiding: numbers)
      files.append((file, nil))
      variables.append(assignment(name, "/proc/self/fd/\(file)"))
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
    .io, "starting the program: \(systemMessage(become(words, variables)))",
    hint: "look at its name and at PATH", code: "programNotStarted")
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
    for option in ["fd", "file", "env"] {
      for (index, value) in invocation.list(option).enumerated() {
        let handover = try Handover(option, value, "--\(option) number \(index + 1)")
        let key = option == "fd" ? "\(handover.number ?? -1)" : String(value.prefix { $0 != "=" })
        guard seen.insert(key).inserted else {
          throw .usage("--\(option) names a place that is taken already", hint: "give each secret its own")
        }
        handovers.append(handover)
      }
    }
    guard !handovers.isEmpty else {
      throw .usage("nothing to hand over", hint: "give --fd N=NAME, --file VAR=NAME or --env VAR=NAME")
    }
    return handovers
  }

  private init(_ option: String, _ value: String, _ place: String) throws(CommandError) {
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
    let items = try vault.opened().read { transaction in
      try handovers.map { handover in
        do { return try transaction.item(named: handover.item) } catch let error as VaultError {
          guard error.code == .itemNotFound else { throw error }
          throw CommandError(
            .notFound, "there is no item with the name in \(handover.option)", hint: CommandError(error).hint)
        }
      }
    }
    return try items.map { try secret(of: $0) }
  }

  /// What brought a secret to vaultctl is not for the program: a file could be read again.
  fileprivate func closeChannels() throws(CommandError) {
    for channel in invocation.verb.allChannels {
      guard let number = invocation.text(channel.descriptorOption).flatMap({ Int32($0) }) else { continue }
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

/// `VAR=` and the secret, as the kernel takes it.
private func assignment(_ name: String, _ secret: SharedSecret) throws(CommandError) -> SharedSecret {
  let hasNUL = secret.expose { bytes in
    (0..<bytes.byteCount).contains { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
  }
  guard !hasNUL else {
    throw .malformed(
      "the secret for --env has a NUL byte, which no variable can hold", hint: "use --fd or --file")
  }
  let prefix = Array("\(name)=".utf8)
  return secret.expose { bytes in
    SharedSecret(
      SecretBytes(capacity: prefix.count + bytes.byteCount + 1) { output in
        for byte in prefix { output.append(byte: byte) }
        output.append(copying: bytes)
        output.append(byte: 0)
      })
  }
}

private func assignment(_ name: String, _ text: String) -> SharedSecret {
  SharedSecret(SecretBytes(copying: Array("\(name)=\(text)".utf8) + [0]))
}

/// Returns only when it failed: the error number.
private func become(_ words: [String], _ variables: [SharedSecret]) -> Int32 {
  let copies = unsafe words.map { unsafe strdup($0) } + [nil]
  return unsafe withPointers(to: variables[...], []) { added in
    unsafe copies.withUnsafeBufferPointer { words in
      _ = unsafe clinux_become(words.baseAddress!, added)
    }
    return errno
  }
}

/// The addresses of texts that stay where they are, in secret memory.
private func withPointers(
  to boxes: ArraySlice<SharedSecret>, _ before: [UnsafeMutablePointer<CChar>?],
  _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
) -> Int32 {
  guard let box = boxes.first else { return unsafe body(before + [nil]) }
  return box.expose { bytes in
    unsafe bytes.withUnsafeBytes { buffer in
      let start = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress!)
        .assumingMemoryBound(to: CChar.self)
      return unsafe withPointers(to: boxes.dropFirst(), before + [start], body)
    }
  }
}
