import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Limits of codes without a synchronization", .bounded, .requirement("A9", "A17"))
struct OfflineLimitTests {
  private typealias Scene = PeerScene

  /// Verified to fail when a code without a counter is not counted, and when the limit is looked at in the commit alone.
  @Test(
    "after K codes there is no further one, no derivation and no change", arguments: PeerScene.Kind.allCases,
    [true, false])
  func most(kind: PeerScene.Kind, isGuarded: Bool) throws {
    let scene = try Scene(kind, mode: nil, guarded: isGuarded, OfflineLimits(codes: 3))
    for _ in 0..<3 { try scene.code() }
    let (state, sequence) = (try scene.state, try scene.sequence)
    expect(state.codesSinceSynchronization, equals: 3)
    scene.rig.derivations.reset()
    for pin in ["8306", "8307"] {
      let error = thrown { () throws(VaultError) in try scene.code(pin) }
      #expect(error?.code == .outOfStep && error?.message.contains("3 of 3 codes") == true)
    }
    expect(scene.rig.derivations.count, equals: 0)
    #expect(try scene.state == state && scene.sequence == sequence)
    #expect(try scene.core.pinStatuses().allSatisfy { $0.attemptsLeft == 10 })
  }

  /// Verified to fail when the age is taken from the wall clock alone.
  @Test(
    "after T seconds there is no further one, and setting the clock back does not help",
    arguments: PeerScene.Kind.allCases)
  func oldest(kind: PeerScene.Kind) throws {
    let scene = try Scene(kind, mode: nil, OfflineLimits(seconds: 3600))
    let added = scene.rig.clock.now()
    scene.rig.clock.advance(by: .seconds(3599))
    try scene.code()
    scene.rig.clock.advance(by: .seconds(1))
    scene.rig.derivations.reset()
    expect(scene.refusal(), equals: .outOfStep)
    // A commit of another item is enough for the vault to have seen this time.
    _ = try scene.core.add(NewItem(.genericPassword, name: "other"), secret: nil)
    for back in [1, 1800, 3600, 7200] {
      scene.rig.clock.set(to: added.advanced(byMilliseconds: 3_600_000 - Int64(back) * 1000))
      expect(scene.refusal(), equals: .outOfStep, "\(back) s back")
    }
    expect(scene.rig.derivations.count, equals: 0)
  }

  /// Verified to fail when the time of adding is taken from the wall clock.
  @Test("a limit begins at the time by which codes are judged, also where the clock was ahead once")
  func addedAfterAhead() throws {
    let rig = try PINRig()
    let now = rig.clock.now()
    rig.clock.set(to: Instant(seconds: now.seconds + 50_000))
    try agree(rig)
    rig.clock.set(to: now)
    let key = Array("12345678901234567890".utf8)
    let uri = try OTPAuthURI(kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: key))
    let added = try rig.core.addOTP(uri, named: "bank", limits: OfflineLimits(seconds: 3600)).item.id
    _ = try rig.core.nextHOTPCode(of: added)
  }

  /// Lets the recorded time follow the clock: two boots agree with it.
  private func agree(_ rig: PINRig) throws {
    for name in ["one", "two"] {
      rig.clock.reboot()
      _ = try rig.core.add(NewItem(.genericPassword, name: name), secret: nil)
    }
  }

  /// Verified to fail when only the recorded time is compared.
  @Test("a clock a day before the last synchronization says nothing, so it is too old")
  func before() throws {
    let scene = try Scene(.totp, mode: nil, OfflineLimits(seconds: 3600))
    try scene.code()
    scene.rig.clock.set(to: Instant(seconds: scene.rig.clock.now().seconds - 86_401))
    expect(scene.refusal(), equals: .outOfStep)
    scene.rig.clock.set(to: Instant(seconds: scene.rig.clock.now().seconds + 1))
    try scene.code()
  }

  /// Verified to fail when a clock that is before the last synchronization is always too old.
  @Test("after the clock was ahead once, a synchronization permits codes again")
  func ahead() throws {
    let scene = try Scene(.totp, mode: .current, OfflineLimits(seconds: 3600))
    let now = scene.rig.clock.now().seconds
    for ahead in [7200, 60] {
      scene.rig.clock.set(to: Instant(seconds: now + Int64(ahead)))
      if ahead == 7200 {
        expect(scene.refusal(), equals: .outOfStep)
        try agree(scene.rig)
      }
      let time = TransportValue.number(UInt64(now) + UInt64(ahead))
      _ = try scene.synchronize(over: Scene.answering(["state": .text("active"), "unixTime": time]))
    }
    try scene.code()
  }

  /// Verified to fail when each code without a counter needs a commit, and when none is counted.
  @Test("without limits a code writes what it wrote before; with K one commit", arguments: [true, false])
  func writes(isLimited: Bool) throws {
    let limits = isLimited ? OfflineLimits(codes: 100) : OfflineLimits()
    for (kind, commits) in [(PeerScene.Kind.hotp, 1), (.totp, 0), (.countedSuite, 1), (.plainSuite, 0)] {
      let scene = try Scene(kind, mode: nil, guarded: false, limits)
      let before = try scene.sequence
      try scene.code()
      try expect(scene.sequence, equals: before + UInt64(isLimited ? 1 : commits), "\(kind)")
      #expect(try scene.state.codesSinceSynchronization == (isLimited || kind.counts ? 1 : 0), "\(kind)")
    }
  }

  /// Verified to fail when a block is not counted.
  @Test("a block of reserved codes counts as so many")
  func reserved() throws {
    let scene = try Scene(.hotp, mode: nil, guarded: false, OfflineLimits(codes: 5))
    _ = try scene.core.reserveHOTPCodes(3, of: scene.id)
    let sequence = try scene.sequence
    expect(.outOfStep) { () throws(VaultError) in _ = try scene.core.reserveHOTPCodes(3, of: scene.id) }
    try expect(scene.sequence, equals: sequence)
    _ = try scene.core.reserveHOTPCodes(2, of: scene.id)
    expect(scene.refusal(), equals: .outOfStep)
  }

  /// Verified to fail when the count is compared outside of the commit alone.
  @Test("many at a time make no more than K", arguments: [PeerScene.Kind.hotp, .totp, .plainSuite])
  func parallel(kind: PeerScene.Kind) throws {
    let scene = try Scene(kind, mode: nil, guarded: false, OfflineLimits(codes: 7))
    let makers = Crowd()
    let made = Atomic(0)
    let refused = Atomic(0)
    makers.run(20) { _ in
      guard let core = try? scene.rig.place.openCore() else { return }
      makers.meet()
      let error = thrown { () throws(VaultError) in try scene.code(in: core) }
      if error == nil { made.add(1, ordering: .relaxed) } else { refused.add(1, ordering: .relaxed) }
    }
    expect(made.load(ordering: .relaxed), equals: 7)
    expect(refused.load(ordering: .relaxed), equals: 13)
  }

  @Test("a verifier has no limits; K = 0 permits no code; a limit of another type is none of ours")
  func odd() throws {
    let rig = try PINRig()
    var new = NewOTPCredential(.hotp(counter: 0), name: "v", role: .verifier)
    new.offlineCodes = 1
    let (limited, key) = (new, SharedSecret(SecretBytes(copying: PeerScene.key)))
    expect(.malformed) { () throws(VaultError) in
      try rig.core.writing { transaction throws(VaultError) in
        _ = try transaction.enroll(limited, key: key.bytes.copy())
      }
    }
    let none = try Scene(.hotp, mode: nil, guarded: false, OfflineLimits(codes: 0))
    expect(none.refusal(), equals: .outOfStep)
    // The device key alone can write this.
    var changes = ItemChanges()
    changes.attributes[Attribute<Int64>(code: 78)] = -1
    let negative = changes
    try none.core.writing { transaction throws(VaultError) in
      _ = try transaction.update(none.id, negative, secret: nil, by: Component(.otp))
    }
    expect(none.refusal(), equals: .outOfStep)
  }

  @Test("without a server, a counter that the person sets is the synchronization; with one it is not")
  func counterSet() throws {
    let scene = try Scene(.hotp, mode: nil, guarded: false, OfflineLimits(codes: 1, seconds: 60))
    try scene.code()
    scene.rig.clock.advance(by: .seconds(60))
    let error = thrown { () throws(VaultError) in try scene.code() }
    expect(error?.advice, equals: .setCounter)
    try scene.core.setCounter(of: scene.id, to: 5)
    try expect(scene.code(), equals: PINRig.rfc4226[5])
    try scene.core.activate(scene.id)
    try scene.core.setCounter(of: scene.id, to: 7)
    let again = thrown { () throws(VaultError) in try scene.code() }
    #expect(again?.code == .outOfStep && again?.advice == .synchronize)
  }

  /// An offline seal: its own check of the synchronization, its PIN, and its remaining time.
  @Test("a seal with time is limited, asks for the PIN, and says how long it is valid", .requirement("A15"))
  func seal() throws {
    let scene = try Scene(.timedSuite, mode: nil, OfflineLimits(codes: 2))
    let request = try PeerScene.request()
    let now = scene.rig.clock.now().seconds
    let seal = try scene.core.signOCRA(request, with: scene.id, context: scene.rig.context("8306"))
    #expect(seal.validity.map { $0.contains(now) && $0.count == 60 } == true)
    expect(scene.refusal("8307"), equals: .authenticationFailed)
    expect(scene.refusal(nil), equals: .interactionNotAllowed)
    try expect(scene.state.codesSinceSynchronization, equals: 1)
    try scene.code()
    expect(scene.refusal(), equals: .outOfStep)
  }
}
