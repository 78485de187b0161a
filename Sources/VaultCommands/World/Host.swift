package import CommandLineKit
package import SecretMemory
package import TransportPrograms
package import VaultKit
package import VaultPrompts

/// What only the process that a person started can do: ask the person, open the files and descriptors that the command line names,
/// put a secret into the clipboard, start a program.
///
/// A command without an agent has a ``LocalHost``. A command that runs in the agent has a host that asks the process of its client.
/// The methods are called by the thread of the command, one at a time; ``HostPrompt/cancel()`` by any thread.
package protocol Host: Sendable {
  /// The prompt for secrets and confirmations, as `--prompt` selects it.
  func prompt(_ way: AutomaticPrompt.Way) -> any HostPrompt
  /// Verifies the login password, by PAM.
  var presence: any PresenceSource { get }
  /// The fingerprint reader.
  var biometry: any BiometrySource { get }

  /// Lends a file or a descriptor to `body`. A file is closed afterwards; a descriptor of the caller stays open there.
  ///
  /// - Throws: What `body` throws; exit 13 if the file cannot be opened.
  func lend<R: ~Copyable>(
    _ file: HostFile, _ body: (Int32) throws(CommandError) -> R
  ) throws(CommandError) -> R

  /// Whether anything has that name, including a link.
  ///
  /// - Throws: Exit 13 if this cannot be determined.
  func exists(_ path: String) throws(CommandError) -> Bool

  /// Whether a file is the person's own, so that a hint may advise changing its mode.
  func isOwn(_ path: String) -> Bool

  /// A new file of mode 0600, which gets its name at ``UnfinishedFile/finish()``.
  ///
  /// - Parameter interruption: That of the command: a signal before the naming leaves no file.
  /// - Throws: Exit 8 if the path exists, 13 if the file cannot be made.
  func makeFile(
    _ path: String, interruption: Interruption
  ) throws(CommandError) -> any UnfinishedFile

  /// Removes a file that ``makeFile(_:interruption:)`` made.
  func removeFile(_ path: String)

  /// Has the person change a text in their editor, in a file that is on no disk and of which nothing stays.
  ///
  /// - Parameter interruption: That of the command: a signal ends the editor.
  /// - Returns: What the editor has stored.
  /// - Throws: Exit 9 where there is no file system in memory; 5, 12 or 13 where the editor stores nothing that can be used.
  func edit(_ text: SharedSecret, interruption: Interruption) throws(CommandError) -> SharedSecret

  /// Puts a secret into the clipboard, and clears the clipboard after some seconds if it still holds the secret.
  ///
  /// - Throws: Exit 9 where there is no clipboard.
  func copyToClipboard(_ secret: SharedSecret, seconds: Int64) throws(CommandError) -> CopiedSecret

  /// Runs the programs of `--transport`, with the environment of that process. A signal that ends it ends them too.
  ///
  /// - Parameter time: How long a program may take. In the agent, that of the client's process counts.
  func programs(within time: Duration) -> any ProgramRunner

  /// Has the process that the person started become a program that gets these secrets, one for each value that it wants of the vault,
  /// or start it and end as it ends. The vault is closed by now.
  ///
  /// Returns in the agent alone: the process of the command becomes the program when the command has ended without an error.
  ///
  /// - Parameter done: What the command has committed, as the log names it: an error says so.
  /// - Throws: Exit 13 and others if the program does not start.
  func become(
    _ program: ProgramStart, with secrets: [HandedSecret], after done: [String]
  ) throws(CommandError)

  /// Runs a verb. A signal that ended its prompt ends this process only after it, and after `seconds` at the latest.
  func holdingEndingSignal<R, E: Error>(
    for seconds: Int, _ body: () throws(E) -> R
  ) throws(E) -> R
}

/// A prompt of a ``Host``.
package protocol HostPrompt: GrantPrompt {
  /// Asks for a secret, and says which prompt failed in which way.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that may be typed on the terminal.
  ///   - isRepeated: The person types the same secret again.
  func type(
    _ request: PromptRequest, limit: Int, isRepeated: Bool
  ) throws(PromptFailure) -> SecretBytes
}

extension AutomaticPrompt: HostPrompt {}

/// A file that a command reads.
package enum HostFile: Sendable {
  /// A descriptor by its number, as `--passcode-fd` names it. It stays open.
  case descriptor(Int32)
  /// A file with a secret, which no other user can read or change.
  case secret(path: String, of: SecretChannel)
  /// A credential of systemd: a path in $CREDENTIALS_DIRECTORY, and the name of the secret for errors.
  case credential(path: String, named: String)
  /// Another file. The text says in an error what was being done: "opening the file with the items".
  case readable(path: String, doing: String)
  /// A regular file with data that an option names. Nothing is waited for: no pipe, no device.
  case data(path: String, option: String)
}

/// A file that has no name yet. If it ends without ``finish()``, nothing of it stays.
package protocol UnfinishedFile: AnyObject {
  /// Open for writing.
  var descriptor: Int32 { get }
  /// The file and its name are on the disk when this returns. If it throws, there is no file.
  func finish() throws(CommandError)
}

/// Where a secret was copied to.
package struct CopiedSecret: Sendable {
  /// The word of the clipboard in JSON.
  package let clipboard: String
  /// What the person is told.
  package let notes: [String]

  package init(clipboard: String, notes: [String]) { (self.clipboard, self.notes) = (clipboard, notes) }
}
