import Glibc
import VaultKit

/// What logind tells a program that keeps something open for its user: that the machine goes to sleep, that the user's session was
/// locked or has ended.
///
/// Only messages of logind itself count, from its unique bus name: every program can send to this connection.
package struct LoginManager: ~Copyable {
  private let bus: SystemBus
  /// The unique bus name of logind now; nil while it does not run.
  private var owner: String?
  private let user: UInt32
  /// The sessions of the user that were there when they were last asked for.
  private var sessions: Set<String>
  /// Delays sleep while it is open; -1 for none.
  private var inhibitor: Int32 = -1

  package enum Event: Sendable, Equatable {
    /// The machine sleeps once ``letSleep()`` was called, or after logind's limit (`InhibitDelayMaxSec`, 5 s).
    case sleeps
    case wakes
    case sessionLocked
    /// The last session of the user has ended.
    case sessionsEnded
    /// logind does not run: nothing is heard of it until ``began``.
    case ended
    /// logind runs, for the first time or again.
    case began
  }

  /// Connects, listens, and delays sleep from now on, or from when logind begins.
  ///
  /// - Returns: nil where there is no bus.
  package init?(user: UInt32 = getuid()) {
    do throws(SystemBus.Failure) {
      let deadline = Deadline(after: Self.patience)
      let bus = try SystemBus(until: deadline)
      for rule in Self.rules {
        _ = try bus.call(SystemBus.daemon, method: "AddMatch", text: rule, until: deadline)
      }
      owner = try Self.owner(on: bus, until: deadline)
      sessions = []
      self.bus = bus
      self.user = user
    } catch { return nil }
    sessions = currentSessions() ?? []
    delaySleep()
  }

  private static func owner(
    on bus: borrowing SystemBus, until deadline: Deadline
  ) throws(SystemBus.Failure) -> String? {
    do throws(SystemBus.Failure) {
      return try bus.call(SystemBus.daemon, method: "GetNameOwner", text: service, until: deadline).readText()
    } catch {
      guard error == .refused("org.freedesktop.DBus.Error.NameHasNoOwner") else { throw error }
      return nil
    }
  }

  deinit { if inhibitor >= 0 { close(inhibitor) } }

  /// Whether logind runs.
  package var isRunning: Bool { owner != nil }

  /// For `poll`.
  package var descriptor: Int32 { bus.descriptor }
  package var events: Int16 { Int16(truncatingIfNeeded: bus.events) }

  /// What came since this was called last; nil once the bus is gone.
  package mutating func newEvents() -> [Event]? {
    var events: [Event] = []
    do throws(SystemBus.Failure) {
      while let message = try bus.next() {
        if message.sender == SystemBus.daemon.service, message.member == "NameOwnerChanged" {
          events += try follow(message)
        } else if let owner, message.sender == owner, let event = try event(message) {
          events.append(event)
        }
      }
    } catch { return nil }
    return events
  }

  /// Delays the next sleep until ``letSleep()``. Without effect where logind refuses it: what is heard stays heard, too late maybe.
  package mutating func delaySleep() {
    guard inhibitor < 0, let owner else { return }
    let held = try? bus.inhibit(
      "sleep", by: owner, who: "vaultd", why: "wipes the keys of the vault",
      until: Deadline(after: Self.patience))
    inhibitor = held ?? -1
  }

  /// The machine may sleep now.
  package mutating func letSleep() {
    if inhibitor >= 0 { close(inhibitor) }
    inhibitor = -1
  }

  /// Listens to the logind that the bus names now. A restart keeps no delay that the one before has given.
  private mutating func follow(
    _ change: borrowing SystemBus.Message
  ) throws(SystemBus.Failure) -> [Event] {
    // The name, who had it, who has it.
    let (name, _, new) = (try change.readText(), try change.readText(), try change.readText())
    // One that came before the owner was asked for says nothing new.
    guard name == Self.service, new != owner ?? "" else { return [] }
    owner = new.isEmpty ? nil : new
    guard isRunning else { return [.ended] }
    letSleep()
    delaySleep()
    let hadSessions = !sessions.isEmpty
    sessions = currentSessions() ?? sessions
    return hadSessions && sessions.isEmpty ? [.began, .sessionsEnded] : [.began]
  }

  private mutating func event(_ message: borrowing SystemBus.Message) throws(SystemBus.Failure) -> Event? {
    switch (message.interface, message.member) {
    case (Self.manager, "PrepareForSleep"): return try message.readBoolean() ? .sleeps : .wakes
    case (Self.session, "Lock"):
      let path = message.path ?? ""
      // Where the list cannot be had, the session may be ours.
      if let current = currentSessions() { sessions = current }
      return sessions.isEmpty || sessions.contains(path) ? .sessionLocked : nil
    case (Self.manager, "SessionNew"):
      sessions = currentSessions() ?? sessions
      return nil
    case (Self.manager, "SessionRemoved"):
      let hadSessions = !sessions.isEmpty
      sessions = currentSessions() ?? []
      return hadSessions && sessions.isEmpty ? .sessionsEnded : nil
    default: return nil
    }
  }

  private borrowing func currentSessions() -> Set<String>? {
    guard let owner else { return nil }
    let target = SystemBus.Target(service: owner, path: Self.path, interface: Self.manager)
    let answer = try? bus.call(target, method: "ListSessions", until: Deadline(after: Self.patience))
      .readSessions()
    return answer.map { Set($0.filter { $0.user == user }.map(\.path)) }
  }

  private static let service = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"
  private static let patience = Duration.seconds(2)
  private static let rules = [
    "type='signal',sender='\(service)',interface='\(manager)'",
    "type='signal',sender='\(service)',interface='\(session)',member='Lock'",
    "type='signal',sender='\(SystemBus.daemon.service)',member='NameOwnerChanged',arg0='\(service)'",
  ]
}
