import Foundation
import TestSupport
import Testing
import VaultKit

/// A session of its own: a private bus, a GNOME Keyring that is unlocked with a password, an empty home.
///
/// The bus knows no program that it could start, so a daemon that is gone stays gone.
final class Rig: @unchecked Sendable {  // its processes are changed by one test at a time
  let folder: String
  private var bus: Child.Running?
  private var daemon: Child.Running?

  /// The bus as the protector is given it.
  var address: String { "unix:path=" + folder + "/bus" }
  var environment: [String: String] {
    [
      "DBUS_SESSION_BUS_ADDRESS": address, "HOME": folder + "/home", "XDG_RUNTIME_DIR": folder + "/run",
      "PATH": "/usr/bin:/bin", "G_MESSAGES_DEBUG": "",
      "VAULTCTL_TESTING_PATIENCE": "\(patience.components.seconds)",
    ]
  }

  /// In memory where that is possible: the keyring synchronizes its file at each change, and waits for a busy disk.
  private static let place = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"

  init() throws {
    try Shell.need("dbus-daemon", "gnome-keyring-daemon", "dbus-send", "secret-tool")
    // Short, since the path of a socket is at most 107 bytes long.
    var template = Array((Self.place + "/vault-ss-XXXXXX").utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
    try #require(made)
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    for name in ["home", "run"] {
      try FileManager.default.createDirectory(
        atPath: folder + "/" + name, withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    try startBus()
    try startDaemon()
  }

  deinit {
    for process in [daemon, bus] { process?.end() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: processes

  func startBus() throws {
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
      <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
      <allow own="*"/></policy></busconfig>
      """
    try configuration.write(toFile: folder + "/bus.conf", atomically: true, encoding: .utf8)
    bus = try start("dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile"])
    // Its socket is there before it listens, and a keyring that comes in between never asks again.
    try waitUntil("a bus") { Self.answers(folder + "/bus") }
  }

  /// Whether somebody takes connections on a socket.
  private static func answers(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0, var address = try? MessageGate.address(path) else { return false }
    defer { close(descriptor) }
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    } == 0
  }

  /// Another program in the place of the daemon.
  func start(daemon program: String, _ variables: [String: String]) throws {
    daemon = try start(program, [], variables)
  }

  func startDaemon(password: String = "password") throws {
    daemon = try start(
      "gnome-keyring-daemon",
      ["--foreground", "--components=secrets", "--unlock", "--control-directory=\(folder)/run/keyring"],
      input: password)
    try waitUntil("a default collection") {
      try call("org.freedesktop.Secret.Service.ReadAlias", "string:default").contains("/collection/")
    }
  }

  func killDaemon() {
    daemon?.end()
    daemon = nil
  }

  func killBus() {
    bus?.end()
    bus = nil
    try? FileManager.default.removeItem(atPath: folder + "/bus")
    // A daemon that has lost its bus is of no use any more.
    killDaemon()
  }

  /// The daemon hears nothing until it is woken or ended.
  func stopDaemon() throws {
    guard let daemon else { return }
    daemon.kill(SIGSTOP)
    // The state follows the name of the program.
    try waitUntil("a daemon that stands still") {
      try String(contentsOfFile: "/proc/\(daemon.pid)/stat", encoding: .utf8).contains(") T ")
    }
  }

  /// A daemon that was stopped reads all that was sent meanwhile.
  ///
  /// GNOME Keyring may crash on what callers have sent that are gone. So nothing is expected of it: this returns when it has read
  /// everything, or has ended.
  func wakeDaemon() throws {
    daemon?.kill(SIGCONT)
    // The answer comes after what was sent before; the bus answers for a daemon that has ended.
    _ = try items()
  }

  /// Whatever has happened: a bus, a new daemon that reads the file of the one before, an unlocked collection.
  func mend() throws {
    killDaemon()
    if bus?.isRunning != true {
      bus?.end()
      try startBus()
    }
    try startDaemon()
  }

  // MARK: behind our back

  func lock() throws {
    _ = try call(
      "org.freedesktop.Secret.Service.Lock", "array:objpath:/org/freedesktop/secrets/collection/login")
  }

  /// Stores a text under the attributes of a key, in the place of the item that has them.
  ///
  /// - Parameter schema: The name of the schema.
  func put(_ text: String, vault: String, key: String, schema: String = "vaultctl.DeviceKey") throws {
    let process = try start(
      "secret-tool",
      [
        "store", "--label=other", "xdg:schema", schema, "vault-id", vault, "key-id", key,
      ], input: text)
    try #require(process.wait() == 0)
  }

  /// The paths of the items of all vaults.
  func items() throws -> [String] {
    let text = try call(
      "org.freedesktop.Secret.Service.SearchItems", "dict:string:string:xdg:schema,vaultctl.DeviceKey")
    return text.split(separator: "\"").map(String.init).filter {
      $0.hasPrefix("/org/freedesktop/secrets/collection/")
    }
  }

  /// One method of the service, by dbus-send.
  func call(_ method: String, _ arguments: String..., path: String = "/org/freedesktop/secrets") throws
    -> String
  {
    let words =
      [
        "--session", "--print-reply", "--reply-timeout=\(patience.components.seconds * 1000)",
        "--dest=org.freedesktop.secrets", path, method,
      ] + arguments
    return try Program("/usr/bin/dbus-send", words, environment: environment).run(errors: .discarded).text
  }

  // MARK: steps

  private func start(
    _ program: String, _ words: [String], _ variables: [String: String] = [:], input: String = ""
  ) throws -> Child.Running {
    let path = program.hasPrefix("/") ? program : "/usr/bin/" + program
    let pipe = try PipeEnds()
    let process = try Program(path, words, environment: environment.merging(variables) { $1 })
      .start(input: .reading(pipe))
    pipe.write(input)
    pipe.closeWriting()
    return process
  }
}
