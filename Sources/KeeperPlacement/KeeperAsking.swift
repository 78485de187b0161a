/// What the keeper asks through, as root has set it. `vaultd` reads the same arguments.
///
/// | arguments | where a question appears |
/// |---|---|
/// | none, `--ask client` | in the process of the command |
/// | `--ask finger` | the same; a yes is the finger of the person |
/// | `--ask terminal --terminal PATH` | on a terminal that is the keeper's alone |
package struct KeeperAsking {
  package let arguments: [String]
  /// The terminal that the keeper gets; nil for none.
  let terminal: KeeperTerminal?
  package var terminalPath: String? { terminal?.path }

  /// - Returns: nil for other arguments.
  package init?(_ arguments: [String]) {
    switch arguments.count {
    case 0: terminal = nil
    case 2 where arguments[0] == "--ask" && ["client", "finger"].contains(arguments[1]): terminal = nil
    case 4 where arguments[0...2] == ["--ask", "terminal", "--terminal"]:
      terminal = KeeperTerminal(path: arguments[3])
    default: return nil
    }
    self.arguments = arguments
  }
}
