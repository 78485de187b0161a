import CLinux
import Glibc
package import SecretMemory
import TextFormats

/// A program that this process becomes or starts, with variables that hold secrets, and with secrets in descriptors.
package struct ProgramImage {
  private let words: [String]
  private var variables: [SharedSecret] = []
  private var paths: [(name: String, file: Int32)] = []
  private var passed: [(file: Int32, number: Int32?)] = []
  /// Whether the program ignores these signals, which this process ignores.
  package var (ignoresBrokenPipes, ignoresFileSizes) = (false, false)

  package init(_ words: [String]) { self.words = words }

  /// Sets a variable to a secret.
  ///
  /// - Throws: Exit 12 for a secret with a NUL byte, which no variable can hold, or with a line break, which no line of variables holds.
  package mutating func set(_ name: String, to secret: SharedSecret) throws(CommandError) {
    if let flaw = secret.expose(Self.flaw(ofVariable:)) {
      throw .malformed("the value for the variable \(name) has \(flaw)", hint: "use --file \(name)=… or --fd")
    }
    let prefix = Array("\(name)=".utf8)
    variables.append(
      secret.expose { bytes in
        SharedSecret(
          SecretBytes(capacity: prefix.count + bytes.byteCount + 1) { output in
            for byte in prefix { output.append(byte: byte) }
            output.append(copying: bytes)
            output.append(byte: 0)
          })
      })
  }

  private static func flaw(ofVariable bytes: RawSpan) -> String? {
    for offset in 0..<bytes.byteCount {
      switch unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) {
      case 0: return "a NUL byte, which no variable can hold"
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        return "a line break, which programs read as the end of a variable"
      default: continue
      }
    }
    return nil
  }

  /// Lets the program inherit a file, under a number or under its own.
  package mutating func pass(_ file: Int32, as number: Int32? = nil) { passed.append((file, number)) }

  /// Lets the program inherit a file, and sets a variable to its path: one that the program and every process that it starts can open, as
  /// long as the program lives and keeps the descriptor. `/proc/self` would be the process that opens it.
  package mutating func set(_ name: String, toPathOf file: Int32) {
    pass(file)
    paths.append((name, file))
  }
}

// MARK: Becoming the program

extension ProgramImage {
  /// Becomes the program.
  ///
  /// - Throws: Always: exit 127 if there is no such program, 126 if it cannot be run, 13 if the system has no room for it, or 2 for a
  ///   number that this process may not open.
  package func become() throws(CommandError) {
    // The program keeps the number of this process.
    let variables =
      try variables
      + paths.map { path throws(CommandError) in
        let text = "\(path.name)=\(Self.processes)\(try Self.number)\(Self.files)\(path.file)"
        return SharedSecret(SecretBytes(copying: Array(text.utf8) + [0]))
      }
    for (file, number) in passed {
      if let number { try MemoryFile.hand(over: file, as: number) } else { try MemoryFile.hand(over: file) }
    }
    if !ignoresBrokenPipes { signal(SIGPIPE, SIG_DFL) }
    if !ignoresFileSizes { signal(SIGXFSZ, SIG_DFL) }
    let code = unsafe withWords { words in
      unsafe Self.withPointers(to: variables[...], after: []) { added in
        _ = unsafe clinux_become(words, added)
        return errno
      }
    }
    throw notStarted(code)
  }

  private static let (processes, files) = ("/proc/", "/fd/")

  /// The number of this process in the namespace of the mounted /proc, which can be another one than that of getpid().
  ///
  /// - Throws: Exit 13 where `/proc` does not show this process: nobody could open a path in it.
  private static var number: String {
    get throws(CommandError) {
      var number = [CChar](repeating: 0, count: 16)
      let count = unsafe readlink("/proc/self", &number, number.count)
      guard count > 0, count < number.count else {
        throw CommandError(
          .io, "/proc does not show this process, so no path leads to a file in memory",
          hint: "mount /proc, or hand the secret over with --fd")
      }
      return String(decoding: number.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// The exit codes are those of shells.
  private func notStarted(_ code: Int32) -> CommandError {
    let name = words.first ?? ""
    switch code {
    case ENOENT, ENOTDIR:
      return CommandError(
        .programNotFound, "there is no program '\(name)'", hint: "look at its name and at PATH")
    case ENOMEM, EAGAIN, EMFILE, ENFILE, EIO, EINTR:
      return CommandError(
        .io, "starting the program '\(name)': \(systemMessage(code))", code: "programNotStarted")
    default:
      return CommandError(
        .programNotRun, "the program '\(name)' cannot be run: \(systemMessage(code))",
        hint: "look at its mode and at its first line")
    }
  }
}

// MARK: Starting the program

extension ProgramImage {
  /// Starts the program as a child that ends with this process. Signals that would end, stop or continue this process are sent on to it.
  ///
  /// - Parameters:
  ///   - output: Its standard output; -1 for that of this process.
  ///   - error: Its standard error; -1 for that of this process.
  /// - Returns: The number of its process.
  /// - Throws: As ``become()``.
  func start(output: Int32, error: Int32) throws(CommandError) -> pid_t {
    // The new process would find no better answer.
    if !paths.isEmpty { _ = try Self.number }
    let texts = unsafe paths.map { unsafe Self.roomForNumber(in: $0.name, $0.file) }
    defer { unsafe texts.forEach { unsafe free($0.variable) } }
    var problem = 0
    let process = unsafe withWords { words in
      unsafe Self.withPointers(to: variables[...], after: texts.map { unsafe $0.variable }) { added in
        unsafe Self.start(words, added, texts, passed, output, error, self, &problem)
      }
    }
    guard process < 0 else { return process }
    let code = errno
    guard problem < passed.count else { throw notStarted(code) }
    throw MemoryFile.notHandedOver(as: passed[problem].number, code)
  }

  private static func start(
    _ words: UnsafePointer<UnsafeMutablePointer<CChar>?>, _ added: [UnsafeMutablePointer<CChar>?],
    _ texts: [clinux_own_path], _ passed: [(file: Int32, number: Int32?)], _ output: Int32, _ error: Int32,
    _ image: ProgramImage, _ problem: inout Int
  ) -> pid_t {
    let passed = passed.map { clinux_passed(descriptor: $0.file, number: $0.number ?? -1) }
    return unsafe added.withUnsafeBufferPointer { added in
      unsafe texts.withUnsafeBufferPointer { texts in
        unsafe passed.withUnsafeBufferPointer { passed in
          var program = unsafe clinux_program(
            words: words, added: added.baseAddress, paths: texts.baseAddress, path_count: texts.count,
            passed: passed.baseAddress, passed_count: passed.count, output: output, error: error,
            ignores_broken_pipes: image.ignoresBrokenPipes, ignores_file_sizes: image.ignoresFileSizes)
          return unsafe clinux_start_program(&program, &problem)
        }
      }
    }
  }

  /// A variable with the path of a file, but for the number of the process.
  private static func roomForNumber(in name: String, _ file: Int32) -> clinux_own_path {
    let beginning = "\(name)=\(processes)"
    let text = Array("\(beginning)\(files)\(file)".utf8)
    let memory = unsafe calloc(text.count + Int(clinux_most_digits) + 1, 1)!
      .assumingMemoryBound(to: UInt8.self)
    unsafe memory.update(from: text, count: text.count)
    return unsafe clinux_own_path(
      variable: UnsafeMutableRawPointer(memory).assumingMemoryBound(to: CChar.self),
      place: beginning.utf8.count)
  }
}

// MARK: Words and variables, as the kernel takes them

extension ProgramImage {
  private func withWords<R>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
    let copies = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }

  /// The addresses of texts that stay where they are, in secret memory.
  private static func withPointers(
    to boxes: ArraySlice<SharedSecret>, after before: [UnsafeMutablePointer<CChar>?],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
  ) -> Int32 {
    guard let box = boxes.first else { return unsafe body(before + [nil]) }
    return box.expose { bytes in
      unsafe bytes.withUnsafeBytes { buffer in
        let start = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress!)
          .assumingMemoryBound(to: CChar.self)
        return unsafe withPointers(to: boxes.dropFirst(), after: before + [start], body)
      }
    }
  }
}
