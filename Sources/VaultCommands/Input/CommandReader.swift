import CommandLineKit
import VaultKit

/// The fingerprint reader, as the command line uses it. It is never asked if prompts are switched off. The requests
/// do not name the program that asks, because the person who runs the tool knows it.
struct CommandReader: BiometrySource {
  let source: any BiometrySource
  let mayPrompt: Bool

  func enrolledFingers() throws(VaultError) -> [String] {
    guard mayPrompt else {
      throw VaultError(.interactionNotAllowed, "a person is needed, and asking is switched off")
    }
    return try source.enrolledFingers()
  }

  func verify(
    _ request: PromptRequest, showing progress: (String) -> Void
  ) throws(VaultError) -> String? {
    var request = request
    request.requester = nil
    return try source.verify(request, showing: progress)
  }

  func cancel() { source.cancel() }
}
