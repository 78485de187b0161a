import CommandLineKit
import VaultKit
import VaultWords

extension Command {
  /// Reads a backup: a file that the process opens that the person started, or standard input, which this process has.
  ///
  /// - Parameters:
  ///   - path: As it was named; `-` for standard input.
  ///   - target: The vault that it is for.
  /// - Throws: exit 13 if it cannot be read, 10 if it is no backup.
  func backup(_ path: String, beside target: String) throws -> BackupFile {
    guard path != FilePlace.standardStream else {
      return try BackupFile(reading: world.standardInput, named: "on standard input", beside: target)
    }
    let file = HostFile.readable(path: path, doing: "opening the backup \(printable(path))")
    var outcome: Result<BackupFile, VaultError>?
    try world.host.lend(file) { descriptor throws(CommandError) in
      outcome = Result { () throws(VaultError) in
        try BackupFile(reading: descriptor, named: path, beside: target)
      }
    }
    return try outcome!.get()
  }
}
