import VaultKit

/// What a restore over a vault leaves when it is killed: the finished vault that never came into its place, and a second
/// name of the vault that was to make way. The next restore removes both.
struct InterruptedRestore {
  /// The vault in its place.
  let path: String
  let vault: VaultID

  /// Where a restore makes the new vault while the old one is still in its place.
  var beside: String { path + ".restoring" }
  /// Where the old one goes.
  var aside: String { path + ".before-restore" }

  /// The device key of the vault that was made and not put into its place. A file there is complete: it gets its name
  /// when it is.
  ///
  /// A restore makes a key of its own. A file that names the present one is no restore's: somebody's copy, or another
  /// name of the vault, and to remove its key would be the end of the vault.
  var key: DeviceKeyID? {
    guard FilePlace.exists(beside), let outline = try? VaultCore.outline(at: beside), outline.vault == vault,
      let present = try? VaultCore.outline(at: path), outline.deviceKey != present.deviceKey
    else { return nil }
    return outline.deviceKey
  }

  /// Refuses where something else is in the way: a file of another kind, or the vault from before an earlier restore.
  func refuseTaken() throws(CommandError) {
    if FilePlace.exists(beside), key == nil { throw FilePlace.taken(beside) }
    if FilePlace.exists(aside), !FilePlace.isSame(aside, path) { throw FilePlace.taken(aside) }
  }

  /// Removes what was left, with the device key that only that vault has.
  ///
  /// - Parameter lock: The lock on the device keys: whoever holds it knows that no other restore is at work.
  /// - Returns: Whether there was anything.
  func remove(_ lock: ProtectorLock?, keysIn protector: any Protector) throws -> Bool {
    try refuseTaken()
    let key = key
    guard key != nil || FilePlace.exists(aside) else { return false }
    guard let lock else { throw FilePlace.taken(key == nil ? aside : beside) }
    defer { lock.keep() }
    if FilePlace.exists(aside) { try FilePlace.removeName(aside) }
    if let key {
      FilePlace.remove(vault: beside)
      try protector.deleteKey(key, of: vault)
    }
    return true
  }
}
