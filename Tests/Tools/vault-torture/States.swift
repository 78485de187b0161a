import VaultKit
import VaultTestKit

/// Prints the content of the state in `FOLDER/old.vault`, and of each state in `FOLDER/whole` with its log: one state
/// for each commit in the log (R8).
enum States {
  static func run(_ rig: Rig, passcode: String) {
    let old = VaultFiles.read(rig.folder + "/old.vault")
    let whole = VaultFiles(at: rig.folder + "/whole")
    if !old.isEmpty { say(rig, VaultFiles(path: rig.path, database: old, log: []), passcode, mayFail: true) }
    for end in [0] + commits(of: whole.log) {
      let files = VaultFiles(path: rig.path, database: whole.database, log: Array(whole.log.prefix(end)))
      say(rig, files, passcode, mayFail: end < whole.log.count)
    }
  }

  /// - Parameter mayFail: Whether the state may need a device key that no longer exists.
  private static func say(_ rig: Rig, _ files: VaultFiles, _ passcode: String, mayFail: Bool) {
    files.write()
    rig.forgetCommits()
    do throws(VaultError) {
      let core = try rig.open()
      let status = try Content.status(core)
      if core.hasPasscode { try core.unlock(withOneOf: passcode) }
      Content(status: status, items: try Content(of: core).items).say(to: 1)
    } catch {
      if !mayFail { fail("states: \(error.word) \(error.message)") }
    }
  }

  /// The offsets in SQLite's log at which a commit ends.
  private static func commits(of log: [UInt8]) -> [Int] {
    guard log.count > 32 else { return [] }
    func number(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(log[offset + $1]) } }
    let frame = 24 + number(8)
    var ends: [Int] = []
    for start in stride(from: 32, through: log.count - frame, by: frame) {
      // Frames after the last commit come from an earlier use of the log, and have other salts.
      guard log[start + 8..<start + 16] == log[16..<24] else { break }
      if number(start + 4) > 0 { ends.append(start + frame) }
    }
    return ends
  }
}

extension VaultCore {
  /// Unlocks with the first of several passcodes that is right.
  func unlock(withOneOf passcodes: String) throws(VaultError) {
    var fault: VaultError?
    for text in passcodes.split(separator: ",") {
      do throws(VaultError) {
        try unlock(with: Passcode(testing: String(text)))
        return
      } catch { fault = error }
    }
    if let fault { throw fault }
  }
}
