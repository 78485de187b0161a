import Foundation
import TestSupport
import Testing

/// The real fprintd with libfprint's virtual reader, on a bus of its own, with a stand-in for polkit. No root, no hardware.
final class FprintRig: @unchecked Sendable {  // one test uses it, one call after the other
  private let folder: URL
  private var processes: [Child.Running] = []
  private(set) var fprintd: Child.Running?
  private(set) var bus: Child.Running?

  /// - Parameter service: What owns fprintd's name: fprintd itself, our own nonsense (a case of `fakeService`), or nobody.
  init(_ service: Service) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fp-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("state"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try startBus()
    switch service {
    case .none: break
    case .fprintd:
      try start(
        "/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "polkitd", "-l",
        "\(folder.path)/polkit.log")
      try waitForName("org.freedesktop.PolicyKit1")
      _ = try run(
        "/usr/bin/gdbus", "call", "--system", "-d", "org.freedesktop.PolicyKit1", "-o",
        "/org/freedesktop/PolicyKit1/Authority", "-m", "org.freedesktop.DBus.Mock.AllowUnknown", "true")
      fprintd = try start(
        "/bin/sh", "-c", "exec /usr/libexec/fprintd --no-timeout 2> '\(folder.path)/fprintd.log'")
      try waitForName("net.reactivated.Fprint")
    case .fake(let behaviour):
      let script = folder.appendingPathComponent("fake.py")
      try Data(Self.fakeService.utf8).write(to: script)
      fprintd = try start("/usr/bin/python3", script.path, behaviour)
      try waitForName("net.reactivated.Fprint")
    }
  }

  enum Service { case none, fprintd, fake(String) }

  deinit {
    for process in processes.reversed() { process.end() }
    try? FileManager.default.removeItem(at: folder)
  }

  /// nil where the programs are not installed.
  static let missing: String? = [
    "/usr/libexec/fprintd", "/usr/bin/fprintd-enroll", "/usr/bin/dbus-daemon", "/usr/bin/gdbus",
    "/usr/lib/python3/dist-packages/dbusmock",
  ].first { !FileManager.default.fileExists(atPath: $0) }

  var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(folder.path)/bus"
    environment["FP_VIRTUAL_DEVICE"] = "\(folder.path)/reader"
    environment["STATE_DIRECTORY"] = "\(folder.path)/state"
    return environment
  }

  /// Says something to the reader: `SCAN A`, `RETRY 0`, `UNPLUG`.
  func reader(_ commands: String..., after seconds: Double = 0) throws {
    let script = """
      import socket, sys, time
      time.sleep(\(seconds))
      for c in sys.argv[1:]:
          s = socket.socket(socket.AF_UNIX); s.connect('\(folder.path)/reader'); s.sendall(c.encode())
          s.shutdown(socket.SHUT_WR); s.recv(64); s.close(); time.sleep(0.1)
      """
    try start("/usr/bin/python3", ["-c", script] + commands)
  }

  /// Whether somebody takes connections on a socket.
  private func answers(_ path: String) -> Bool {
    guard let descriptor = connected(to: path) else { return false }
    close(descriptor)
    return true
  }

  private func connected(to path: String) -> Int32? {
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

  /// A finger on the reader, without a process in between.
  func scan(_ print: String) throws {
    let descriptor = try #require(
      connected(to: "\(folder.path)/reader"), "the virtual reader cannot be reached")
    defer { close(descriptor) }
    let command = Array("SCAN \(print)".utf8)
    _ = unsafe command.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    shutdown(descriptor, Int32(SHUT_WR))
    var answer = [UInt8](repeating: 0, count: 64)
    _ = unsafe answer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
  }

  func enroll(_ print: String, as finger: String = "right-index-finger") throws {
    var results: [String] = []
    // On a busy machine a scan can come before fprintd waits for it, and is lost: what is set up here may be set up again.
    // A process that these tests start inherits a blocked SIGTERM, and fprintd would wait for three minutes.
    for pause in [0.6, 1.5, 3, 6] {
      try reader(
        "SCAN \(print)", "SCAN \(print)", "SCAN \(print)", "SCAN \(print)", "SCAN \(print)", after: pause)
      let limit = "\(Int(15 + 5 * pause))"
      results.append(try run("/usr/bin/timeout", "-s", "KILL", limit, "fprintd-enroll", "-f", finger))
      if results.last?.contains("enroll-completed") == true { return }
    }
    let said = (try? String(contentsOf: folder.appendingPathComponent("fprintd.log"), encoding: .utf8)) ?? ""
    Issue.record("fprintd does not enrol: \(results) \(said.suffix(2000))")
    throw CancellationError()
  }

  /// A signal of fprintd's interface, from a stranger, to everybody and to each connection by its name.
  func forgeMatch() throws {
    let script = """
      import dbus, dbus.lowlevel
      bus = dbus.SystemBus()
      names = [None] + [n for n in bus.list_names() if n.startswith(':')]
      for name in names:
          m = dbus.lowlevel.SignalMessage('/net/reactivated/Fprint/Device/0', 'net.reactivated.Fprint.Device', 'VerifyStatus')
          m.append('verify-match', True)
          if name: m.set_destination(name)
          bus.send_message(m)
      bus.flush()
      print('forged', len(names))
      """
    let result = try run("/usr/bin/python3", "-c", script)
    try #require(result.contains("forged"), "\(result)")
  }

  /// `vaultctl-testing verify-finger` as a process.
  ///
  /// - Parameter setUp: How many milliseconds bus and fprintd may take, where they are to stay silent.
  func attempt(_ word: String = "120", setUp: Int = FprintRig.patience) throws -> Attempt {
    try Attempt(environment: environment, [word, "\(setUp)"])
  }

  /// Tests that are not about time do not depend on how busy this machine is.
  static let patience = 60_000

  @discardableResult
  func start(_ program: String, _ words: String...) throws -> Child.Running { try start(program, words) }

  @discardableResult
  private func start(_ program: String, _ words: [String]) throws -> Child.Running {
    let process = try Program(program, words, environment: environment).start()
    processes.append(process)
    return process
  }

  func run(_ program: String, _ words: String...) throws -> String {
    try Program(program, words, environment: environment).run().text
  }

  private func startBus() throws {
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><type>system</type><keep_umask/><listen>unix:path=\(folder.path)/bus</listen>
      <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
      <allow receive_sender="*"/></policy></busconfig>
      """
    try Data(configuration.utf8).write(to: folder.appendingPathComponent("bus.conf"))
    bus = try start("/usr/bin/dbus-daemon", "--config-file=\(folder.path)/bus.conf", "--nofork")
    let end = Date().addingTimeInterval(120)
    // Its socket exists before it listens.
    while !answers("\(folder.path)/bus") {
      try #require(Date() < end, "dbus-daemon does not start")
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  private func waitForName(_ name: String) throws {
    _ = try run("/usr/bin/gdbus", "wait", "--system", "--timeout", "120", name)
  }

  /// A service under fprintd's name that does what its word says.
  private static let fakeService = """
    import dbus, dbus.mainloop.glib, dbus.service, sys, time
    from gi.repository import GLib
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    what = sys.argv[1]
    M, D = 'net.reactivated.Fprint.Manager', 'net.reactivated.Fprint.Device'
    def fail(name): raise dbus.exceptions.DBusException('no', name='net.reactivated.Fprint.Error.' + name)
    class Manager(dbus.service.Object):
        @dbus.service.method(M, out_signature='s' if what == 'path-as-text' else 'o')
        def GetDefaultDevice(self):
            if what == 'no-device': fail('NoSuchDevice')
            if what == 'slow': time.sleep(30)
            return '/dev0'
    class Device(dbus.service.Object):
        @dbus.service.method(D, in_signature='s', out_signature='u' if what == 'number-of-fingers' else 'as')
        def ListEnrolledFingers(self, user):
            if what == 'no-fingers': fail('NoEnrolledPrints')
            if what == 'number-of-fingers': return 3
            if what == 'hostile-names': return ['a\\x1b[2Jb', 'x' * 5000] * 100
            return dbus.Array([] if what == 'empty' else ['left-thumb', 'right-thumb'], signature='s')
        @dbus.service.method(D, in_signature='s')
        def Claim(self, user):
            if what == 'match-before-claim': self.VerifyStatus('verify-match', True)
            if what == 'busy': fail('AlreadyInUse')
            if what == 'forbidden': fail('PermissionDenied')
            if what == 'odd-error': fail('Odd')
        @dbus.service.method(D)
        def Release(self): pass
        @dbus.service.method(D, in_signature='s')
        def VerifyStart(self, finger):
            if what == 'match-before-start': self.VerifyFingerSelected('left-thumb'); self.VerifyStatus('verify-match', True)
            if what == 'start-refused': self.VerifyStatus('verify-match', True); fail('AlreadyInUse')
            if what == 'slow-start': time.sleep(30)
            GLib.timeout_add(100, self.go)
        @dbus.service.method(D)
        def VerifyStop(self): pass
        @dbus.service.signal(D, signature='sb')
        def VerifyStatus(self, result, done): pass
        @dbus.service.signal(D, signature='s')
        def VerifyFingerSelected(self, finger): pass
        def go(self):
            if what == 'selected': self.VerifyFingerSelected('left-thumb'); self.VerifyStatus('verify-match', True)
            elif what == 'any': self.VerifyFingerSelected('any'); self.VerifyStatus('verify-match', True)
            elif what.startswith('match-before-'): self.VerifyStatus('verify-no-match', True)
            elif what == 'unheard-of': self.VerifyStatus('verify-perhaps', True)
            elif what == 'unheard-of-on': self.VerifyStatus('verify-perhaps', False)
            elif what == 'empty-result': self.VerifyStatus('', True)
            elif what == 'prefix': self.VerifyStatus('verify-matchx', True)
            elif what == 'endless': [self.VerifyStatus('verify-retry-scan', False) for _ in range(50)]
            elif what == 'retry-last': self.VerifyStatus('verify-retry-scan', True)
            elif what == 'two-retries': self.VerifyStatus('verify-swipe-too-short', False); self.VerifyStatus('verify-remove-and-retry', False); self.VerifyStatus('verify-match', True)
            elif what == 'unplugged': self.VerifyStatus('verify-disconnected', True)
            elif what == 'broken': self.VerifyStatus('verify-unknown-error', True)
            return False
    bus = dbus.SystemBus()
    name = dbus.service.BusName('net.reactivated.Fprint', bus)
    manager, device = Manager(bus, '/net/reactivated/Fprint/Manager'), Device(bus, '/dev0')
    GLib.MainLoop().run()
    """

  /// A started `vaultctl-testing verify-finger`.
  final class Attempt {
    let process: Child.Running
    private let pipe: PipeEnds
    private let begin = ContinuousClock.now
    private var seen = ""

    init(environment: [String: String], _ words: [String]) throws {
      pipe = try PipeEnds()
      process = try Program(
        Built.path("vaultctl-testing"), ["verify-finger"] + words, environment: environment
      ).start(output: .writing(pipe), errors: .inherited)
    }

    /// Reads until a text is there.
    func wait(for text: String) throws {
      while !seen.contains(text) {
        let data = pipe.read()
        try #require(!data.isEmpty, "'\(text)' was not said: \(seen)")
        seen += String(decoding: data, as: UTF8.self)
      }
    }

    /// What came of it, all lines before that, and how long it took by the process's own account: its start is not the code's.
    /// One that was killed gives none, and its whole time is taken.
    func end() throws -> (last: String, lines: [String], seconds: Double) {
      seen += String(decoding: pipe.readAll(), as: UTF8.self)
      try process.wait()
      var lines = seen.split(separator: "\n").map(String.init)
      var seconds = (ContinuousClock.now - begin) / .seconds(1)
      if let last = lines.last, last.hasPrefix("took "), let own = Double(last.dropFirst("took ".count)) {
        seconds = own / 1000
        lines.removeLast()
      }
      return (lines.last ?? "", lines, seconds)
    }
  }
}
