import Foundation
import TestSupport
import Testing

/// A logind of python3-dbusmock on a bus of its own, and a gate at the end of its delay of sleep.
final class MockLogind {
  private let system: PrivateSystemBus
  private var process: Child.Running?
  /// The agent writes here when it is about to let the machine sleep…
  private var closing: NamedPipe?
  /// …and then waits here.
  private var going: NamedPipe?

  /// - Parameter isRunning: Whether it runs already; else there is only the bus.
  init(isRunning: Bool = true) throws {
    system = try PrivateSystemBus()
    if isRunning { try begin() }
  }

  /// The variables of the agent. The gate holds it once ``holdSleep()`` was called.
  func variables() throws -> [String: String] {
    system.address.merging(["LD_PRELOAD": try Self.gate.get(), "SLEEP_GATE": gatePath]) { $1 }
  }

  func begin() throws { process = try system.startMock("logind", name: Self.service) }

  func end() throws {
    try system.end(try #require(process), name: Self.service)
    process = nil
  }

  // MARK: Sessions

  private static func path(_ session: String) -> String { "/org/freedesktop/login1/session/\(session)" }

  func addSession(_ name: String, user: uid_t = getuid()) throws {
    let answer = try system.call(
      Self.service, Self.manager, Self.mock + ".AddSession", name, "seat0", "\(user)", "u\(user)", "true")
    try #require(answer.contains(Self.path(name)), "\(answer)")
  }

  func lock(_ session: String) throws {
    try system.call(Self.service, Self.path(session), "org.freedesktop.login1.Session.Lock")
  }

  func removeSession(_ name: String) throws {
    try system.call(Self.service, Self.manager, Self.mock + ".RemoveObject", Self.path(name))
    try emit("SessionRemoved", "so", "[<'\(name)'>, <objectpath '\(Self.path(name))'>]")
  }

  // MARK: Sleep

  /// Says that the machine goes to sleep, or that it is awake again.
  func suspend(_ begins: Bool) throws { try emit("PrepareForSleep", "b", "[<\(begins)>]") }

  /// Who delays sleep now, as `gdbus` prints it.
  var delays: String {
    get throws {
      try system.call(Self.service, Self.manager, "org.freedesktop.login1.Manager.ListInhibitors")
    }
  }

  /// From here on the agent waits before it lets the machine sleep.
  func holdSleep() throws {
    going = try NamedPipe(gatePath + ".go")
    closing = try NamedPipe(gatePath)
  }

  /// Waits until the agent is about to let the machine sleep.
  func awaitHeldSleep() throws { try expect(#require(closing).text(), equals: "closing") }

  /// Lets the agent go on.
  func releaseSleep() { going?.open() }

  // MARK: A stranger

  /// What logind says when a session is locked, when the machine goes to sleep and when a session ends, from another program: to
  /// everybody, and to each connection by its name.
  func forge(_ session: String) throws {
    let script = """
      import dbus, dbus.lowlevel
      bus = dbus.SystemBus()
      manager, session = '\(Self.manager)', '\(Self.path(session))'
      said = [(session, 'Session', 'Lock', ()), (manager, 'Manager', 'PrepareForSleep', (True,)),
              (manager, 'Manager', 'SessionRemoved', ('x', dbus.ObjectPath(session)))]
      for name in [None] + [n for n in bus.list_names() if n.startswith(':')]:
          for path, interface, member, words in said:
              m = dbus.lowlevel.SignalMessage(path, 'org.freedesktop.login1.' + interface, member)
              m.append(*words)
              if name: m.set_destination(name)
              bus.send_message(m)
      # The bus answers when it has passed on what came before.
      bus.list_names()
      print('forged')
      """
    try expect(system.run("/usr/bin/python3", "-c", script), equals: "forged\n")
  }

  private func emit(_ signal: String, _ types: String, _ values: String) throws {
    let answer = try system.call(
      Self.service, Self.manager, Self.mock + ".EmitSignal", "org.freedesktop.login1.Manager", signal, types,
      values)
    expect(answer, equals: "()\n")
  }

  private var gatePath: String { system.folder.appendingPathComponent("sleep").path }

  private static let service = "org.freedesktop.login1"
  private static let manager = "/org/freedesktop/login1"
  private static let mock = "org.freedesktop.DBus.Mock"

  /// `close` of a pipe, which is how the delay of sleep ends, waits at the gate where there is one.
  private static let gate = Result {
    try SharedLibrary.compile(
      """
      #include <fcntl.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/stat.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      int close(int file) {
        const char *gate = getenv("SLEEP_GATE");
        struct stat about;
        char go[4096];
        if (gate && fstat(file, &about) == 0 && S_ISFIFO(about.st_mode) && access(gate, F_OK) == 0) {
          int told = open(gate, O_WRONLY | O_CLOEXEC);
          if (write(told, "closing", 7) != 7) abort();
          syscall(SYS_close, told);
          snprintf(go, sizeof go, "%s.go", gate);
          syscall(SYS_close, open(go, O_RDONLY | O_CLOEXEC));
        }
        return (int)syscall(SYS_close, file);
      }
      """)
  }
}
