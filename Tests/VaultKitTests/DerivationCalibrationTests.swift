import PasswordDerivation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("Calibration of the key derivation", .bounded)
struct DerivationCalibrationTests {
  /// A machine that takes so many microseconds for one pass over one MiB.
  private func measure(_ microseconds: Int64) -> (Argon2id.Parameters) -> Duration {
    { .microseconds(Int64($0.memoryKiB / 1024) * Int64($0.iterations) * microseconds) }
  }

  private func choose(
    _ microseconds: Int64, target: Duration, ceiling: Argon2id.Parameters = Argon2id.Bounds.standard.ceiling
  ) throws -> DerivationCalibration.Measured {
    let machine = measure(microseconds)
    return try DerivationCalibration(target: target, floor: .standard, ceiling: ceiling).choose {
      parameters throws(VaultError) in machine(parameters)
    }
  }

  @Test(
    "the choice fits the time, a further doubling or pass would not, and it is never below the default",
    arguments: [1, 10, 50, 200, 500, 1000, 2600, 5000, 100_000] as [Int64], [100, 250, 500, 2000, 10_000])
  func fits(microseconds: Int64, milliseconds: Int) throws {
    let target = Duration.milliseconds(milliseconds)
    let chosen = try choose(microseconds, target: target)
    let bounds = Argon2id.Bounds(floor: .standard, ceiling: Argon2id.Bounds.standard.ceiling)
    #expect(bounds.allow(chosen.parameters))
    expect(chosen.time, equals: measure(microseconds)(chosen.parameters))
    if chosen.parameters != .standard {
      #expect(chosen.time <= target)
      var dearer = chosen.parameters
      dearer.iterations += 1
      #expect(dearer.iterations > bounds.ceiling.iterations || measure(microseconds)(dearer) > target)
    }
  }

  // Fails when a step is taken although its measurement is above the target.
  @Test("where more memory costs more than its share, what was measured counts and not what was expected")
  func bent() throws {
    func time(_ parameters: Argon2id.Parameters) -> Duration {
      let mebibytes = Int64(parameters.memoryKiB / 1024)
      return .microseconds(mebibytes * Int64(parameters.iterations) * (mebibytes > 128 ? 1700 : 500))
    }
    let chosen = try DerivationCalibration(
      target: .milliseconds(500), floor: .standard, ceiling: Argon2id.Bounds.standard.ceiling
    ).choose { parameters throws(VaultError) in time(parameters) }
    expect(
      chosen.parameters, equals: Argon2id.Parameters(memoryKiB: 128 << 10, iterations: 7, parallelism: 4))
    #expect(chosen.time == time(chosen.parameters) && chosen.time <= .milliseconds(500))
  }

  @Test("a slow machine keeps the default, a fast one gets memory first, and neither leaves the bounds")
  func examples() throws {
    try expect(choose(10_000, target: .milliseconds(500)).parameters, equals: .standard)
    let middle = try choose(500, target: .milliseconds(500)).parameters
    expect(middle, equals: Argon2id.Parameters(memoryKiB: 256 << 10, iterations: 3, parallelism: 4))
    let fast = try choose(1, target: .seconds(10)).parameters
    expect(fast, equals: Argon2id.Parameters(memoryKiB: 1 << 20, iterations: 16, parallelism: 4))
    var small = Argon2id.Bounds.standard.ceiling
    small.memoryKiB = 100 << 10
    try expect(choose(500, target: .milliseconds(500), ceiling: small).parameters.memoryKiB, equals: 64 << 10)
  }

  @Test("a vault's passcode is derived with what was measured by its own clock, and the old cost is told")
  func vault() throws {
    let clock = FixedClock(at: Instant(seconds: 0), sinceBoot: .seconds(1))
    // Each derivation of this world takes 100 ms, so the target of 1 s allows more memory, and passes.
    let place = TemporaryVault(
      environment: .testing(clock: clock, derivationObserver: { clock.advance(by: .milliseconds(100)) }))
    let core = try place.makeCore(passcode: "pass")
    let (before, now) = try core.recalibrate(Passcode(testing: "pass"), target: .seconds(1))
    #expect(before.memoryKiB == 64 && before.passes == 1 && before.milliseconds == 100)
    #expect(now.memoryKiB == 1024 && now.passes == 10 && now.milliseconds == 100)
    let stored = try #require(try core.status().derivation)
    #expect(stored.memoryKiB == 1024 && stored.passes == 10)
    let again = try place.openCore()
    try again.unlock(with: Passcode(testing: "pass"))
    #expect(throws: VaultError.self) {
      try again.recalibrate(Passcode(testing: "wrong"), target: .seconds(1))
    }
    try expect(again.status().derivation?.memoryKiB, equals: 1024)
  }
}
