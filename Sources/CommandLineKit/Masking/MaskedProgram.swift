import CLinux
import Dispatch
import Glibc
import SecretMemory

/// A program in whose output secrets are concealed. This process starts it, stays until it ends, and passes on its output and signals.
///
/// Where an output is a terminal or `/dev/null`, the program has it itself. If standard output and standard error lead to the same file,
/// they share a pipe, so that their order stays.
package struct MaskedProgram {
  /// How the program ended.
  package enum End: Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  private let image: ProgramImage
  private let mask: SecretMask

  package init(_ image: ProgramImage, concealing mask: SecretMask) { (self.image, self.mask) = (image, mask) }

  /// Whether an output of this process is anything in which a secret is concealed.
  package static var isNeeded: Bool { outputs.contains(where: isMasked) }

  /// Runs it. Ends when it has ended and nothing has its outputs open any more, as for a program in a pipeline.
  ///
  /// From its start on, this process has nothing open that the program inherited, standard output and standard error excepted.
  ///
  /// - Throws: As ``ProgramImage/become()`` if it does not start, and exit 13 if a part of its output could not be written although it ended with 0.
  package func run() throws(CommandError) -> End {
    let pipes = try MaskedPipes()
    let process: pid_t
    do throws(CommandError) {
      process = try image.start(output: pipes.writing(for: 1), error: pipes.writing(for: 2))
    } catch {
      pipes.closeAll()
      throw error
    }
    pipes.closeWriting()
    // Whoever waits for the end of one of them waits for the program alone.
    clinux_close_inherited()
    Self.replace(0)
    let relays = pipes.all.map { MaskedRelay(from: $0.reading, to: $0.numbers[0], mask) }
    let group = DispatchGroup()
    for (relay, pipe) in zip(relays, pipes.all) {
      // A thread for each: one that waits for its reader does not hold up the other.
      DispatchQueue(label: "output \(pipe.numbers[0])").async(group: group) {
        relay.run()
        // What reads the output finds its end now, not when the program ends.
        if pipe.numbers == [1] { Self.replace(1) }
      }
    }
    var status: Int32 = 0
    guard unsafe clinux_await_program(process, &status) == 0 else {
      throw .io("waiting for the program", errno: errno)
    }
    group.wait()
    if status == 0, let code = relays.map(\.problem).first(where: { $0 != 0 }) {
      throw .io("writing the output of the program", errno: code, hint: "the program has ended with 0")
    }
    return status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
  }

  fileprivate static let outputs: [Int32] = [1, 2]

  fileprivate static func isMasked(_ output: Int32) -> Bool {
    guard isatty(output) == 0 else { return false }
    var (about, null) = (stat(), stat())
    guard unsafe fstat(output, &about) == 0, about.st_mode & S_IFMT == S_IFCHR else { return true }
    return unsafe stat("/dev/null", &null) != 0 || about.st_rdev != null.st_rdev
  }

  /// Lets go of what a standard descriptor leads to. If that fails, it ends with this process.
  private static func replace(_ number: Int32) {
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null >= 0 else { return }
    dup2(null, number)
    close(null)
  }
}

/// The pipes for the outputs that are masked.
private struct MaskedPipes {
  struct Pipe: Sendable {
    /// The outputs that are written into it.
    let numbers: [Int32]
    let reading: Int32
    let writing: Int32
  }

  private(set) var all: [Pipe] = []

  init() throws(CommandError) {
    for numbers in Self.groups {
      var ends: [Int32] = [-1, -1]
      guard unsafe clinux_pipe(&ends) == 0 else {
        let code = errno
        closeAll()
        throw .io("making a pipe", errno: code)
      }
      all.append(Pipe(numbers: numbers, reading: ends[0], writing: ends[1]))
    }
  }

  func writing(for number: Int32) -> Int32 { all.first { $0.numbers.contains(number) }?.writing ?? -1 }

  func closeWriting() { for pipe in all { close(pipe.writing) } }

  func closeAll() {
    closeWriting()
    for pipe in all { close(pipe.reading) }
  }

  private static var groups: [[Int32]] {
    let masked = MaskedProgram.outputs.filter(MaskedProgram.isMasked)
    return masked.count == 2 && leadToOneFile(masked[0], masked[1]) ? [masked] : masked.map { [$0] }
  }

  private static func leadToOneFile(_ one: Int32, _ other: Int32) -> Bool {
    var (first, second) = (stat(), stat())
    guard unsafe fstat(one, &first) == 0, unsafe fstat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}
