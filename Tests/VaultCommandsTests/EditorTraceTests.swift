import Foundation
import TestSupport
import Testing

/// The editors of Debian, each with a configuration that keeps all that it can.
///
/// Verified to fail when vim gets no options: its undo file has the text.
@Suite("What editors leave of a text", .bounded, .requirement("R7"))
struct EditorTraceTests {
  private static let canary = "canary9137"

  /// What is typed into each, once its screen shows the file.
  private static let editors: [(name: String, command: String, keys: [String])] = [
    ("vim", "vim", [":%s/geheim/\(canary)b/\r", ":wq\r"]),
    ("nano", "nano", ["\u{17}geheim\r", canary, "\u{F}\r", "\u{18}"]),
    ("emacs", "emacs -nw", ["\u{1B}xreplace-string\r", "geheim\r", canary + "\r", "\u{18}\u{3}", "y"]),
  ]

  @Test("vim, nano and emacs leave nothing of it in any file", arguments: editors.map(\.name))
  func traces(name: String) throws {
    let editor = try #require(Self.editors.first { $0.name == name })
    try Shell.need(name)
    let home = try EditorHome()
    try configure(home.tool.home.path)
    home.tool.environment["VISUAL"] = editor.command
    home.tool.environment["TERM"] = "xterm"
    let screen = try PseudoTerminal()
    var child = Child(Tool.path, ["edit", "shop", "--editor"], home.tool.environment)
    child.leadsSession = true
    child.directory = home.tool.home.path
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    let running = try child.start()
    try screen.wait(for: "customer")
    for keys in editor.keys { screen.type(keys) }
    try expect(running.wait(), equals: 0)
    #expect(try home.tool("get", "shop").text.hasPrefix(Self.canary))
    expect(home.left, equals: [])
    let words = ["-rlaE", "\(Self.canary)|geheim", home.tool.home.path, "/dev/shm", home.runtime]
    let found = try home.tool.run(words, program: Shell.need("grep")).text.split(separator: "\n")
    expect(found.filter { !$0.contains("/run-") }, equals: [])
  }

  /// Swap, backup and undo files in the home, and all histories.
  private func configure(_ home: String) throws {
    for folder in ["undo", "back", "swap"] {
      try FileManager.default.createDirectory(atPath: "\(home)/\(folder)", withIntermediateDirectories: false)
    }
    let vim = """
      set undofile undodir=\(home)/undo backup backupdir=\(home)/back directory=\(home)/swap swapfile
      set viminfo='100,<1000,s1000,n\(home)/.viminfo
      """
    try Data(vim.utf8).write(to: URL(fileURLWithPath: home + "/.vimrc"))
    let nano = "set backup\nset backupdir \"\(home)/back\"\nset historylog\nset positionlog\nset locking\n"
    try Data(nano.utf8).write(to: URL(fileURLWithPath: home + "/.nanorc"))
    let emacs =
      "(setq backup-directory-alist '((\".\" . \"\(home)/back\")) auto-save-interval 20 savehist-mode t)"
    try Data(emacs.utf8).write(to: URL(fileURLWithPath: home + "/.emacs"))
  }
}
