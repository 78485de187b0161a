import AuthenticatorKit
import Dispatch
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The end of a task while its call waits for something else than a person.
@Suite("A call with a PIN whose task is cancelled", .bounded, .requirement("R23"))
struct CancelledPINTests {
  private let clock = FixedClock()
  private let step = HeldStep()

  private func context(_ pin: String? = nil, new: String? = nil) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "")
    if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
    if let new { context.provide(new: try PIN(SecretBytes(testing: new))) }
    return context
  }

  private func made(_ environment: VaultEnvironment) async throws -> (PINItem, VaultCore) {
    let place = TemporaryVault(environment: environment)
    let vault = try place.make()
    let item = try await PINItem.make(NewPINItem(.checked), in: vault, context: context(new: "8306"))
    return (item, try place.openCore())
  }

  /// Verified to fail when the call still counts as using what was opened before.
  @Test("it ends at once while others try the PIN")
  func waiting() async throws {
    let step = step
    var environment = VaultEnvironment.testing(clock: clock)
    environment.pause = { _ in step.hold() }
    let (item, core) = try await made(environment)
    try core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: item.id) {
        $0.attemptsUnderWay = 10
        ($0.failureBootMilliseconds, $0.failureBoot) = (clock.bootMilliseconds(), clock.bootID() ?? [])
      }
    }
    let use = try context("8306")
    step.arm()
    let task = Task {
      await thrown(awaiting: { () throws(VaultError) in _ = try await item.verify(context: use) })?.code
    }
    await step.whenHeld()
    task.cancel()
    await expect(task.value, equals: .appCancelled)
    step.release()
    try expect(core.state(of: item.id).attemptsUnderWay, equals: 10)
  }

  /// Verified to fail when the verdict is written only where the call goes on.
  @Test("a PIN that is right all the same costs no attempt", arguments: [false, true])
  func derivation(isLogin: Bool) async throws {
    let step = step
    let (item, core) = try await made(.testing(clock: clock, derivationObserver: { step.hold() }))
    let use = try context("8306")
    step.arm()
    let task = Task {
      await thrown(awaiting: { () throws(VaultError) in
        if isLogin {
          _ = try await item.logIn(by: .pin, context: use)
        } else {
          _ = try await item.verify(context: use)
        }
      })?.code
    }
    await step.whenHeld()
    task.cancel()
    await expect(task.value, equals: .appCancelled)
    step.release()
    // The thread of the call goes on after its caller left.
    try await awaitUntil("the verdict is written") { try core.state(of: item.id).attemptsUnderWay == 0 }
    #expect(try core.state(of: item.id).failures == 0)
    try expect(core.auditEntries().count { $0.operation == .login }, equals: 0)
  }
}

/// A step of a call that stays where it is until the test releases it.
private final class HeldStep: Sendable {
  private let isArmed = Mutex(false)
  private let released = DispatchSemaphore(value: 0)
  private let held = AsyncStream<Void>.makeStream()

  func arm() { isArmed.withLock { $0 = true } }

  func hold() {
    let holds = isArmed.withLock { isArmed in
      defer { isArmed = false }
      return isArmed
    }
    guard holds else { return }
    held.continuation.yield()
    released.wait()
  }

  func whenHeld() async { for await _ in held.stream { return } }

  func release() { released.signal() }
}
