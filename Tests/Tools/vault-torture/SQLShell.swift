import Glibc

/// SQLite's own command-line shell in one running process. It edits vault files without the library.
final class SQLShell {
  private let toShell: Int32
  private let fromShell: Int32
  private var rest: [UInt8] = []

  init() {
    var (down, up): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard unsafe pipe(&down) == 0, unsafe pipe(&up) == 0 else { fail("pipe") }
    for end in [down[1], up[0]] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, down[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, up[1], 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    for end in [down[0], up[1]] { unsafe posix_spawn_file_actions_addclose(&actions, end) }
    let program = unsafe strdup("sqlite3")
    let option = unsafe strdup("-batch")
    defer {
      unsafe free(program)
      unsafe free(option)
    }
    var child: pid_t = 0
    let words = unsafe [program, option, nil]
    guard unsafe posix_spawnp(&child, "sqlite3", &actions, nil, words, environ) == 0 else {
      fail("sqlite3 cannot be started: scripts/install-deps installs it")
    }
    close(down[0])
    close(up[1])
    toShell = down[1]
    fromShell = up[0]
  }

  /// Runs commands and statements, and returns the lines that they print. A command that fails prints no line.
  func run(_ text: String) -> [String] {
    let mark = "== done =="
    let bytes = Array((text + "\n.print \(mark)\n").utf8)
    guard unsafe bytes.withUnsafeBytes({ unsafe write(toShell, $0.baseAddress, $0.count) }) == bytes.count
    else {
      fail("sqlite3 has ended")
    }
    var lines: [String] = []
    while true {
      let line = readLine()
      if line == mark { return lines }
      lines.append(line)
    }
  }

  private func readLine() -> String {
    while true {
      if let end = rest.firstIndex(of: 10) {
        defer { rest.removeSubrange(...end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = unsafe read(fromShell, &buffer, buffer.count)
      guard count > 0 else { fail("sqlite3 has ended") }
      rest += buffer[..<count]
    }
  }
}
