package import Foundation
import Testing

/// A system bus of a test's own, with the services that the test starts on it. All of them end with this value.
package final class PrivateSystemBus: @unchecked Sendable {  // one test uses it, one call after the other
  /// For the files of the services. A path that is short enough for sockets.
  package let folder: URL
  /// What programs get beside the environment of the test.
  package var variables: [String: String] = [:]
  package private(set) var daemon: Child.Running?
  private var processes: [Child.Running] = []

  /// - Throws: ``Absent``.
  package init() throws {
    let dbusmock = "/usr/lib/python3/dist-packages/dbusmock"
    try Self.need("/usr/bin/dbus-daemon", "/usr/bin/gdbus", dbusmock)
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "bus-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try startDaemon()
  }

  deinit {
    for process in processes.reversed() { process.end() }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Fails the test where one of these files is not there.
  ///
  /// - Throws: ``Absent``.
  package static func need(_ paths: String...) throws {
    let absent = paths.first { !FileManager.default.fileExists(atPath: $0) }
    if let absent { throw Absent(absent) }
  }

  /// How long programs of others wait, as a word for them.
  package static let seconds = "\(patience.components.seconds)"

  /// The variable by which a program finds the bus.
  package var address: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/bus"] }

  package var environment: [String: String] {
    ProcessInfo.processInfo.environment.merging(address) { $1 }.merging(variables) { $1 }
  }

  @discardableResult
  package func start(_ program: String, _ words: String...) throws -> Child.Running {
    let process = try Program(program, words, environment: environment).start()
    processes.append(process)
    return process
  }

  package func run(_ program: String, _ words: String...) throws -> String { try run(program, words) }

  private func run(_ program: String, _ words: [String]) throws -> String {
    try Program(program, words, environment: environment).run().text
  }

  // MARK: Services

  /// Starts a service of python3-dbusmock, and waits until it has its name.
  package func startMock(_ template: String, name: String) throws -> Child.Running {
    let mock = try start(
      "/usr/bin/python3", "-m", "dbusmock", "--system", "--template", template, "-l",
      "\(folder.path)/\(template).log")
    try waitForName(name)
    return mock
  }

  package func waitForName(_ name: String) throws {
    _ = try run("/usr/bin/gdbus", "wait", "--system", "--timeout", Self.seconds, name)
  }

  /// Ends a service, and waits until the bus has noticed.
  package func end(_ service: Child.Running, name: String) throws {
    service.end()
    try waitUntil("\(name) is on the bus no longer") {
      try call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", name)
        == "(false,)\n"
    }
  }

  /// Calls a method by `gdbus`.
  ///
  /// - Parameter words: The arguments, as `gdbus call` reads them.
  /// - Returns: The answer as `gdbus` prints it.
  @discardableResult
  package func call(
    _ name: String, _ path: String, _ method: String, _ words: String...
  ) throws -> String {
    try run(
      "/usr/bin/gdbus",
      ["call", "--system", "--timeout", Self.seconds, "-d", name, "-o", path, "-m", method] + words)
  }

  private func startDaemon() throws {
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><type>system</type><keep_umask/><listen>unix:path=\(folder.path)/bus</listen>
      <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
      <allow receive_sender="*"/></policy></busconfig>
      """
    try Data(configuration.utf8).write(to: folder.appendingPathComponent("bus.conf"))
    daemon = try start("/usr/bin/dbus-daemon", "--config-file=\(folder.path)/bus.conf", "--nofork")
    // Its socket exists before it listens.
    try waitUntil("a bus") { Self.answers("\(folder.path)/bus") }
  }

  /// Whether a program takes connections on a socket.
  private static func answers(_ path: String) -> Bool {
    guard let descriptor = connected(to: path) else { return false }
    close(descriptor)
    return true
  }

  /// A connection to a socket of streams; the caller closes it. `nil` where nothing listens.
  package static func connected(to path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result == 0 { return descriptor }
    close(descriptor)
    return nil
  }
}
