package import DeviceKeys
package import VaultFormat
package import PasswordDerivation
package import VaultCrypto
import Glibc

/// Everything that a vault takes from the world except its file: clocks, randomness, derivation costs, and who asks.
package struct VaultEnvironment: Sendable {
  package var clock: any VaultClock
  package var random: any RandomSource
  /// The bounds for stored Argon2id parameters. Only VaultTestKit passes lower ones.
  package var bounds: Argon2id.Bounds
  /// The parameters a new passcode gets.
  package var parameters: Argon2id.Parameters
  /// Who writes the entries of the audit: this process, unless another one was named.
  package var process: Caller { otherProcess ?? .current }
  private let otherProcess: Caller?
  /// The process that is served; `nil` if this one asks for itself.
  package var caller: Caller?
  /// The protector of the kind that a vault's header names, for a caller that names none.
  package var protector: @Sendable (ProtectorKind) throws(VaultError) -> any Protector = standardProtector
  /// Called once for every Argon2id derivation; tests count with it.
  package var derivationObserver: (@Sendable () -> Void)?
  /// Asked before the memory of a derivation is obtained; a test says no, as a machine without memory does.
  package var hasMemoryForDerivation: (@Sendable () -> Bool)?
  /// The batches of a rotation of the epoch.
  package var rotation = RotationBatches.standard
  /// Called directly before each commit of an open vault: with `true` if the commit does more than count and log what was asked and
  /// looked at. If it throws, nothing is changed.
  package var committing: @Sendable (_ isChange: Bool) throws(VaultError) -> Void = { _ in }
  /// How a locked vault is unlocked where no context can do it; returns whether that was tried. Called outside of every transaction.
  package var unlocking: (@Sendable () -> Bool)?
  /// Whether the file that is opened is the vault itself, which was moved into another file: then its counters are not behind.
  package var move = VaultFileMove.none
  /// How long an open vault waits for other processes that use the file; `nil` for the usual time.
  package var patience: Duration?
  /// Waits where another process is about to commit something.
  package var pause: @Sendable (Duration) -> Void = { time in
    usleep(UInt32(time / .microseconds(1)))
  }

  package init(
    clock: any VaultClock = SystemClock(), random: any RandomSource = SystemRandom(),
    bounds: Argon2id.Bounds = .standard, parameters: Argon2id.Parameters = .standard,
    process: Caller? = nil, derivationObserver: (@Sendable () -> Void)? = nil
  ) {
    self.clock = clock
    self.random = random
    self.bounds = bounds
    self.parameters = parameters
    otherProcess = process
    self.derivationObserver = derivationObserver
  }

  /// The real world.
  package static let system = VaultEnvironment()

  /// The protector of a kind in its standard place; it never asks a person to unlock anything.
  package static func standardProtector(_ kind: ProtectorKind) throws(VaultError) -> any Protector {
    switch kind {
    case .file: return try FileProtector.standard()
    case .secretService: return SecretServiceProtector.standard()
    case _ where kind.isOwn:
      throw VaultError(
        .deviceKeyUnavailable, "the vault's device key is kept by a protector of another program",
        hint: .nameKey)
    default:
      throw VaultError(
        .unsupported, "this version does not know the protector that keeps the vault's device key")
    }
  }

  /// What a vault must note when it is made or changed in this world; empty in the real world. Every source of
  /// random bytes but that of the system counts as predictable.
  package var testMarks: TestMarks {
    // Not `[]`: from another module, that asks the runtime for a conformance, which costs each command 0.1 ms.
    var marks = TestMarks()
    if bounds != .standard { marks.insert(.cheapDerivation) }
    if !(random is SystemRandom) { marks.insert(.predictableRandom) }
    return marks
  }

  /// Refuses a vault or a backup of a test, unless this is the world of a test.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  package func refuseVaultOfTest(_ header: Header) throws(VaultError) {
    guard !header.testMarks.isEmpty, testMarks.isEmpty else { return }
    throw VaultError(
      .policy, "this vault was made or changed by a test, with \(header.testMarks.words)",
      hint: .createRealVault)
  }
}

/// Why a vault has another file than the one that its head names.
package enum VaultFileMove: Sendable {
  /// It is a copy, or was put back: others may have used the original since.
  case none
  /// It was moved into this file, where it stays.
  case here
  /// It was moved into this file, and goes on to a third one: the head then names none.
  case onward
}
