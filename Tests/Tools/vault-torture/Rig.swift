import Glibc
import SecretMemory
import Synchronization
import VaultKit
import VaultTestKit

/// The vault that a test made and that this process uses: the directory of a `TemporaryVault`, or the home directory
/// of a scenario.
struct Rig {
  let folder: String
  var environment = VaultEnvironment.testing(clock: Rig.clock)

  var path: String { isHome ? folder + "/.local/share/vaultctl/default.vault" : folder + "/data/test.vault" }
  var protector: FileProtector {
    let named = folder + "/keys/device.key"
    if isHome, unsafe access(named, F_OK) == 0 { return FileProtector(file: named) }
    return FileProtector(folder: folder + (isHome ? "/.local/state/vaultctl" : "/state"))
  }
  private let isHome: Bool

  init(_ folder: String) {
    self.folder = folder
    isHome = unsafe access(folder + "/.local", F_OK) == 0
  }

  /// The clock of the machine; or one that stands still at the number of milliseconds since boot in VAULT_TORTURE_BOOT, or that
  /// goes on by the number in VAULT_TORTURE_STEP whenever something looks at it.
  static var clock: any VaultClock {
    guard let boot = number("VAULT_TORTURE_BOOT") else { return SystemClock() }
    let fixed = FixedClock(sinceBoot: .milliseconds(boot))
    return number("VAULT_TORTURE_STEP").map { SteppingClock(from: fixed, by: $0) } ?? fixed
  }

  private static func number(_ variable: String) -> UInt64? {
    unsafe getenv(variable).flatMap { unsafe UInt64(String(cString: $0)) }
  }

  func create(passcode: String?) throws(VaultError) -> VaultCore {
    try VaultCore.create(
      at: path, protector: protector,
      passcode: try passcode.map { text throws(VaultError) in
        try Passcode(testing: text)
      }, environment: environment)
  }

  /// Removes the witness beside the device key, so that the library does not detect an earlier state of the file.
  func forgetCommits() {
    for pattern in ["/state/*/*.seen", "/.local/state/vaultctl/*/*.seen", "/keys/*.seen"] {
      var found = unsafe glob_t()
      defer { unsafe globfree(&found) }
      guard unsafe glob(folder + pattern, 0, nil, &found) == 0 else { continue }
      for index in 0..<Int(unsafe found.gl_pathc) { unsafe unlink(found.gl_pathv[index]!) }
    }
  }

  func open() throws(VaultError) -> VaultCore {
    try VaultCore.open(at: path, protector: protector, environment: environment)
  }
}

/// A boot clock of a machine on which everything takes long.
private final class SteppingClock: VaultClock {
  private let fixed: FixedClock
  private let step: UInt64
  private let looks = Atomic<UInt64>(0)

  init(from fixed: FixedClock, by step: UInt64) { (self.fixed, self.step) = (fixed, step) }

  func now() -> Instant { fixed.now() }
  func bootMilliseconds() -> UInt64 {
    fixed.bootMilliseconds() + step * looks.add(1, ordering: .relaxed).newValue
  }
  func bootID() -> [UInt8]? { fixed.bootID() }
}

/// Counts key derivations: each adds one byte to a file.
enum Tally {
  /// - Parameter stops: Whether the process prints a line in each derivation, and waits there until the test kills it.
  static func observer(_ path: String, stops: Bool) -> @Sendable () -> Void {
    {
      let file = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      guard unsafe write(file, "d", 1) == 1 else { fail("the tally cannot be written") }
      close(file)
      if stops {
        say("deriving")
        waitForKill()
      }
    }
  }
}

/// Writes one line to standard output, normally with one system call, so that a killed process leaves no part of a
/// line.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  var start = 0
  while start < bytes.count {
    let count = unsafe bytes[start...].withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    guard count > 0 else { _exit(70) }
    start += count
  }
}

/// Waits until standard input ends. The test starts all its processes, then lets all of them continue at the same
/// moment.
func waitForStart() {
  var byte: UInt8 = 0
  while true {
    let count = unsafe read(0, &byte, 1)
    if count == 0 || (count < 0 && errno != EINTR) { return }
  }
}

/// Waits until the test kills this process, or has ended and reads no more of its output.
func waitForKill() -> Never {
  var entry = pollfd(fd: 1, events: 0, revents: 0)
  while unsafe poll(&entry, 1, -1) <= 0 {}
  _exit(70)
}

/// Whether standard input has ended, which means that the test wants this process to stop.
func isStopAsked() -> Bool {
  var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
  return unsafe poll(&entry, 1, 0) > 0
}

extension VaultError {
  /// The error as one word.
  var word: String { code.rawValue }
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

func fail(_ message: String) -> Never {
  say("FAIL \(message)")
  exit(64)
}
