import VaultKit

/// Old device keys: those that this vault has replaced, and those that it does not know.
struct OldKeys {
  let command: Command
  let core: VaultCore

  /// What was removed, and why a place could not be looked at.
  struct Removal {
    var removed: [FoundDeviceKey] = []
    var notes: [String] = []
  }

  /// All keys but the present one, where the vault's key is, and among the key files.
  func found() throws -> [FoundDeviceKey] {
    let present = try presentPlace()
    var found = try core.deviceKeys(in: present)
    if present.kind != .file, let files = try? command.places.protector(.file) {
      found += (try? core.deviceKeys(in: files)) ?? []
    }
    return found.filter { $0.standing != .present }
  }

  /// Deletes the replaced ones where the vault's key is, and in the other place where keys may be: files, or the Secret
  /// Service.
  func remove(presentOnly: Bool = false) throws -> Removal {
    var removal = Removal()
    let present = try presentPlace()
    removal.removed = try core.deleteReplacedKeys(in: present)
    for kind in [ProtectorKind.file, .secretService] where !presentOnly && kind != present.kind {
      do throws(VaultError) {
        removal.removed += try core.deleteReplacedKeys(in: command.places.protector(kind))
      } catch { removal.notes.append("no old keys were looked for in the \(kind.place): \(error.message)") }
    }
    return removal
  }

  private func presentPlace() throws -> any Protector {
    let kind = try VaultCore.outline(at: command.places.vault).protector
    return kind == .file ? try command.places.fileProtector() : try command.places.protector(kind)
  }
}

// MARK: doctor

extension OldKeys {
  /// What `doctor` reports about them, after it has removed the keys that it was told to remove.
  func findings() throws -> [Finding] {
    var findings: [Finding] = []
    var left: [FoundDeviceKey]
    do {
      left = try found()
      if try isToRemove(left.filter { $0.standing == .replaced }) {
        findings += try removing()
        left = try found()
      }
    } catch {
      guard !command.invocation.has("remove-old-keys") else { throw error }
      let error = CommandError(describing: error)
      return [Finding("oldKeys", .warning, "old keys cannot be listed: \(error.message)", error.hint)]
    }
    return findings + left.map(finding)
  }

  private func isToRemove(_ replaced: [FoundDeviceKey]) throws -> Bool {
    if command.invocation.has("remove-old-keys") { return true }
    guard !replaced.isEmpty, !command.messages.isJSON, command.invocation.mayPrompt, command.isOnTerminal
    else { return false }
    for key in replaced { command.messages.note("replaced device key: \(key.place)") }
    return command.confirm(
      "delete \(replaced.count == 1 ? "this key" : "these \(replaced.count) keys"), which this vault has replaced"
    )
  }

  private func removing() throws -> [Finding] {
    let removal = try remove()
    removal.notes.forEach(command.messages.note)
    let count = removal.removed.count
    let line = count == 1 ? "1 old device key was removed" : "\(count) old device keys were removed"
    return [Finding("removedKeys", .ok, line)]
      + removal.removed.map { Finding("removedKeys", .ok, "removed \($0.place)") }
  }

  private func finding(_ key: FoundDeviceKey) -> Finding {
    switch key.standing {
    case .present: Finding("oldKeys", .ok, "the device key is \(key.place)")
    case .replaced:
      Finding(
        "oldKeys", .warning, "a replaced device key is still there: \(key.id), in \(key.place)",
        "'vaultctl doctor --remove-old-keys' removes it; copies of the vault file from its time need it")
    case .needed(let file):
      Finding("oldKeys", .ok, "a device key is kept for \(file): \(key.id), in \(key.place)")
    case .unknown:
      Finding(
        "unknownKeys", .warning,
        "a device key that no file is known to name: \(key.id), in \(key.place)",
        "keep it unless you know that no vault needs it: a backup restored elsewhere has the id of this vault"
      )
    }
  }
}

/// Folders of keys with the id of another vault, or of none: an `init` that failed or was killed can leave such a folder.
enum OtherKeys {
  /// - Parameter vault: The vault whose keys are told of elsewhere; `nil` where none was opened.
  static func findings(_ command: Command, besides vault: VaultID?) -> [Finding] {
    // A named key file says nothing about where other vaults have theirs.
    guard command.places.deviceKey == nil, let files = try? command.places.fileProtector() else { return [] }
    do throws(VaultError) {
      return try files.foldersOfKeys().filter { $0.vault != vault && $0.count > 0 }.map { folder in
        let count = folder.count == 1 ? "1 device key" : "\(folder.count) device keys"
        return Finding(
          "otherKeys", .ok, "\(count) of another vault id: \(folder.path)",
          "keep them unless you know that no vault and no backup of one has this id: an 'init' that failed can leave such keys"
        )
      }
    } catch { return [Finding("otherKeys", .warning, error.message, error.hint)] }
  }
}

extension ProtectorKind {
  fileprivate var place: String { self == .file ? "folder of key files" : "Secret Service" }
}
