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
  package func run(input: FileHandle? = FileHandle.nullDevice, errors: Errors = .withOutput) throws -> Result
  {
    let (outputs, apart) = (Pipe(), Pipe())
    let destination: Any? =
      switch errors {
      case .withOutput: outputs
      case .apart: apart
      case .inherited: nil
      case .discarded: FileHandle.nullDevice
      }
    let process = try start(input: input, output: outputs, errors: destination)
    let output = outputs.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let isExit = process.terminationReason == .exit
    return Result(
      status: isExit ? process.terminationStatus : -process.terminationStatus, output: output,
      errors: errors == .apart ? Self.text(apart) : "")
  }

  private static func text(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  /// Starts it without waiting for its end. Each parameter is a `Pipe`, a `FileHandle`, or `nil` for that of the test.
  package func start(
    input: Any? = FileHandle.nullDevice, output: Any? = FileHandle.nullDevice,
    errors: Any? = FileHandle.nullDevice
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: name.contains("/") ? name : "/usr/bin/env")
    process.arguments = name.contains("/") ? arguments : [name] + arguments
    if let environment { process.environment = environment }
    if let directory { process.currentDirectoryURL = directory }
    if let input { process.standardInput = input }
    if let output { process.standardOutput = output }
    if let errors { process.standardError = errors }
    try process.run()
    return process
  }
}
