import Glibc
public import VaultKit

/// The fingerprint reader of the machine, through fprintd.
///
/// **Advisory**: fprintd answers over the bus, and a program of the same user can put itself between. It tells which
/// fingers are enrolled by their names only: the same finger enrolled anew, or somebody else's under the same name, looks
/// the same. One verification is one attempt.
public struct FprintdSource: BiometrySource {
  private let limits: Limits
  private let open = OpenPrompt()

  /// The reader that fprintd calls its default.
  public init() { self.init(limits: Limits()) }

  package init(limits: Limits) { self.limits = limits }

  /// The enrolled fingers of the user of this process, ascending, none twice: "right-index-finger".
  ///
  /// - Throws: `.unsupported` when there is no bus, no fprintd or no reader; `.verificationUnavailable` when what is
  ///   there does not work.
  public func enrolledFingers() throws(VaultError) -> [String] {
    do throws(SystemBus.Failure) {
      let deadline = Deadline(after: limits.setUp)
      return try FingerprintReader(until: deadline).enrolledFingers(until: deadline)
    } catch { throw VaultError(fprintd: error) }
  }

  /// Waits for a finger, up to half a minute.
  ///
  /// - Returns: The finger that matched, where fprintd tells or only one is enrolled; else nil.
  /// - Throws: `.authenticationFailed` for a finger that is not enrolled; `.cancelled` by Ctrl-C, by another thread and
  ///   when nobody touches the reader; `.busy` when another program uses it; `.verificationUnavailable` when it was
  ///   unplugged or fails; `.unsupported` when there is no bus, fprintd, reader or enrolled finger.
  public func verify(
    _ request: PromptRequest, showing progress: (String) -> Void
  ) throws(VaultError) -> String? {
    let signals = try takeSignals()
    defer { signals.giveBack() }
    open.open(signals.wake)
    defer { open.close() }
    for line in PromptText(request).lines { progress(line) }
    do throws(SystemBus.Failure) {
      let deadline = Deadline(after: limits.setUp)
      let reader = try FingerprintReader(until: deadline)
      let fingers = try reader.enrolledFingers(until: deadline)
      guard !fingers.isEmpty else { throw .refused(FingerprintReader.noPrints) }
      return try FingerVerification(reader, signals: signals, limits: limits, until: deadline)
        .run(until: deadline, showing: progress).finger(of: fingers)
    } catch { throw VaultError(fprintd: error) }
  }

  /// Ends a verification that is open, from any thread, as `.cancelled`.
  public func cancel() { open.cancel() }

  /// How long is waited for what.
  package struct Limits: Sendable {
    /// The bus and fprintd, until a finger can be asked for. With `release` it stays under 5 s.
    package var setUp: Duration
    /// A person at the reader.
    package var person: Duration
    /// How many scans that were no good.
    package var retries: Int
    /// To give the reader back.
    package static let release = Duration.seconds(1)

    package init(setUp: Duration = .milliseconds(3900), person: Duration = .seconds(30), retries: Int = 10) {
      (self.setUp, self.person, self.retries) = (setUp, person, retries)
    }
  }

  private func takeSignals() throws(VaultError) -> PromptSignals {
    do throws(TerminalError) { return try PromptSignals.take(patience: limits.person) } catch {
      throw VaultError(prompt: error)
    }
  }
}
