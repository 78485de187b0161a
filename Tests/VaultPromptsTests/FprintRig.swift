import Foundation
import TestSupport
import Testing

/// The real fprintd with libfprint's virtual reader, on a bus of its own, with a stand-in for polkit. No root, no hardware.
final class FprintRig: @unchecked Sendable {  // one test uses it, one call after the other
  private let system: PrivateSystemBus
  private(set) var fprintd: Child.Running?
  /// The clock of the attempts: no limit of theirs passes unless a test moves it.
  let clock = HeldClock()

  /// - Parameter service: What owns fprintd's name: fprintd itself, our own nonsense (a case of `fakeService`), or nobody.
  init(_ service: Service) throws {
    try PrivateSystemBus.need("/usr/libexec/fprintd")
    system = try PrivateSystemBus()
    let state = folder.appendingPathComponent("state")
    try FileManager.default.createDirectory(
      at: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    system.variables = ["FP_VIRTUAL_DEVICE": "\(folder.path)/reader", "STATE_DIRECTORY": state.path]
    switch service {
    case .none: break
    case .fprintd:
      _ = try system.startMock("polkitd", name: "org.freedesktop.PolicyKit1")
      try system.call(
        "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
        "org.freedesktop.DBus.Mock.AllowUnknown", "true")
      fprintd = try system.start(
        "/bin/sh", "-c", "exec /usr/libexec/fprintd --no-timeout 2> '\(folder.path)/fprintd.log'")
    case .fake(let behaviour):
      let script = folder.appendingPathComponent("fake.py")
      try Data(Self.fakeService.utf8).write(to: script)
      fprintd = try system.start("/usr/bin/python3", script.path, behaviour)
    }
    if fprintd != nil { try system.waitForName("net.reactivated.Fprint") }
  }

  enum Service { case none, fprintd, fake(String) }

  var bus: Child.Running? { system.daemon }
  var environment: [String: String] { system.environment }
  private var folder: URL { system.folder }

  /// Says something to the reader: `SCAN A`, `RETRY 0`, `UNPLUG`. Returns once it has taken that. A scan is lost unless fprintd waits
  /// for a finger.
  func reader(_ text: String) throws {
    let descriptor = try #require(
      PrivateSystemBus.connected(to: "\(folder.path)/reader"), "the virtual reader cannot be reached")
    defer { close(descriptor) }
    let command = Array(text.utf8)
    _ = unsafe command.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    shutdown(descriptor, Int32(SHUT_WR))
    var answer = [UInt8](repeating: 0, count: 64)
    _ = unsafe answer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// Each scan comes when fprintd has said that it waits for one: by the answer to `EnrollStart`, and by each `EnrollStatus`.
  func enroll(_ print: String, as finger: String = "right-index-finger") throws {
    let script = """
      import dbus, dbus.mainloop.glib, socket, sys
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus, loop, name = dbus.SystemBus(), GLib.MainLoop(), 'net.reactivated.Fprint'
      def call(path, interface, method, *words):
          return bus.get_object(name, path).get_dbus_method(method, name + interface)(*words, timeout=\(PrivateSystemBus.seconds))
      def scan():
          s = socket.socket(socket.AF_UNIX); s.connect('\(folder.path)/reader'); s.sendall(b'SCAN \(print)')
          s.shutdown(socket.SHUT_WR); s.recv(64); s.close()
      def status(result, done):
          print(result)
          if done: loop.quit()
          else: scan()
      device = call('/net/reactivated/Fprint/Manager', '.Manager', 'GetDefaultDevice')
      bus.add_signal_receiver(status, 'EnrollStatus', name + '.Device', path=device)
      call(device, '.Device', 'Claim', '')
      call(device, '.Device', 'EnrollStart', '\(finger)')
      scan()
      loop.run()
      call(device, '.Device', 'EnrollStop')
      call(device, '.Device', 'Release')
      """
    let result = try system.run("/usr/bin/python3", "-c", script)
    let said = (try? String(contentsOf: folder.appendingPathComponent("fprintd.log"), encoding: .utf8)) ?? ""
    try #require(
      result.hasSuffix("enroll-completed\n"), "fprintd does not enroll: \(result) \(said.suffix(2000))")
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
      # The bus answers when it has passed on what came before.
      bus.list_names()
      print('forged', len(names))
      """
    let result = try system.run("/usr/bin/python3", "-c", script)
    try #require(result.contains("forged"), "\(result)")
  }

  /// `vaultctl-testing verify-finger` as a process.
  ///
  /// - Parameters:
  ///   - word: How many seconds a person may take, by ``clock``; or `list`.
  ///   - setUp: How many milliseconds bus and fprintd may take, by the clock of the system.
  ///   - person: Whose fingers are meant; empty for the user of the test.
  func attempt(_ word: String = "30", setUp: Int = 300_000, of person: String = "") throws -> Attempt {
    let variables = try clock.variables().merging(["VAULTD_PERSON": person]) { $1 }
    return try Attempt(environment: environment.merging(variables) { $1 }, [word, "\(setUp)"])
  }

  /// A service under fprintd's name that does what its word says.
  private static let fakeService = """
    import dbus, dbus.mainloop.glib, dbus.service, sys
    from gi.repository import GLib
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    what = sys.argv[1]
    M, D = 'net.reactivated.Fprint.Manager', 'net.reactivated.Fprint.Device'
    def fail(name): raise dbus.exceptions.DBusException('no', name='net.reactivated.Fprint.Error.' + name)
    class Manager(dbus.service.Object):
        @dbus.service.method(M, out_signature='s' if what == 'path-as-text' else 'o', async_callbacks=('answer', 'refuse'))
        def GetDefaultDevice(self, answer, refuse):
            if what == 'no-device': fail('NoSuchDevice')
            if what == 'slow': return
            answer('/dev0')
    class Device(dbus.service.Object):
        @dbus.service.method(D, in_signature='s', out_signature='u' if what == 'number-of-fingers' else 'as')
        def ListEnrolledFingers(self, user):
            if what == 'no-fingers' or what == 'of-alice' and user != 'alice': fail('NoEnrolledPrints')
            if what == 'number-of-fingers': return 3
            if what == 'hostile-names': return ['a\\x1b[2Jb', 'x' * 5000] * 100
            return dbus.Array([] if what == 'empty' else ['left-thumb', 'right-thumb'], signature='s')
        @dbus.service.method(D, in_signature='s')
        def Claim(self, user):
            if what == 'match-before-claim': self.VerifyStatus('verify-match', True)
            if what == 'busy': fail('AlreadyInUse')
            if what == 'forbidden' or what == 'of-alice' and user != 'alice': fail('PermissionDenied')
            if what == 'odd-error': fail('Odd')
        @dbus.service.method(D)
        def Release(self): pass
        @dbus.service.method(D, in_signature='s', async_callbacks=('answer', 'refuse'))
        def VerifyStart(self, finger, answer, refuse):
            if what == 'match-before-start': self.VerifyFingerSelected('left-thumb'); self.VerifyStatus('verify-match', True)
            if what == 'start-refused': self.VerifyStatus('verify-match', True); fail('AlreadyInUse')
            if what == 'slow-start': return
            answer()
            self.go()
        @dbus.service.method(D)
        def VerifyStop(self): pass
        @dbus.service.signal(D, signature='sb')
        def VerifyStatus(self, result, done): pass
        @dbus.service.signal(D, signature='s')
        def VerifyFingerSelected(self, finger): pass
        def go(self):
            if what == 'selected': self.VerifyFingerSelected('left-thumb'); self.VerifyStatus('verify-match', True)
            elif what == 'any': self.VerifyFingerSelected('any'); self.VerifyStatus('verify-match', True)
            elif what == 'of-alice': self.VerifyStatus('verify-match', True)
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
    bus = dbus.SystemBus()
    name = dbus.service.BusName('net.reactivated.Fprint', bus)
    manager, device = Manager(bus, '/net/reactivated/Fprint/Manager'), Device(bus, '/dev0')
    GLib.MainLoop().run()
    """

  /// A started `vaultctl-testing verify-finger`.
  final class Attempt {
    let process: Child.Running
    private let pipe: PipeEnds
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

    /// What came of it, and all lines.
    func end() throws -> (last: String, lines: [String]) {
      seen += String(decoding: pipe.readAll(), as: UTF8.self)
      try process.wait()
      let lines = seen.split(separator: "\n").map(String.init)
      return (lines.last ?? "", lines)
    }
  }
}
