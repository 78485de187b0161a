import CommandLineKit
import TextFormats

/// All verbs of `vaultctl`: the parser, the help, the manual pages and the
/// completion are made from this.
package enum VerbTable {
  /// In the order of the help.
  package static let families: [VerbFamily] = [
    VerbFamily(word: "init", summary: "Make a vault and its device key.") { [initialize] },
    VerbFamily(word: "status", summary: "Show the state of the vault.") { [status] },
    VerbFamily(word: "doctor", summary: "Look for what weakens the vault, and say what to do.") { [doctor] },
    VerbFamily(word: "verify", summary: "Open and compare every part of the vault.") { [verify] },
    VerbFamily(word: "version", summary: "Print the versions of vaultctl and the format.") { [version] },
    VerbFamily(word: "path", summary: "Print where the vault is.") { [path] },
    VerbFamily(word: "passcode", summary: "Set, change or remove the passcode.") { passcode },
    VerbFamily(word: "recovery-code", summary: "Make, check or remove the recovery code.") { recoveryCode },
    VerbFamily(word: "item", summary: "Store secrets and read them back.") { item },
    VerbFamily(word: "exec", summary: "Run a program with secrets from the vault.") { [exec] },
    VerbFamily(word: "otp", summary: "One-time-password credentials and their codes.") { oneTimePassword },
    VerbFamily(word: "biometry", summary: "Members of the enrolled biometric set.") { biometry },
    VerbFamily(word: "import", summary: "Take items over from another program.") { [importItems] },
    VerbFamily(word: "export", summary: "Write items out for another program.") { [exportItems] },
    VerbFamily(word: "backup", summary: "Write a backup that opens by a passphrase.") { [backup] },
    VerbFamily(word: "restore", summary: "Make a vault from a backup.") { [restore] },
    VerbFamily(word: "rotate", summary: "Exchange keys or parameters.") { rotate },
    VerbFamily(word: "purge", summary: "Make what was deleted unreadable for good.") { [purge] },
    VerbFamily(word: "audit", summary: "Show what was done with the vault.") { [audit] },
    VerbFamily(word: "batch", summary: "Run several commands with one unlock.") { [batch] },
    VerbFamily(word: "completion", summary: "Print the completion script of a shell.") { [completion] },
  ]

  package static var words: [String] { families.map(\.word) }

  package static func family(_ word: String) -> VerbFamily? { families.first { $0.word == word } }

  package static func verb(_ words: [String]) -> Verb? {
    words.first.flatMap(family)?.verbs().first { $0.words == words }
  }

  package static var all: [Verb] { families.flatMap { $0.verbs() } }
}
