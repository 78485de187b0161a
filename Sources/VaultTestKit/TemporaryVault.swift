import Glibc
public import SecretMemory
public import VaultKit

// The front page of VaultTestKit, which tests of this package and of its users import. Read in this order:
//
// - `TemporaryVault` makes and opens vaults.
// - `TestWorld` chooses clock, random bytes and the cost of a derivation. `FixedClock` and `SeededRandom` are
//   such a clock and such bytes. `Vault+TestWorld.swift`: create, open, restore and recover in such a world.
// - `ScriptedPrompt`, `ScriptedPresence` and `ScriptedBiometry` answer in place of a person.
// - `RawSQLite.swift`, for the tests of this package: tampers with a vault file.

/// A vault in its own temporary directory. The directory is removed with this value and with the last vault that
/// was opened in it.
///
/// ```swift
/// let place = TemporaryVault()
/// let vault = try place.make(passcode: "1234")     // microseconds instead of tens of milliseconds
/// ```
///
/// It protects nothing, and says so: outside of this module nothing opens it. A ``TestWorld`` chooses the clock, the random bytes and
/// the cost of a derivation.
public final class TemporaryVault: Sendable {
  /// The directory, with everything in it.
  public let folder: String
  /// The vault file.
  public var path: String { folder + "/data/test.vault" }
  /// The protector, whose key is beside the directory of the vault, not in it.
  public var protector: FileProtector { FileProtector(folder: folder + "/state") }
  package let environment: VaultEnvironment

  /// Makes the directory; ``make(passcode:)`` then makes the vault. Without arguments: real clocks, real random bytes
  /// and cheap derivations.
  ///
  /// - Parameters:
  ///   - world: The clock, the random bytes and the cost of derivations.
  ///   - place: The directory to make it in; `nil` for `TMPDIR`, or `/tmp`.
  /// - Precondition: A directory can be made there.
  public convenience init(_ world: TestWorld = TestWorld(), in place: String? = nil) {
    self.init(environment: world.environment, in: place)
  }

  /// Makes the directory. ``makeCore(passcode:)`` or ``make(passcode:)`` makes the vault.
  package init(environment: VaultEnvironment, in place: String? = nil) {
    let base = unsafe place ?? getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array((base + "/vault-test-XXXXXX").utf8CString)
    folder = unsafe template.withUnsafeMutableBufferPointer { buffer in
      guard let made = unsafe mkdtemp(buffer.baseAddress!) else {
        preconditionFailure("TemporaryVault: no temporary directory below \(base)")
      }
      return unsafe String(cString: made)
    }
    self.environment = environment
  }

  deinit { Self.remove(folder) }

  /// Creates the vault.
  package func makeCore(passcode: String? = nil, recovery: Bool = false) throws(VaultError) -> VaultCore {
    var show: ((borrowing RecoveryCode, VaultOutline) throws(VaultError) -> Void)?
    if recovery { show = { (_: borrowing RecoveryCode, _: VaultOutline) throws(VaultError) in } }
    return try VaultCore.create(
      at: path, protector: protector, passcode: try Self.passcode(passcode), recovery: show,
      environment: holdingEnvironment)
  }

  /// Opens the vault again, as another process would.
  package func openCore() throws(VaultError) -> VaultCore {
    try VaultCore.open(at: path, protector: protector, environment: holdingEnvironment)
  }

  /// Keeps the directory while a vault in it is open, because a vault whose file is gone can no longer write.
  private var holdingEnvironment: VaultEnvironment {
    var environment = environment
    let protector = environment.protector
    environment.protector = { [self] kind throws(VaultError) in
      try withExtendedLifetime(self) { () throws(VaultError) in try protector(kind) }
    }
    return environment
  }

  /// Creates the vault, unlocked. Call this once.
  ///
  /// - Parameter passcode: `nil` for a vault that is never locked.
  /// - Throws: ``VaultError/Code/vaultExists``, ``VaultError/Code/malformed`` for an empty passcode.
  public func make(passcode: String? = nil) throws(VaultError) -> Vault {
    Vault(core: try makeCore(passcode: passcode))
  }

  /// Opens the vault again, as another process would: locked, if it has a passcode.
  ///
  /// - Throws: As ``Vault/open(at:protector:)``.
  public func open() throws(VaultError) -> Vault { Vault(core: try openCore()) }

  private static func passcode(_ text: String?) throws(VaultError) -> Passcode? {
    guard let text else { return nil }
    return try Passcode(testing: text)
  }

  private static func remove(_ path: String) {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { remove(path + "/" + name) }
      }
      unsafe closedir(directory)
      unsafe rmdir(path)
    } else {
      unsafe unlink(path)
    }
  }
}

extension Passcode {
  /// A passcode from a literal, for tests only.
  public init(testing text: String) throws(VaultError) { try self.init(SecretBytes(testing: text)) }
}

extension ApplicationPassword {
  /// An application password from a literal, for tests only.
  public init(testing text: String) throws(VaultError) { try self.init(SecretBytes(testing: text)) }
}

extension BiometricPhrase {
  /// A phrase from a literal, for tests only.
  public init(testing text: String) throws(VaultError) { try self.init(SecretBytes(testing: text)) }
}

extension SecretBytes {
  /// Secret bytes from a literal, for tests only.
  public init(testing text: String) { self.init(copying: Array(text.utf8)) }

  /// A copy in ordinary memory, for tests only.
  public var bytesForTesting: [UInt8] { expose { span in unsafe span.withUnsafeBytes { unsafe Array($0) } } }
}
