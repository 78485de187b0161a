import Glibc
import VaultKit

/// A pinentry program, and where it may ask.
package struct Pinentry: Sendable, Equatable {
  /// The absolute path of the program.
  package var path: String
  /// The terminal that the program may use; nil for none.
  package var terminal: String?
  /// The environment variables that the program needs, "NAME=value". It gets no others.
  package var environment: [String]

  /// Why there is no pinentry.
  package enum Absence: Error, Equatable {
    /// No program is installed.
    case notInstalled
    /// `$VAULTCTL_PINENTRY` is not the absolute path of a program.
    case badVariable
    /// The variable is set under the name that it had before the first release.
    case formerVariable
    /// The program would have neither a display nor a terminal.
    case nowhereToAsk
    /// There is no display, and another program uses the terminal now.
    case terminalTaken(TerminalError)
  }

  package init(path: String, terminal: String?, environment: [String] = []) {
    self.path = path
    self.terminal = terminal
    self.environment = environment
  }

  /// The pinentry that `$VAULTCTL_PINENTRY` names, else the one of the system. In the background of a terminal, and
  /// where another program reads from the terminal, it may use a display only.
  ///
  /// - Parameters:
  ///   - terminalPath: The controlling terminal by its name.
  ///   - variable: Looks up an environment variable.
  package static func find(
    terminalPath: String = "/dev/tty", _ variable: (String) -> String?
  ) throws(Absence) -> Pinentry {
    guard variable(FormerVariable.pinentry.name)?.isEmpty != false else { throw .formerVariable }
    let path = try findProgram(variable(FormerVariable.pinentry.present))
    var terminal = findTerminal([terminalPath] + standardTerminals + [variable("GPG_TTY")].compactMap(\.self))
    let hasDisplay = displays.contains { variable($0)?.isEmpty == false }
    guard terminal != nil || hasDisplay else { throw .nowhereToAsk }
    if let path = terminal, let obstacle = Terminal.obstacle(at: path) {
      guard hasDisplay else { throw .terminalTaken(obstacle) }
      terminal = nil
    }
    return Pinentry(
      path: path, terminal: terminal,
      environment: passedOn.compactMap { name in variable(name).map { "\(name)=\($0)" } })
  }
}

extension Pinentry {
  private static func findProgram(_ chosen: String?) throws(Absence) -> String {
    if let chosen, !chosen.isEmpty {
      guard chosen.hasPrefix("/"), isProgram(chosen) else { throw .badVariable }
      return chosen
    }
    guard let found = programs.first(where: { isProgram($0) }) else { throw .notInstalled }
    return found
  }

  private static func isProgram(_ path: String) -> Bool {
    var about = stat()
    guard unsafe stat(path, &about) == 0, about.st_mode & S_IFMT == S_IFREG else { return false }
    return unsafe access(path, X_OK) == 0
  }

  private static func findTerminal(_ candidates: [String]) -> String? {
    candidates.first { path in
      guard path.hasPrefix("/") else { return false }
      let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      return isatty(descriptor) == 1
    }
  }

  /// The terminals on descriptors 0 to 2: a process without a controlling terminal may still have one.
  private static var standardTerminals: [String] {
    (Int32(0)...2).compactMap { descriptor in
      var name = [CChar](repeating: 0, count: 256)
      guard unsafe ttyname_r(descriptor, &name, name.count) == 0 else { return nil }
      return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// /usr/bin/pinentry is the choice of the administrator. The others count where no choice was made.
  private static let programs = [
    "pinentry", "pinentry-gnome3", "pinentry-qt", "pinentry-gtk-2", "pinentry-curses", "pinentry-tty",
  ].map { "/usr/bin/\($0)" }

  private static let displays = ["WAYLAND_DISPLAY", "DISPLAY"]

  private static let passedOn =
    displays + [
      "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS",
      "HOME", "PATH", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "GTK_THEME", "QT_QPA_PLATFORM",
    ]
}
