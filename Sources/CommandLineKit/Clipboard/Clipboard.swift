/// A place for a secret that a person pastes from: a program of the desktop, or the terminal itself.
package enum Clipboard: Sendable, Equatable {
  case program(ClipboardProgram)
  /// OSC 52: the terminal is asked to take it, and does not tell whether it did.
  case terminal

  /// The word for it in JSON and messages.
  package var word: String {
    switch self {
    case .program(let program): program.copy[0]
    case .terminal: "osc52"
    }
  }

  /// What can be tried here, best first.
  package static func candidates(in environment: Environment) -> [Clipboard] {
    var found: [Clipboard] = []
    if isSet("DISPLAY", in: environment) { found += [.program(.xclip), .program(.xsel)] }
    if isSet("WAYLAND_DISPLAY", in: environment) {
      // wl-copy keeps what it serves in a file of its own in /tmp: on a disk it comes last.
      found.insert(.program(.wlClipboard), at: ClipboardProgram.keepsFilesInMemory ? 0 : found.count)
    }
    let terminal = environment["TERM"] ?? ""
    if !["", "dumb", "linux"].contains(terminal) { found.append(.terminal) }
    return found
  }

  private static func isSet(_ name: String, in environment: Environment) -> Bool {
    !(environment[name] ?? "").isEmpty
  }
}
