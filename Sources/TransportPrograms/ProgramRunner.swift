package import SecretMemory
package import VaultKit

/// What starts the programs of transports: this process, or another one that is asked to.
package protocol ProgramRunner: Sendable {
  /// - Throws: What ``TransportProgram/init(_:)`` throws for the file.
  func check(_ path: String) throws(VaultError)

  /// Starts a program, hands it a request, and returns what it has written until it ended.
  ///
  /// - Parameter ending: Ends the program when the answer is no longer wanted.
  /// - Throws: ``VaultError/Code/network`` if the program does not start, fails, or takes or writes too much;
  ///   ``VaultError/Code/appCancelled`` if the answer is no longer wanted. The program has ended then.
  func run(
    _ path: String, with request: SharedSecret, until ending: PromptEnding
  ) throws(VaultError) -> SecretBytes
}

/// Starts programs as children of this process, bound to the thread that waits for them.
package struct LocalRunner: ProgramRunner {
  private let limits: TransportProgram.Limits

  package init(_ limits: TransportProgram.Limits) { self.limits = limits }

  package func check(_ path: String) throws(VaultError) { _ = try ProgramFile(path) }

  package func run(
    _ path: String, with request: SharedSecret, until ending: PromptEnding
  ) throws(VaultError) -> SecretBytes {
    var program = try RunningProgram(ProgramFile(path), limits)
    return try program.answer(to: request, until: ending)
  }
}
