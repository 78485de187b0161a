package import CommandLineKit
package import VaultKit
import VaultWords

/// Old device keys: those that this vault has replaced, and those that it does not know.
package struct OldKeys {
  private let core: VaultCore
  /// The file of the vault.
  private let vault: String
  private let places: KeyPlaces

  package init(of core: VaultCore, at vault: String, places: KeyPlaces) {
    (self.core, self.vault, self.places) = (core, vault, places)
  }

  /// What was removed, what was not, and why a place could not be looked at.
  package struct Removal {
    package var keys = KeyRemoval()
    package var notes: [String] = []
  }

  /// All keys but the present one, where the vault's key is, and among the key files.
  package func found() throws -> [FoundDeviceKey] {
    let present = try presentPlace()
    var found = try core.deviceKeys(in: present)
    if present.kind != .file, let files = try? places.protector(.file) {
      found += (try? core.deviceKeys(in: files)) ?? []
    }
    return found.filter { $0.standing != .present }
  }

  /// What has the name of a key among the key files and is none.
  private func lookalikes() -> [String] {
    guard let files = try? places.files(),
      let outline = try? VaultCore.outline(at: vault)
    else { return [] }
    return (try? files.lookalikes(of: outline.vault)) ?? []
  }

  /// Deletes the replaced ones where the vault's key is, and in the other place where keys may be: files, or the Secret
  /// Service.
  package func remove(presentOnly: Bool = false) throws -> Removal {
    var removal = Removal()
    let present = try presentPlace()
    removal.keys = try core.deleteReplacedKeys(in: present)
    for kind in [ProtectorKind.file, .secretService] where !presentOnly && kind != present.kind {
      do throws(VaultError) {
        let others = try core.deleteReplacedKeys(in: places.protector(kind))
        removal.keys.removed += others.removed
        removal.keys.failures += others.failures
      } catch { removal.notes.append("no old keys were looked for in the \(kind.place): \(error.message)") }
    }
    return removal
  }

  private func presentPlace() throws -> any Protector {
    let kind = try VaultCore.outline(at: vault).protector
    return kind == .file ? try places.files() : try places.protector(kind)
  }
}

// MARK: doctor

extension OldKeys {
  /// What `doctor` reports about them, after it has removed the keys that it was told to remove. With an error where a key
  /// that was to be removed is still there.
  ///
  /// - Parameters:
  ///   - isRemovalAsked: Whether the replaced keys are removed without asking.
  ///   - agrees: Whether a person agrees that these replaced keys are removed.
  ///   - removing: Called directly before the first removal.
  ///   - note: Tells a person something beside the findings.
  package func findings(
    isRemovalAsked: Bool, agrees: ([FoundDeviceKey]) -> Bool,
    removing: () throws(VaultError) -> Void, note: (String) -> Void
  ) -> (findings: [Finding], failure: CommandError?) {
    var findings: [Finding] = []
    var failure: CommandError?
    do {
      var left = try found()
      let replaced = left.filter { $0.standing == .replaced || $0.standing == .left }
      if isRemovalAsked || (!replaced.isEmpty && agrees(replaced)) {
        try removing()
        let removal = try remove()
        removal.notes.forEach(note)
        findings += self.findings(removal.keys)
        if !removal.keys.failures.isEmpty { failure = Self.incomplete }
        left = try found()
      }
      findings += left.map(finding)
    } catch {
      let error = CommandError(describing: error)
      findings.append(
        Finding("oldKeys", .warning, "old keys cannot be listed: \(error.message)", error.hint))
      if isRemovalAsked { failure = error }
    }
    return (findings + lookalikes().map(Self.lookalike), failure)
  }

  private func findings(_ removal: KeyRemoval) -> [Finding] {
    let count = removal.removed.count
    let line = count == 1 ? "1 old device key was removed" : "\(count) old device keys were removed"
    return [Finding("removedKeys", .ok, line)]
      + removal.removed.map { Finding("removedKeys", .ok, "removed \($0.place)") }
      + removal.failures.map { Finding("removedKeys", .problem, $0.message, CommandError($0).hint) }
  }

  private static var incomplete: CommandError {
    CommandError(
      .io, "not every old device key was removed",
      hint: "the lines about 'removedKeys' say why, and what to do")
  }

  private static func lookalike(_ path: String) -> Finding {
    Finding(
      "unknownKeys", .warning, "this has the name of a device key, and no key is looked for there: \(path)",
      "a key is a regular file, named in lower-case letters: rename this one, or move it away")
  }

  private func finding(_ key: FoundDeviceKey) -> Finding {
    switch key.standing {
    case .present: Finding("oldKeys", .ok, "the device key is \(key.place)")
    case .replaced:
      Finding(
        "oldKeys", .warning, "a replaced device key is still there: \(key.id), in \(key.place)",
        "'vaultctl vault doctor --remove-old-keys' removes it; copies of the vault file from its time need it"
      )
    case .left:
      Finding(
        "oldKeys", .warning,
        "an interrupted command has left a device key that the vault never had: \(key.id), in \(key.place)",
        "'vaultctl vault doctor --remove-old-keys' removes it, and so does the next 'vaultctl vault rotate device-key'"
      )
    case .needed(let file):
      Finding("oldKeys", .ok, "a device key is kept for \(file): \(key.id), in \(key.place)")
    case .perhapsNeeded(let file):
      Finding(
        "oldKeys", .warning,
        "a device key is kept for \(file), which cannot be read and may need it: \(key.id), in \(key.place)",
        "if you do not need \(file), move it away")
    case .unknown:
      Finding(
        "unknownKeys", .warning,
        "a device key that no file is known to name: \(key.id), in \(key.place)",
        "keep it unless you know that no vault needs it: a backup restored elsewhere has the id of this vault"
      )
    }
  }
}

extension ProtectorKind {
  fileprivate var place: String { self == .file ? "folder of key files" : "Secret Service" }
}
