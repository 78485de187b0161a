package import CommandLineKit
package import TextFormats
import VaultWords

/// One thing that `vaultctl vault doctor` looked at, and how to mend it.
///
/// The module looks for weaknesses of a vault and of the machine that it is on. It asks for nothing and prints
/// nothing: what it needs comes as arguments, what it finds are values of this type, in the order of the report. It
/// changes nothing, except that ``OldKeys`` removes keys when its caller says so.
///
/// ``MachineFindings`` is about memory, dumps, swap, the clock and PAM, ``PromptFindings`` about who can be asked,
/// ``PlaceFindings`` about permissions and the file system. None of them needs an open vault. ``VaultFindings`` is
/// about a vault that is open: its passcode, its keys, an interrupted restore or rotation, its items.
///
/// ``OldKeys`` lists the device keys that a vault has replaced, and ``OtherKeys`` those of other vaults. Both look
/// where ``KeyPlaces`` says.
///
/// Read this file first, then `VaultFindings.swift`, then `OldKeys.swift`.
package struct Finding: Sendable, Equatable {
  package enum State: String, Sendable {
    case ok
    case warning
    case problem

    var colour: Colour {
      switch self {
      case .ok: .green
      case .warning: .yellow
      case .problem: .red
      }
    }
  }

  package let check: String
  package let state: State
  package let message: String
  package let hint: String?

  package init(_ check: String, _ state: State, _ message: String, _ hint: String? = nil) {
    (self.check, self.state, self.message, self.hint) = (check, state, message, hint)
  }

  package var json: JSON {
    .object {
      Field("check", check)
      Field("state", state.rawValue)
      Field("message", message)
      Field("hint", hint)
    }
  }

  package var pieces: [Outcome.Piece] {
    let gap = String(repeating: " ", count: 9 - state.rawValue.count)
    return [
      .coloured(state.rawValue, state.colour),
      .text("\(gap)\(wording(ofKey: check)): \(printableSentence(message))\n"),
    ] + (hint.map { [.text("         \(printableSentence($0))\n")] } ?? [])
  }
}
