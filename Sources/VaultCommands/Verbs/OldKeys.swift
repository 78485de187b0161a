import VaultKit

/// Device keys that are left: what a restore, a failed rotation or a killed command leaves.
struct OldKeys {
  let command: Command
  let core: VaultCore

  /// What was removed, and why a place could not be looked at.
  struct Removal {
    var removed: [DeviceKeyID] = []
    var notes: [String] = []
  }

  /// The files beside the vault that a restore has kept or is making, where they are vaults.
  var others: [String] {
    get throws(CommandError) {
      let path = try command.places.vault
      return [".before-restore", ".restoring"].map { path + $0 }.filter { FilePlace.exists($0) }
    }
  }

  /// Old keys in the place where the vault's key is: those that nothing here needs, and those of the vault from before a
  /// restore. That of a restore under way, or interrupted, is neither.
  func found() throws -> (unused: [DeviceKeyID], needed: [DeviceKeyID]) {
    let needed = try others.compactMap { try? VaultCore.outline(at: $0).deviceKey }
    let interrupted = try InterruptedRestore(path: command.places.vault, vault: core.status().vault).key
    let old = try core.oldKeys(in: presentPlace())
    return (
      old.filter { !needed.contains($0) }, old.filter { needed.contains($0) && $0 != interrupted }
    )
  }

  /// Removes them where the vault's key is, and in the other place where keys may be: files, or the Secret Service.
  func remove(presentOnly: Bool = false) throws -> Removal {
    var removal = Removal()
    let present = try presentPlace()
    removal.removed = try core.removeOldKeys(in: present, besides: others)
    for kind in [ProtectorKind.file, .secretService] where !presentOnly && kind != present.kind {
      do throws(VaultError) {
        removal.removed += try core.removeOldKeys(in: command.places.protector(kind), besides: beside())
      } catch { removal.notes.append("no old keys were looked for in the \(kind.place): \(error.message)") }
    }
    return removal
  }

  private func presentPlace() throws -> any Protector {
    let kind = try VaultCore.outline(at: command.places.vault).protector
    return kind == .file ? try command.places.fileProtector() : try command.places.protector(kind)
  }

  private func beside() throws(VaultError) -> [String] { (try? others) ?? [] }
}

extension ProtectorKind {
  fileprivate var place: String { self == .file ? "folder of key files" : "Secret Service" }
}
