import CommandLineKit
import TextFormats
import VaultWords

/// One thing that `vaultctl doctor` looked at, and how to mend it.
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

  init(_ check: String, _ state: State, _ message: String, _ hint: String? = nil) {
    (self.check, self.state, self.message, self.hint) = (check, state, message, hint)
  }

  var json: JSON {
    .object {
      Field("check", check)
      Field("state", state.rawValue)
      Field("message", message)
      Field("hint", hint)
    }
  }

  var pieces: [Outcome.Piece] {
    let gap = String(repeating: " ", count: 9 - state.rawValue.count)
    return [
      .coloured(state.rawValue, state.colour), .text("\(gap)\(check): \(printable(message))\n"),
    ] + (hint.map { [.text("         \(printable($0))\n")] } ?? [])
  }
}
