import CommandLineKit
import VaultKit
import VaultWords

extension Command {
  /// Reads a backup, from the process that the person started.
  ///
  /// - Parameters:
  ///   - path: As it was named; `-` for standard input.
  ///   - target: The vault that it is for.
  /// - Throws: exit 13 if it cannot be read, 10 if it is no backup.
  func backup(_ path: String, beside target: String) throws -> BackupFile {
    let isStandardInput = path == FilePlace.standardStream
    let file =
      isStandardInput
      ? HostFile.descriptor(world.standardInput)
      : HostFile.readable(path: path, doing: "opening the backup \(printable(path))")
    let name = isStandardInput ? "on standard input" : path
    var outcome: Result<BackupFile, VaultError>?
    try world.host.lend(file) { descriptor throws(CommandError) in
      outcome = Result { () throws(VaultError) in
        try BackupFile(reading: descriptor, named: name, beside: target)
      }
    }
    return try outcome!.get()
  }
}
