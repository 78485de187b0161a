import KeeperPlacement
import TestSupport
import Testing

@Suite("What a keeper asks through", .bounded)
struct KeeperAskingTests {
  @Test(
    "the arguments that root may give",
    arguments: [
      [], ["--ask", "client"], ["--ask", "finger"], ["--ask", "terminal", "--terminal", "/dev/tty8"],
    ])
  func known(arguments: [String]) {
    expect(KeeperAsking(arguments)?.arguments, equals: arguments)
    expect(KeeperAsking(arguments)?.terminalPath, equals: arguments.count == 4 ? "/dev/tty8" : nil)
  }

  /// A keeper that asked elsewhere than root says would be believed wrongly. Verified to fail when `--ask` takes any word.
  @Test(
    "no other arguments are accepted",
    arguments: [
      ["--ask"], ["--ask", "nobody"], ["--ask", "terminal"], ["--ask", "terminal", "--terminal"],
      ["--terminal", "/dev/tty8"], ["--ask", "client", "--terminal", "/dev/tty8"], ["--ask", "finger", ""],
      ["--ask", "terminal", "--ask", "finger"], [""],
    ])
  func other(arguments: [String]) { #expect(KeeperAsking(arguments) == nil) }
}
