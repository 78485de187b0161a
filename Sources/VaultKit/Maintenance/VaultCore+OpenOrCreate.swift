import DeviceKeys
import VaultFormat
import VaultKeys
import Glibc
import VaultStorage

extension VaultCore {
  /// Opens the vault at a path, or creates one where there was none. Safe when many processes call it at once: one
  /// creates, the others wait and open the same vault. If the creating process is killed, another one creates.
  ///
  /// Creates only when the directory of the path exists, and neither the vault nor a file that belongs to one
  /// (``RestoreFiles/traces()``) is there: a vault that was lost must not be replaced by an empty one.
  ///
  /// - Parameters:
  ///   - protector: Who keeps the device key; `nil` for the one that the vault's header names, and for a new vault a
  ///     file outside its directory.
  ///   - passcode: The passcode of a new vault; unlocks a vault that is there.
  /// - Throws: ``VaultError/Code/vaultMissing`` when there is no vault and none may be created; what
  ///   ``open(at:protector:checkingRows:environment:)``, ``unlock(with:)`` and
  ///   ``create(at:protector:passcode:recovery:environment:publishing:)`` throw.
  package static func openOrCreate(
    at path: String, protector: (any Protector)? = nil, passcode: consuming Passcode? = nil,
    environment: VaultEnvironment = .system
  ) throws(VaultError) -> (core: VaultCore, isNew: Bool) {
    var passcode = passcode
    var race = KeyRace()
    while race.mayTry() {
      if let core = try openIfPresent(at: path, protector: protector, environment: environment) {
        if let passcode = passcode.take() { try core.unlock(with: passcode) }
        return (core, false)
      }
      guard let place = try placeIfFree(path) else {
        // Another process has created the vault since, or the path is not free for another reason.
        try refuseTraces(at: path)
        continue
      }
      do throws(VaultError) {
        try refuseTraces(at: path)
        let keeper: any Protector
        if let protector { keeper = protector } else { keeper = try environment.protector(.file) }
        let core = try create(
          in: place, at: path, protector: keeper, passcode: passcode.take(), recovery: nil,
          environment: environment)
        place.finish()
        return (core, true)
      } catch {
        place.abandon()
        throw error
      }
    }
    throw VaultError(.busy, "the vault at \(path) is being created and removed again", hint: "try again")
  }

  /// The vault at a path; `nil` if there is none.
  private static func openIfPresent(
    at path: String, protector: (any Protector)?, environment: VaultEnvironment
  ) throws(VaultError) -> VaultCore? {
    do throws(VaultError) { return try open(at: path, protector: protector, environment: environment) } catch
    {
      guard error.code == .vaultMissing else { throw error }
      return nil
    }
  }

  /// The right to create a vault at a path, in an existing directory; `nil` if something is there. Waits for a process
  /// that creates one.
  private static func placeIfFree(_ path: String) throws(VaultError) -> NewVaultPlace? {
    do throws(StorageError) { return try NewVaultPlace.prepare(path, makingFolders: false) } catch {
      switch error {
      case .alreadyExists: return nil
      case .existsBeside:
        try refuseTraces(at: path)
        throw VaultError(error, at: path)
      case .missing:
        throw VaultError(
          .vaultMissing, "there is no vault at \(path), and its directory does not exist",
          hint: "make the directory, or mount it")
      default: throw VaultError(error, at: path)
      }
    }
  }

  /// Refuses a path without a vault where other files show that there was one.
  private static func refuseTraces(at path: String) throws(VaultError) {
    let traces = try RestoreFiles(path: path).traces()
    var entry = stat()
    guard let trace = traces.first, unsafe lstat(path, &entry) != 0, errno == ENOENT else { return }
    throw VaultError(
      .vaultMissing, "the vault at \(path) is missing, and no new one was made: there is still \(trace)",
      hint: .nameVault)
  }
}
