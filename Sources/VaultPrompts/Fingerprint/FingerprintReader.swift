import VaultKit

/// fprintd's default reader, found over the bus.
struct FingerprintReader: ~Copyable {
  let bus: SystemBus
  /// The unique bus name of fprintd now. Every call goes to it, and only messages from it count.
  let owner: String
  let path: String
  /// Whose fingers it knows; empty for the user of this process.
  let person: String

  init(of person: String, until deadline: Deadline) throws(SystemBus.Failure) {
    self.person = person
    let bus = try SystemBus(until: deadline)
    let manager = SystemBus.Target(
      service: Self.service, path: "/net/reactivated/Fprint/Manager",
      interface: "net.reactivated.Fprint.Manager")
    // The bus starts fprintd at this call.
    let path = try bus.call(manager, method: "GetDefaultDevice", until: deadline).readText(isPath: true)
    let owner = try bus.call(SystemBus.daemon, method: "GetNameOwner", text: Self.service, until: deadline)
      .readText()
    (self.path, self.owner) = (path, owner)
    self.bus = bus
  }

  borrowing func enrolledFingers(until deadline: Deadline) throws(SystemBus.Failure) -> [String] {
    do throws(SystemBus.Failure) {
      let names = try call("ListEnrolledFingers", text: person, until: deadline).readTexts(most: 32)
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

  /// Begins a call. Its answer comes as a message of this connection.
  borrowing func begin(_ method: String, text: String) throws(SystemBus.Failure) -> SystemBus.PendingCall {
    try bus.begin(target, method: method, text: text)
  }

  private var target: SystemBus.Target {
    SystemBus.Target(service: owner, path: path, interface: Self.interface)
  }

  /// Lets signals of the reader reach this connection, and the news that fprintd is gone.
  borrowing func listen(until deadline: Deadline) throws(SystemBus.Failure) {
    for rule in [
      "type='signal',sender='\(Self.service)',interface='\(Self.interface)'",
      "type='signal',sender='\(SystemBus.daemon.service)',member='NameOwnerChanged',arg0='\(Self.service)'",
    ] { _ = try bus.call(SystemBus.daemon, method: "AddMatch", text: rule, until: deadline) }
  }

  static let service = "net.reactivated.Fprint"
  static let interface = "net.reactivated.Fprint.Device"
  static let noPrints = "net.reactivated.Fprint.Error.NoEnrolledPrints"
}
