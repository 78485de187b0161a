import CLinux
package import CommandLineKit
import Glibc
package import SecretMemory
import VaultKit
import VaultWords

extension LocalHost {
  package func edit(
    _ text: SharedSecret, interruption: Interruption
  ) throws(CommandError) -> SharedSecret {
    // A signal that came before ends the command here; one that comes now ends the editor.
    interruption.yield()
    let signals = try AgentSignals(ofProcess: ProcessSignals.areAdopted)
    defer { signals.giveBack() }
    switch try edit(text, until: PromptEnding(), signals: signals) {
    case .text(let edited): return edited
    case .signal(let number):
      interruption.came(number)
      throw Self.endedBySignal
    }
  }

  /// What came of an editor.
  enum EditorEnd {
    case text(SharedSecret)
    /// A signal has ended it, or nobody wants its text any more.
    case signal(Int32)
  }

  /// - Parameters:
  ///   - ending: Ends the editor when its text is no longer wanted.
  ///   - signals: Those of this process, each of which ends the editor; `nil` where another thread passes them on.
  func edit(
    _ text: SharedSecret, until ending: PromptEnding, signals: AgentSignals?
  ) throws(CommandError) -> EditorEnd {
    var run: EditorRun?
    // After the text is removed, because it can wait.
    defer { run?.restoreTerminal() }
    let folder = try EditorFolder(text, in: editorPlaces)
    defer { folder.remove() }
    let wake = try WakingPipe()
    let ticket = ending.add { wake.wake() }
    defer { ending.remove(ticket) }
    let program = try EditorProgram(environment, in: folder.path)
    let started = try EditorRun(program, on: folder.file)
    run = started
    if let signal = try started.wait(until: wake.descriptor, signals: signals) { return .signal(signal) }
    return .text(SharedSecret(try folder.read(limit: Self.longestText)))
  }

  static let endedBySignal = CommandError(
    .cancelled, "a signal has ended the editor", hint: EditorRun.nothingChanged,
    code: VaultError.Code.appCancelled.rawValue)

  /// Where the file of an editor can be.
  private var editorPlaces: [String] {
    [environment["XDG_RUNTIME_DIR"], "/dev/shm"].compactMap(\.self).filter { !$0.isEmpty }
  }

  /// An entry has 256 KiB, or 1 MiB of a password; in base64, it is longer.
  private static let longestText = 2 << 20
}

/// Wakes a thread that waits in `poll`.
private final class WakingPipe: Sendable {
  let descriptor: Int32
  private let writing: Int32

  init() throws(CommandError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .io("making a pipe", errno: errno) }
    (descriptor, writing) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  func wake() {
    var byte: UInt8 = 0
    _ = unsafe write(writing, &byte, 1)
  }
}
