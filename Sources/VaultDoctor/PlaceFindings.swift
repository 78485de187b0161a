import CLinux
import CommandLineKit
import Glibc
import VaultKit

/// Who can reach the files of a vault, and what they lie on.
package enum PlaceFindings {
  package static func all(vault: String, key: String?) -> [Finding] {
    [permissions(vault: vault, key: key), fileSystem(of: folder(of: vault))]
  }

  /// The file and the key are for their owner alone, and nobody else may put a file in their place.
  ///
  /// - Parameter own: The folders below which a hint may advise to change a mode.
  package static func permissions(vault: String, key: String?, own: [String] = OwnFile.folders) -> Finding {
    func mend(_ path: String, mode: String, else advice: String) -> String {
      OwnFile.isOurs(path, below: own) ? "chmod \(mode) '\(path)'" : advice
    }
    var faults: [(what: String, mend: String)] = []
    for (path, name) in [(vault, "the vault"), (key, "the device key")] {
      guard let path, let status = status(path) else { continue }
      // A key that root provides, such as a credential or a secret of a container, is where root has put it.
      if name == "the device key", let fault = providedKeyFault(path) {
        if let fault = fault.first { faults.append(fault) }
        continue
      }
      if status.st_uid != geteuid() {
        faults.append(("\(name) belongs to another user", "use one of your own"))
      }
      if status.st_mode & 0o077 != 0 {
        let advice = "if \(path) is \(name), let only yourself read it"
        faults.append(("others may read or change \(name)", mend(path, mode: "600", else: advice)))
      }
      let folder = folder(of: path)
      guard let above = Self.status(folder) else { continue }
      let advice = "keep \(name) in a folder of its own, in your home"
      if above.st_mode & 0o022 != 0 {
        faults.append(("others may put files beside \(name)", mend(folder, mode: "700", else: advice)))
      } else if above.st_mode & 0o077 != 0 {
        faults.append(("others may look into the folder of \(name)", mend(folder, mode: "700", else: advice)))
      }
    }
    guard let first = faults.first else {
      return Finding("permissions", .ok, "the vault and its device key are for their owner alone")
    }
    return Finding(
      "permissions", .warning, faults.map(\.what).joined(separator: "; "),
      faults.count == 1 ? first.mend : faults.map(\.mend).joined(separator: "; "))
  }

  /// What is wrong with a device key of root that this user uses; `nil` for any other key.
  private static func providedKeyFault(_ path: String) -> [(what: String, mend: String)]? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_uid == 0, geteuid() != 0 else { return nil }
    guard status.st_mode & 0o007 != 0 else { return [] }
    return [
      (
        "every user of this system may read the device key",
        "as root: let only the group of the service read it"
      )
    ]
  }

  /// Whether the last commit can be remembered beside the device key, or in the standard place.
  ///
  /// - Parameter path: Of the witness, which exists after the first commit that this machine made; nil where it cannot be made.
  package static func witness(_ path: String?) -> Finding? {
    guard let path else { return noWitness }
    guard let status = status(path) else { return nil }
    let kinds: [mode_t: String] = [
      S_IFDIR: "a folder", S_IFLNK: "a symbolic link", S_IFIFO: "a named pipe", S_IFSOCK: "a socket",
      S_IFCHR: "a device", S_IFBLK: "a device",
    ]
    let fault: String
    var mend = "remove it, after a look at who made it: the next change of the vault makes it again"
    if let kind = kinds[status.st_mode & S_IFMT] {
      fault = "is \(kind), not a file"
    } else if status.st_uid != geteuid() {
      fault = "belongs to another user"
    } else if status.st_mode & 0o022 != 0 {
      fault = "can be written by others"
    } else if status.st_nlink > 1 {
      fault = "has a second name (a hard link)"
    } else if status.st_mode & 0o600 != 0o600 {
      fault = "cannot be read and written by you"
    } else if unsafe access(path, R_OK | W_OK) != 0 {
      // Also root cannot write on a medium that is read-only.
      (fault, mend) = ("is on a disk that cannot be written to", "let that disk be written to")
    } else if status.st_size < 24 {
      (fault, mend) = (
        "says nothing: its disk may be full", "free some space there: the next change of the vault writes it"
      )
    } else {
      return nil
    }
    return Finding(
      "witnessFile", .warning,
      "\(path), which remembers the last commit of the vault, \(fault): an older state of the vault may not be noticed",
      mend)
  }

  private static var noWitness: Finding {
    Finding(
      "witnessFile", .warning,
      "there is no place for the file that remembers the last commit of the vault (KEY.seen): an older state of the vault is noticed "
        + "only if the file has another inode",
      "let the folder of the device key be written to by you; where something else provides the key, set XDG_STATE_HOME to a folder "
        + "that you can write to and that stays")
  }

  private static func fileSystem(of folder: String) -> Finding {
    let held = unsafe clinux_hold_folder(folder)
    guard held >= 0 else {
      return Finding("fileSystem", .warning, "the folder of the vault cannot be looked at: \(folder)")
    }
    defer { close(held) }
    return fileSystem(ofType: clinux_file_system_type(held))
  }

  /// - Parameter type: The number of statfs(2). What only one machine may use was refused when the vault was opened.
  package static func fileSystem(ofType type: Int64) -> Finding {
    switch type {
    case 0x0102_1994, 0x8584_58F6:
      Finding(
        "fileSystem", .warning, "the vault lies in memory (tmpfs): it is gone when the machine stops",
        "keep it on a disk: 'vaultctl backup FILE', then 'vaultctl restore FILE --vault PATH'")
    case 0x794C_7630:
      Finding(
        "fileSystem", .warning, "the vault lies in the overlay of a container: it goes with the container",
        "mount a volume and keep it there")
    case 0x4D44, 0x2011_BAB0:
      Finding(
        "fileSystem", .warning, "the vault lies on a file system without owners and modes (FAT)",
        "keep it on a file system of Linux")
    default:
      Finding("fileSystem", .ok, "the vault lies on \(names[type] ?? "a local file system")")
    }
  }

  private static let names: [Int64: String] = [
    0xEF53: "ext4", 0x9123_683E: "btrfs", 0x5846_5342: "xfs", 0x2FC1_2FC1: "zfs", 0xF2F5_2010: "f2fs",
    0x6573_5546: "FUSE", 0xCA45_1A4E: "bcachefs",
  ]

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }
}
