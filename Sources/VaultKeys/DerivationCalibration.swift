package import VaultFormat
import Glibc
package import PasswordDerivation
import SecretMemory

/// Finds the most expensive Argon2id parameters whose derivation takes at most a given time on this machine (RFC 9106
/// §4).
///
/// Memory grows first, because a guesser cannot save memory; passes take the rest of the time. The choice is never
/// below the parameters of this version, so that a slow machine does not make a vault weak.
package struct DerivationCalibration {
  /// The maximum time of one derivation.
  package let target: Duration
  /// The smallest choice, regardless of how long it takes.
  package let floor: Argon2id.Parameters
  /// The largest choice: within the bounds of the format and of this machine's memory.
  package let ceiling: Argon2id.Parameters

  /// One choice and its measured time.
  package struct Measured: Sendable, Equatable {
    package let parameters: Argon2id.Parameters
    package let time: Duration

    package init(parameters: Argon2id.Parameters, time: Duration) {
      self.parameters = parameters
      self.time = time
    }
  }

  package init(target: Duration, floor: Argon2id.Parameters, ceiling: Argon2id.Parameters) {
    self.target = target
    self.floor = floor
    self.ceiling = ceiling
  }

  /// For a vault's environment: at most 16 times the default memory, and at most an eighth of this machine's memory.
  package init(target: Duration, in environment: VaultEnvironment) {
    var most = environment.bounds.ceiling
    let eighth = UInt32(clamping: sysconf(Int32(_SC_PHYS_PAGES)) / 8 * (sysconf(Int32(_SC_PAGESIZE)) / 1024))
    most.memoryKiB = min(most.memoryKiB, environment.parameters.memoryKiB * 16, eighth)
    self.init(target: target, floor: environment.parameters, ceiling: most)
  }

  /// Makes the choice. Each step is measured; the last measurement is that of the choice.
  package func choose(
    _ measure: (Argon2id.Parameters) throws(VaultError) -> Duration
  ) throws(VaultError) -> Measured {
    var best = Measured(parameters: floor, time: try measure(floor))
    while best.time * 2 <= target, best.parameters.memoryKiB <= ceiling.memoryKiB / 2 {
      var next = best.parameters
      next.memoryKiB *= 2
      let measured = Measured(parameters: next, time: try measure(next))
      guard measured.time <= target else { break }
      best = measured
    }
    var passes = passes(for: best)
    while passes > best.parameters.iterations {
      var next = best.parameters
      next.iterations = passes
      let measured = Measured(parameters: next, time: try measure(next))
      if measured.time <= target { return measured }
      passes -= 1
    }
    return best
  }

  /// How many passes fit into the time, estimated from the time of one pass.
  private func passes(for measured: Measured) -> UInt32 {
    guard measured.time > .zero, measured.time < target else {
      return measured.time > .zero ? measured.parameters.iterations : ceiling.iterations
    }
    let share = Int64(target / measured.time * 1024)
    return min(ceiling.iterations, UInt32(clamping: Int64(measured.parameters.iterations) * share / 1024))
  }
}

extension VaultEnvironment {
  /// How long one derivation takes here, by the boot clock: the shorter of two measurements, because other programs run
  /// too.
  package func time(of parameters: Argon2id.Parameters) throws(VaultError) -> Duration {
    min(try timeOnce(parameters), try timeOnce(parameters))
  }

  private func timeOnce(_ parameters: Argon2id.Parameters) throws(VaultError) -> Duration {
    let start = clock.bootMilliseconds()
    let derivation = KeyDerivation(parameters: parameters, salt: [UInt8](repeating: 0, count: 16))
    _ = try derivation.derive(from: SecretBytes(copying: [0]), as: .newPasscode, in: self)
    return .milliseconds(Int64(clamping: clock.bootMilliseconds() - start))
  }
}

extension Duration {
  var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
