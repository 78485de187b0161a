import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `edit NAME --editor`: the text of an entry goes to an editor, and comes back as changes.
///
/// A text that is not understood, or that was made of an older state of the entry, is never stored. On a terminal it can be edited again;
/// elsewhere the command ends with an error, and nothing is changed.
struct EntryEditing {
  private let command: Command
  private let id: ItemID
  /// The entry when its text was made.
  private var item: Item
  private var before: EntryDraft
  private var text: SharedSecret

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    guard item.kind.rules.canBeEntry else {
      throw CommandError(
        .refused, "only a password is edited so: the item is of kind \(item.kind.word)",
        hint: "change its attributes with --set")
    }
    var editing = try EntryEditing(command, item)
    while true { if let outcome = try editing.next() { return outcome } }
  }

  private init(_ command: Command, _ item: Item) throws {
    (self.command, self.item, id) = (command, item, item.id)
    before = EntryDraft(item, try command.entry(of: item, keeping: true).content)
    text = EntryText.text(of: before, named: item.name ?? item.id.hexadecimal)
  }

  /// One round of the editor.
  ///
  /// - Returns: `nil` if the person goes on with the text.
  private mutating func next() throws -> Outcome? {
    text = try command.world.host.edit(text, interruption: command.world.interruption)
    let draft: EntryDraft
    do throws(CommandError) { draft = try EntryTextReader.draft(of: text) } catch {
      try again(after: error)
      return nil
    }
    let open = draft.changes(from: before)
    let sealed = draft.content.differences(from: before.content)
    let names = open.names + sealed
    guard !names.isEmpty else {
      command.noteChanged([])
      return Outcome(json: item.json.adding("changed", names.json))
    }
    do {
      let stored = try store(draft, open.changes, changesContent: !sealed.isEmpty)
      command.noteChanged(names)
      return Outcome(json: stored.json.adding("changed", names.json))
    } catch let error as VaultError where error.code == .busy {
      try meet(error)
      return nil
    } catch let error as VaultError where [.malformed, .duplicateItem].contains(error.code) {
      try again(after: CommandError(error))
      return nil
    }
  }

  private func store(_ draft: EntryDraft, _ changes: ItemChanges, changesContent: Bool) throws -> Item {
    try command.vault.unlocking { core in
      let context = try command.vault.context(for: item.access, isBehindPIN: item.isBehindPIN, keeping: true)
      guard changesContent else {
        return try core.change(id, at: item.version, changes, context: context, entry: nil)
      }
      return try core.change(id, at: item.version, changes, context: context) { (entry) throws(VaultError) in
        try draft.apply(to: &entry)
      }
    }
  }

  /// The entry was changed meanwhile: what is there now is not overwritten unless the person has seen what it is.
  private mutating func meet(_ error: VaultError) throws {
    let now = try command.vault.opened().items(.id(id))[0]
    let present = EntryDraft(now, try command.entry(of: now, keeping: true).content)
    let names = present.changes(from: before).names + present.content.differences(from: before.content)
    var told = CommandError(error)
    if !names.isEmpty { told = told.saying("changed meanwhile: \(names.joined(separator: ", "))") }
    try again(after: told, otherwise: ", and what you save there replaces what is stored now")
    (item, before) = (now, present)
  }

  /// Asks whether the text is discarded. After Enter, it is not: it goes to the editor again.
  ///
  /// - Parameter more: What the person should know about the next round.
  /// - Throws: The error where nobody answers, or the person discards the text.
  private func again(after error: CommandError, otherwise more: String = "") throws(CommandError) {
    guard command.isOnTerminal, command.invocation.mayPrompt else { throw error }
    command.messages.note(error.message)
    let operation = "discard what you typed; with N the editor opens it again\(more)"
    let request = PromptRequest(.confirmation, operation: operation)
    guard let discards = try? CommandPrompt(secrets: command.secrets).confirm(request), !discards else {
      throw error
    }
  }
}

extension CommandError {
  fileprivate func saying(_ more: String) -> CommandError {
    CommandError(exit, "\(message) (\(more))", hint: hint, code: code)
  }
}
