import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

extension Command {
  /// Puts a secret into the clipboard for the time of `--copy`.
  ///
  /// - Parameter fields: What the result says of the item.
  /// - Throws: exit 9 where there is no clipboard.
  func copy(_ secret: SharedSecret, fields: [Field]) throws -> Outcome {
    let seconds = self[ItemOptions.copy] ?? 30
    let copied = try world.host.copyToClipboard(secret, seconds: seconds)
    for note in copied.notes { messages.note(note) }
    return Outcome(
      json: .object {
        fields
        Field("copied", true)
        Field("clipboard", copied.clipboard)
        Field("clearedAfter", seconds)
      })
  }
}
