import CLinux
import CommandLineKit
import Glibc
import SecretMemory
package import VaultKit
import VaultPrompts
import VaultWords

/// What the machine does with memory, dumps and time, whatever vault there is.
package enum MachineFindings {
  package static func all(clock vaultClock: any VaultClock) -> [Finding] {
    [
      memory, coreDumps, swap(SystemFile.text("/proc/swaps"), isEncrypted: isEncryptedDevice),
      clock(vaultClock), calls(deniedCalls),
      libraries, pam("/etc/pam.d/" + PAMPresence.usualService),
    ]
  }

  private static var memory: Finding {
    switch SecretArena.status.protection {
    case .memfdSecret:
      Finding("memory", .ok, "secrets lie in memory that only this process can read (memfd_secret)")
    case .mlocked: Finding("memory", .ok, "secrets lie in locked memory, out of swap and core dumps")
    case .notLocked:
      Finding(
        "memory", .warning, "the system does not let secrets be locked in memory: they may reach swap",
        "raise 'ulimit -l', or LimitMEMLOCK= of the service")
    }
  }

  private static var coreDumps: Finding {
    var limit = rlimit()
    let isNone =
      unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 && limit.rlim_cur == 0
    return isNone
      ? Finding("coreDumps", .ok, "this process leaves no core dump")
      : Finding("coreDumps", .warning, "core dumps could not be switched off", "set 'ulimit -c 0'")
  }

  /// `/proc/swaps`: a line of titles, then a line for each place. Compressed memory (zram) and encrypted devices
  /// (dm-crypt) keep what is swapped out from whoever takes the disk.
  ///
  /// - Parameter table: `nil` where it cannot be read.
  package static func swap(_ table: String?, isEncrypted: (String) -> Bool) -> Finding {
    guard let table else {
      return Finding("swap", .warning, "the system does not say whether there is swap", "mount /proc")
    }
    let places = table.split(separator: "\n").dropFirst().compactMap {
      $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).first.map(String.init)
    }
    guard !places.isEmpty else { return Finding("swap", .ok, "there is no swap") }
    let open = places.filter { !$0.hasPrefix("/dev/zram") && !isEncrypted($0) }
    guard let first = open.first else {
      return Finding("swap", .ok, "swap is encrypted, or lies in memory (zram)")
    }
    return Finding(
      "swap", .warning, "swap on \(first) is not encrypted: memory that is not locked may be found there",
      "encrypt it (crypttab with /dev/urandom as its key), use zram, or switch it off with 'swapoff \(first)'"
    )
  }

  private static func isEncryptedDevice(_ device: String) -> Bool {
    guard let name = device.split(separator: "/").last, name.hasPrefix("dm-") else { return false }
    return SystemFile.text("/sys/block/\(name)/dm/uuid")?.hasPrefix("CRYPT-") == true
  }

  private static func clock(_ clock: any VaultClock) -> Finding {
    guard clock.bootID() != nil else {
      return Finding(
        "clock", .warning, "the boot id cannot be read: delays begin again and tokens are refused",
        "mount /proc")
    }
    guard clock.now().seconds >= Version.madeAfter else {
      return Finding(
        "clock", .warning,
        "the clock says \(Instants.text(seconds: clock.now().seconds)), before this program was made: codes that "
          + "follow the time are wrong", "set it, for good with 'timedatectl set-ntp true'")
    }
    return Finding("clock", .ok, "the clock is plausible and the boot id can be read")
  }

  /// What a filter of system calls, as of a container or a service, keeps from this program.
  package static func calls(_ denied: [String]) -> Finding {
    guard !denied.isEmpty else {
      return Finding("calls", .ok, "the system allows the system calls that this program uses")
    }
    return Finding(
      "calls", .warning,
      "the system denies system calls that this program uses: \(denied.joined(separator: ", "))",
      "allow them in the filter (seccomp) of the container or service, or update what runs it")
  }

  private static var deniedCalls: [String] {
    (0..<clinux_probed_calls()).compactMap { index in
      unsafe clinux_denied_call(index).map { unsafe String(cString: $0) }
    }
  }

  private static var libraries: Finding {
    Finding(
      "libraries", .ok,
      "SQLite \(VaultLibraries.sqliteVersion), OpenSSL \(VaultLibraries.opensslVersion), "
        + "vaultctl \(Version.tool)")
  }

  /// The service file that PAM reads for presence; whoever can change it decides who is present.
  package static func pam(_ path: String) -> Finding {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return Finding(
        "pam", .ok, "there is no \(path): presence cannot be asked through PAM",
        "where you want it, as root: scripts/install-pam")
    }
    guard status.st_uid == 0, status.st_mode & 0o022 == 0 else {
      return Finding(
        "pam", .warning, "others than root can change \(path), and with it who counts as present",
        "chown root:root \(path); chmod 644 \(path)")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return Finding(
        "pam", .warning, "\(path) is no file, so PAM is not asked",
        "as root: replace it: scripts/install-pam --print")
    }
    guard unsafe access(path, R_OK) == 0 else {
      return Finding(
        "pam", .warning, "\(path) cannot be read by this user, so PAM is not asked",
        "as root: chmod 644 \(path)")
    }
    return Finding("pam", .ok, "the PAM service for presence is \(path)")
  }
}
