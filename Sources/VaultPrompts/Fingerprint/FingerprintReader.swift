import VaultKit

/// fprintd's default reader, found over the bus.
struct FingerprintReader: ~Copyable {
  let bus: SystemBus
  /// The unique name that owns fprintd's now. Everything is said to it, and only what comes from it is believed.
  let owner: String
  let path: String

  init(until deadline: Deadline) throws(SystemBus.Failure) {
    let bus = try SystemBus(until: deadline)
    let manager = SystemBus.Target(
      service: Self.service, path: "/net/reactivated/Fprint/Manager",
      interface: "net.reactivated.Fprint.Manager")
    // The bus starts fprintd at this call.
    let path = try bus.call(manager, method: "GetDefaultDevice", until: deadline).readText(isPath: true)
    let owner = try bus.call(Self.daemon, method: "GetNameOwner", text: Self.service, until: deadline)
      .readText()
    (self.path, self.owner) = (path, owner)
    self.bus = bus
  }

  borrowing func enrolledFingers(until deadline: Deadline) throws(SystemBus.Failure) -> [String] {
    do throws(SystemBus.Failure) {
      let names = try call("ListEnrolledFingers", text: "", until: deadline).readTexts(most: 32)
      return Array(Set(names.map { PromptText.visible($0, limit: 40) })).sorted()
    } catch .refused(Self.noPrints) {
      return []
    }
  }

  borrowing func call(
    _ method: String, text: String? = nil, until deadline: Deadline
  ) throws(SystemBus.Failure) -> SystemBus.Message {
    try bus.call(target, method: method, text: text, until: deadline)
  }

  /// Begins a call, whose answer is a message of this connection.
  borrowing func begin(_ method: String, text: String) throws(SystemBus.Failure) -> SystemBus.PendingCall {
    try bus.begin(target, method: method, text: text)
  }

  private var target: SystemBus.Target {
    SystemBus.Target(service: owner, path: path, interface: Self.interface)
  }

  /// Signals of the reader, and the news that fprintd is gone, reach this connection from now on.
  borrowing func listen(until deadline: Deadline) throws(SystemBus.Failure) {
    for rule in [
      "type='signal',sender='\(Self.service)',interface='\(Self.interface)'",
      "type='signal',sender='\(Self.daemon.service)',member='NameOwnerChanged',arg0='\(Self.service)'",
    ] { _ = try bus.call(Self.daemon, method: "AddMatch", text: rule, until: deadline) }
  }

  static let service = "net.reactivated.Fprint"
  static let interface = "net.reactivated.Fprint.Device"
  static let noPrints = "net.reactivated.Fprint.Error.NoEnrolledPrints"
  static let daemon = SystemBus.Target(
    service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}
