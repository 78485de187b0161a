// MARK: The vault and its path

extension Hint {
  package static let createVault: Hint =
    "make one\(tool: " with 'vaultctl init'"), or name another path\(tool: " with --vault")"
  package static let createRealVault: Hint = "make a real one\(tool: " with 'vaultctl init'")"
  package static let nameOtherVault: Hint = "choose another path\(tool: " with --vault")"
  package static let nameVault: Hint =
    "name your vault\(tool: " with --vault"); if it was at this path, restore it from a backup"
  package static let nameVaultFile: Hint = "name a file\(tool: " with --vault")"
  package static let setVaultPath: Hint =
    "name one\(tool: " with --vault") or \("set ", tool: "")VAULTCTL_PATH"
  package static let moveVaultHome: Hint =
    "if it is your vault, move it into your home and let only yourself read it; else name another\(tool: " with --vault")"
  package static let exportWithOldProgram: Hint =
    "docs/guides/backup-and-recovery.md says which commit that is, and what an export leaves out"
  package static let useNewerVersion: Hint =
    "open it with the version of \("the program", tool: "vaultctl") that made it"
  package static let freeSpace: Hint = """
    free some space and try again; if only the vault is on that disk: \
    \("make a backup on", tool: "'vaultctl backup' to") another disk, and \
    \("restore it", tool: "'vaultctl restore'") there
    """
  package static let listItems: Hint =
    "\("list the items for their", tool: "'vaultctl ls' shows the") names"

  package static let showFields: Hint =
    "\("list the fields of the entry", tool: "'vaultctl show' lists the fields of an entry")"

  /// - Parameter name: The name of the entry.
  package static func removeCode(of name: String) -> Hint {
    "\("delete that first", tool: "delete it first with 'vaultctl otp rm \(plainName(name) ?? "NAME")'")"
  }

  package static let listTrash: Hint =
    "\("list what is in the trash", tool: "'vaultctl trash list' shows what is there")"
  package static let showHistory: Hint =
    "\("list the former versions of the entry", tool: "'vaultctl history' lists the former versions of an entry")"

  /// - Parameter item: The name or the identifier of the item.
  package static func restoreFromTrash(_ item: String) -> Hint {
    "\("put it back first", tool: "put it back with 'vaultctl trash restore \(plainName(item) ?? "NAME")'")"
  }

  /// - Parameter name: The name of the item.
  package static func removeExpiry(of name: String?) -> Hint {
    removeExpiry(of: name, typed: name.flatMap(plainName) ?? "NAME")
  }

  /// - Parameter typed: What names the item on a command line.
  package static func removeExpiry(of name: String?, typed: String) -> Hint {
    let removal = "remove the expiry of \(name.map { "'\($0)'" } ?? "the item"), or store a new one"
    return "\(removal, tool: "remove the expiry with 'vaultctl edit \(typed) --no-expiry'")"
  }

  /// The name, if a shell and the parser take it as it is.
  package static func plainName(_ name: String) -> String? {
    let isPlain = { (byte: UInt8) in
      0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || "._@/+-".utf8.contains(byte)
    }
    return !name.isEmpty && name.utf8.first != UInt8(ascii: "-") && name.utf8.allSatisfy(isPlain) ? name : nil
  }
}

// MARK: Damage, rotation and backups

extension Hint {
  package static let verifyAndRestore: Hint =
    "\("verify the vault", tool: "run 'vaultctl vault check'") and restore\(" it", tool: "") from a backup"
  package static let useAnotherBackup: Hint = "use another backup"
  package static let rotateEpoch: Hint = "\("rotate the epoch", tool: "run 'vaultctl vault rotate epoch'")"
  package static let acceptDamage: Hint = """
    the file was altered outside of this program: restore it from a backup; or accept the rows that are left \
    \("and rotate the epoch without what is damaged", tool: "with 'vaultctl vault rotate epoch --drop-damaged'")
    """
  package static let renewVaultState: Hint = """
    \("a rotation of the epoch without what is damaged", tool: "'vaultctl vault rotate epoch --drop-damaged'") makes it again; \
    where a passcode is set give it the recovery code too\(tool: " (--recovery-file)"), or restore the vault from a backup
    """
  package static let dropDamaged: Hint = """
    \("a rotation can remove", tool: "'--drop-damaged' removes") what does not open; or restore the vault from a backup
    """
  package static let resumeRotation: Hint = """
    the vault works meanwhile; \("a rotation can remove", tool: "'vaultctl vault rotate epoch --drop-damaged' removes") what does not open\
    \(", or delete", tool: ", 'vaultctl rm --id ID'") one item\(" by its id", tool: "")
    """
  package static let rotateWithNewerVersion: Hint = """
    rotate with the newer version that made this, which \("no rotation here", tool: "'--drop-damaged' never") removes; \
    \("a deletion by its id", tool: "'vaultctl rm --id ID'") removes one item, and a restore from a backup leaves the log behind
    """
  package static let purgeAgain: Hint =
    "when that process has ended, \("purge", tool: "run 'vaultctl vault purge'") again"
  package static let nameBackup: Hint = "name a \("backup", tool: "file made by 'vaultctl backup'")"
  package static let restoreBackup: Hint = "restore it\(tool: " with 'vaultctl restore'")"
  package static let restoreElsewhere: Hint = "restore to another path\(tool: " with --vault PATH")"
}

// MARK: Passcode, recovery code and members

extension Hint {
  package static let setPasscode: Hint = "set one\(tool: " with 'vaultctl passcode set'")"
  package static let setPasscodeFirst: Hint = "\("set a passcode", tool: "run 'vaultctl passcode set'") first"
  package static let changePasscode: Hint = "change it\(" instead", tool: " with 'vaultctl passcode change'")"
  package static let makeRecoveryCode: Hint =
    "make \("a recovery code", tool: "one with 'vaultctl recovery-code new'")"
  package static let listMembers: Hint =
    "\("list the members for their names", tool: "'vaultctl biometry list' shows the members")"
  package static let enrollMember: Hint = "enroll one\(tool: " with 'vaultctl biometry enroll MEMBER'")"
  package static let removeMember: Hint =
    "choose another name, or remove that member first\(tool: " with 'vaultctl biometry remove'")"
  package static let enrollFingersAgain: Hint = """
    put the fingers of the set back on the reader, or enrol them again\
    \(tool: " with 'vaultctl biometry enroll --source fingerprint'"): items of the set as it was then stay closed
    """
}

// MARK: Device keys

extension Hint {
  package static let setKeyFolder: Hint =
    "set HOME or XDG_STATE_HOME, or name the key file\(tool: " with --device-key")"
  package static let nameKey: Hint = "name your device key\(tool: " with --device-key")"
  package static let nameRightKey: Hint =
    "name the right \("device key", tool: "one with --device-key"), or use the recovery code"
  package static let nameKeyOfRightSize: Hint =
    "the file is no device key, which has 32 bytes: name your device key\(tool: " with --device-key")"
  package static let moveKeyHome: Hint = """
    if it is your device key, move it into your home and let only yourself read it; \
    else name your device key\(tool: " with --device-key")
    """
  package static let putKeyBack: Hint =
    "put its copy back, name it\(tool: " with --device-key"), or use the recovery code or a backup"
  package static let putKeyCopyBack: Hint =
    "put it back from a copy\(tool: " with --device-key"), or use the recovery code"
  package static let putRightKeyBack: Hint =
    "put the right one back from a copy\(tool: " with --device-key"), or use the recovery code"
  package static let openKeyCollection: Hint = """
    open the collection that it is in, name a copy\(tool: " with --device-key"), or use the recovery code or a backup
    """
  package static let keepKeyInFile: Hint = "keep the key in a file\(tool: ": --protector file")"
  package static let nameOtherKeyPlace: Hint =
    "name another place\(" for the device key", tool: " with --device-key")"
  package static let nameOtherKeyFolder: Hint = "name another folder\(tool: " with --device-key")"
  package static let nameOtherKeyFile: Hint =
    "name another file\(tool: " with --device-key"), or move that one away"
  package static let nameOtherKeyFileOrRemove: Hint = """
    name another file\(tool: " with --device-key"); where an \("interrupted creation", tool: "'init' that was interrupted") \
    has left this one, and no vault was made with it, remove it
    """
  package static let removeOldKey: Hint = """
    the old key no longer opens this vault; remove it\(tool: " with 'vaultctl vault doctor --remove-old-keys'")
    """
  package static let removeOldKeys: Hint = """
    if you do not need that file, move it away, then \
    \("remove the replaced keys", tool: "run 'vaultctl vault doctor --remove-old-keys'")
    """

  /// - Parameter path: The key file, which others can read.
  package static func closeKeyFile(_ path: String) -> Hint {
    """
    chmod 600 \(path); if others have read it, make a new key\(tool: " with 'vaultctl vault rotate device-key'")
    """
  }
}
