public import AuthenticatorKit
public import VaultKit
import VaultLogging

// Inside: `RequestText` is the request as text, and `AnswerReader` reads the answer. A `ProgramRunner` is between the two. That of
// this process, `LocalRunner`, checks the file (`ProgramFile`), and starts it as a `RunningProgram`, whose output is an `AnswerText`.

/// A program that takes requests to a server, and returns the answers.
///
/// The program is started for each request, gets it as JSON on its standard input, and writes the answer to its standard
/// output. The guide *Transports* is the specification, with a program to begin with.
///
/// - The file must be executable, must belong to root or this user, and must not be writable by others; nor must others be able
///   to replace it, by a directory or a link on its path. The file that was checked is the one that runs, also if its path names
///   another one meanwhile. Enforced by this type.
/// - The program ends with the thread that waits for it, however that ends. What the program started itself and left running
///   ends with it only after a failure; when a signal ends this process, only if the process sees to that, as `vaultctl` does.
/// - Secrets are read and written in secret memory.
///
/// Several requests can be under way at once; each has a process of its own.
public final class TransportProgram: Transport {
  /// The absolute path of the program.
  public let identity: String
  private let runner: any ProgramRunner
  /// The requests under way that nothing else ends.
  private let own = OpenPrompts()

  /// The program at an absolute path.
  ///
  /// - Parameter path: 1 to 1,024 bytes. A link is followed at each request.
  /// - Throws: ``VaultError/Code/malformed`` if the path is not absolute or too long; ``VaultError/Code/network`` if there is
  ///   no such program, it is not executable, it is another user's, others can change or replace it, or its path leads into `/dev` (but
  ///   not `/dev/shm`) or `/proc`.
  public convenience init(_ path: String) throws(VaultError) { try self.init(path, limits: Limits()) }

  package convenience init(_ path: String, limits: Limits) throws(VaultError) {
    try self.init(path, by: LocalRunner(limits))
  }

  /// - Parameter runner: Checks the program and starts it.
  package init(_ path: String, by runner: any ProgramRunner) throws(VaultError) {
    guard path.hasPrefix("/"), path.utf8.count <= 1024, !path.utf8.contains(0) else {
      throw VaultError(
        .malformed, "the path of a transport is absolute and has at most 1,024 bytes",
        hint: "name the program with its whole path")
    }
    try runner.check(path)
    (identity, self.runner) = (path, runner)
  }

  /// How long an answer may take and be.
  package struct Limits: Sendable {
    package var time: Duration
    package var byteCount: Int
    /// The time passes by this clock.
    let now: @Sendable () -> ContinuousClock.Instant

    package init(
      time: Duration = .seconds(60), byteCount: Int = 1 << 20,
      by now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) { (self.time, self.byteCount, self.now) = (time, byteCount, now) }
  }

  /// Starts the program, and waits up to 60 seconds for its answer.
  ///
  /// - Throws: The error of the peer; ``VaultError/Code/network`` if there is no answer that follows the specification;
  ///   ``VaultError/Code/appCancelled`` if the answer is no longer wanted. The program has ended then.
  public func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    let ending = request.ending ?? PromptEnding()
    if request.ending == nil { own.add(ending) }
    defer { own.remove(ending) }
    let begin = ContinuousClock.now
    let answer = try runner.run(identity, with: RequestText.line(of: request), until: ending)
    VaultLog.debug(.authHTTP, "\(address: identity) ran for \(ContinuousClock.now - begin)")
    return try AnswerReader(answer, of: identity).answer(to: request)
  }

  /// Ends the requests under way that were made by ``TransportRequest/init(_:id:fields:)``. The others are watched: the end of
  /// their call ends each of them, and no other.
  public func cancel() { own.end() }
}
