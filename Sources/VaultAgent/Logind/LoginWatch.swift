import Glibc
import VaultKit
import VaultPrompts

/// Locks all vaults when the machine goes to sleep, when the user's session is locked, and when the last one ends, as logind tells
/// it. On a thread of its own: a bus that hangs holds nothing else.
///
/// Sleep waits until the keys are wiped, not until the log says so.
struct LoginWatch {
  let service: AgentService

  /// Begins to listen, where there is a bus. A logind that begins later, or again, is heard as well.
  func start() {
    _ = startThread { run() }
  }

  private func run() {
    guard var manager = LoginManager(user: service.client) else { return }
    service.hearsLogind = manager.isRunning
    while let events = manager.newEvents() {
      for event in events { answer(event, of: &manager) }
      var wait = pollfd(fd: manager.descriptor, events: manager.events, revents: 0)
      _ = unsafe poll(&wait, 1, -1)
    }
    setHearing(false)
  }

  /// Whether something tells of sleep from now on. If not, nothing tells that the machine woke either.
  private func setHearing(_ hears: Bool) {
    service.hearsLogind = hears
    service.vaults.awoke()
  }

  private func answer(_ event: LoginManager.Event, of manager: inout LoginManager) {
    switch event {
    case .sleeps:
      service.vaults.lockAll(because: .sleep)
      manager.letSleep()
    case .wakes:
      service.vaults.awoke()
      manager.delaySleep()
    case .sessionLocked: service.vaults.lockAll(because: .sessionLocked)
    case .sessionsEnded: service.vaults.lockAll(because: .sessionsEnded)
    case .ended: setHearing(false)
    case .began: setHearing(true)
    }
  }
}
