package import Foundation

/// A program that a test runs to its end, with nothing to read. A test that needs other descriptors uses ``Child``.
package struct Program {
  /// With a slash, a path; else a name that is looked for along `PATH`.
  private let name: String
  private let arguments: [String]
  /// `nil`: that of the test.
  private let environment: [String: String]?
  private let directory: URL?

  package init(
    _ name: String, _ arguments: [String] = [], environment: [String: String]? = nil, in directory: URL? = nil
  ) {
    (self.name, self.arguments) = (name, arguments)
    (self.environment, self.directory) = (environment, directory)
  }

  package struct Result {
    /// The exit code, or minus the signal that ended it.
    package let status: Int32
    package let output: Data
    /// What it wrote to standard error, where that was asked for apart.
    package let errors: String
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Where standard error goes.
  package enum Errors {
    case withOutput
    /// Some lines: no more than a pipe holds.
    case apart
    case inherited
    case discarded
  }

  @discardableResult
  package func run(input: FileHandle? = nil, errors: Errors = .withOutput) throws -> Result {
    let (outputs, apart) = (try PipeEnds(), try PipeEnds())
    let destination: Stream =
      switch errors {
      case .withOutput: .writing(outputs)
      case .apart: .writing(apart)
      case .inherited: .inherited
      case .discarded: .none
      }
    let process = try start(
      input: input.map { .file($0) } ?? .none, output: .writing(outputs), errors: destination)
    apart.closeWriting()
    let output = outputs.readAll()
    return Result(
      status: try process.wait(), output: output,
      errors: errors == .apart ? String(decoding: apart.readAll(), as: UTF8.self) : "")
  }

  /// What is behind a descriptor of a started program.
  package enum Stream {
    case none
    /// That of the test.
    case inherited
    case file(FileHandle)
    /// The program reads; the test writes.
    case reading(PipeEnds)
    /// The program writes; the test reads.
    case writing(PipeEnds)
  }

  /// Starts it without waiting for its end. The end of a pipe that the program got is closed here.
  package func start(
    input: Stream = .none, output: Stream = .none, errors: Stream = .none
  ) throws -> Child.Running {
    var child = Child(name, arguments, environment ?? ProcessInfo.processInfo.environment)
    child.directory = directory?.path
    let streams = [input, output, errors]
    for (descriptor, stream) in zip(Int32(0)..., streams) {
      switch stream {
      case .none: child.open(descriptor, "/dev/null", flags: O_RDWR)
      case .inherited: break
      case .file(let file): child.copy(file.fileDescriptor, to: descriptor)
      case .reading(let pipe): child.copy(pipe.reader, to: descriptor)
      case .writing(let pipe): child.copy(pipe.writer, to: descriptor)
      }
    }
    let running = try child.start()
    for stream in streams {
      switch stream {
      case .reading(let pipe): pipe.closeReading()
      case .writing(let pipe): pipe.closeWriting()
      default: break
      }
    }
    return running
  }
}
