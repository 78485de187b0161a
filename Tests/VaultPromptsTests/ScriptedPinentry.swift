import Foundation
import TestSupport
import Testing
import VaultPrompts

/// A program that speaks Assuan as a test wants it to, written in Python.
final class ScriptedPinentry {
  private let folder: URL

  /// - Parameter script: Runs with `say`, `hear`, `greet`, `serve`, `note` and `hang` at hand.
  init(_ script: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("pinentry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = Self.beginning.replacing("FOLDER", with: folder.path) + script + "\n"
    let draft = folder.appendingPathComponent("draft")
    try Data(program.utf8).write(to: draft)
    // Another process makes the program: a child that another test starts meanwhile would hold a file of ours open for
    // writing, and such a file cannot be run.
    try Program("/usr/bin/install", ["-m", "700", draft.path, path]).run()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var path: String { folder.appendingPathComponent("pinentry").path }

  func pinentry(terminal: String? = nil, environment: [String] = []) -> Pinentry {
    Pinentry(path: path, terminal: terminal, environment: environment)
  }

  /// What the program noted under a name.
  func note(_ name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  /// Waits until the program has noted something.
  func await(_ name: String) throws { try waitUntil("the note '\(name)'") { (try? note(name)) != nil } }

  /// Whether the program is gone, and no zombie of it is left.
  var isReaped: Bool {
    get throws {
      let pid = try #require(pid_t(note("pid")))
      return kill(pid, 0) == -1 && errno == ESRCH
    }
  }

  private static let beginning = """
    #!/usr/bin/python3 -SE
    import os, signal, sys, time
    def note(name, text):
        with open('FOLDER/new', 'w') as file: file.write(text)
        os.rename('FOLDER/new', 'FOLDER/' + name)
    def hang():
        while True: time.sleep(600)
    def say(line):
        line = line if isinstance(line, bytes) else line.encode()
        os.write(1, line)
    pending = b''
    def hear():
        global pending
        while b'\\n' not in pending:
            got = os.read(0, 4096)
            if not got: sys.exit(0)
            pending += got
        line, pending = pending.split(b'\\n', 1)
        return line.decode()
    def greet(): say('OK Pleased to meet you\\n')
    heard = []
    def serve(question, answer):
        greet()
        while True:
            line = hear()
            heard.append(line)
            if line == question:
                note('heard', '\\n'.join(heard))
                return answer() if callable(answer) else say(answer)
            if line == 'BYE': sys.exit(0)
            say('OK\\n')
    note('pid', str(os.getpid()))

    """
}
