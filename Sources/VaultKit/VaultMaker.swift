import DeviceKeys
import VaultFormat
import VaultKeys

/// Makes and opens vaults on a separate queue, because a key derivation must not block the caller's actor.
actor VaultMaker {
  private let executor = VaultExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  func create(
    at path: VaultPath, protector: any Protector, passcode: consuming Passcode?
  ) throws(VaultError) -> VaultCore {
    try VaultCore.create(at: path.path, protector: protector, passcode: passcode)
  }

  func open(at path: VaultPath, protector: (any Protector)?) throws(VaultError) -> VaultCore {
    try VaultCore.open(at: path.path, protector: protector)
  }
}
