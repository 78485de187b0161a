import Glibc
public import VaultKit

/// The fingerprint reader of the machine, through fprintd.
///
/// **Advisory**: fprintd answers over the bus, and a program of the same user can intercept the answer. fprintd
/// identifies enrolled fingers by name only: a finger that is enrolled again, or another person's finger under the
/// same name, looks the same. One verification is one attempt.
public struct FprintdSource: BiometrySource, EndsWithRequest {
  private let limits: Limits
  private let person: String
  private let open = OpenPrompt()

  /// The reader that fprintd calls its default.
  public init() { self.init(limits: Limits()) }

  /// - Parameter person: The name of the user whose fingers are looked at; empty for the user of this process. For another one, polkit
  ///   must allow `net.reactivated.fprint.device.setusername`.
  package init(limits: Limits = Limits(), of person: String = "") {
    (self.limits, self.person) = (limits, person)
  }

  /// The enrolled fingers of the user of this process, ascending, without duplicates: "right-index-finger".
  ///
  /// - Throws: `.unsupported` when there is no bus, no fprintd or no reader; `.verificationUnavailable` when one of
  ///   them does not work.
  public func enrolledFingers() throws(VaultError) -> [String] {
    do throws(SystemBus.Failure) {
      let deadline = Deadline(after: limits.setUp)
      return try FingerprintReader(of: person, until: deadline).enrolledFingers(until: deadline)
    } catch { throw VaultError(fprintd: error) }
  }

  /// Waits for a finger, up to half a minute.
  ///
  /// - Returns: The finger that matched, where fprintd tells it or only one is enrolled; else nil.
  /// - Throws: `.authenticationFailed` for a finger that is not enrolled; `.cancelled` by Ctrl-C, by another
  ///   thread, and when no finger comes; `.busy` when another program uses the reader; `.verificationUnavailable`
  ///   when the reader was unplugged or fails; `.unsupported` when there is no bus, fprintd, reader or enrolled
  ///   finger.
  public func verify(
    _ request: PromptRequest, showing progress: (String) -> Void
  ) throws(VaultError) -> String? {
    let signals = try takeSignals(until: request.ending)
    defer { signals.giveBack() }
    open.open(signals.wake)
    defer { open.close() }
    let watch = RequestWatch(request.ending, waking: signals.wake)
    defer { watch.stop() }
    for line in PromptText(request).lines { progress(line) }
    do throws(SystemBus.Failure) {
      let deadline = Deadline(after: limits.setUp)
      let reader = try FingerprintReader(of: person, until: deadline)
      let fingers = try reader.enrolledFingers(until: deadline)
      guard !fingers.isEmpty else { throw .refused(FingerprintReader.noPrints) }
      return try FingerVerification(reader, signals: signals, limits: limits, until: deadline)
        .run(until: deadline, showing: progress).finger(of: fingers)
    } catch { throw VaultError(fprintd: error) }
  }

  /// Ends an open verification, from any thread, as `.cancelled`.
  public func cancel() { open.cancel() }

  /// How long to wait for what.
  package struct Limits: Sendable {
    /// For the bus and fprintd, until a finger can be asked for. Together with `release`, less than 5 s.
    package var setUp: Duration
    /// For a person at the reader.
    package var person: Duration
    /// How many failed scans to accept.
    package var retries: Int
    /// For releasing the reader.
    package static let release = Duration.seconds(1)

    package init(setUp: Duration = .milliseconds(3900), person: Duration = .seconds(30), retries: Int = 10) {
      (self.setUp, self.person, self.retries) = (setUp, person, retries)
    }
  }

  private func takeSignals(until ending: PromptEnding?) throws(VaultError) -> PromptSignals {
    do throws(TerminalError) {
      return try PromptSignals.take(patience: Patience(limits.person), until: ending)
    } catch {
      throw VaultError(prompt: error)
    }
  }
}
