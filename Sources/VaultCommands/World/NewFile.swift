import CommandLineKit
import Glibc
import VaultKit
import VaultWords

/// A new file of mode 0600 that gets its name when it is whole, for what is not sealed. A process that ends before that, however it
/// ends, leaves nothing that can be read, and nothing that looks whole.
///
/// It is a ``NewPrivateFile``, whose draft, where it needs one, is removed by the signals of ``Interruption`` too. From the naming on,
/// signals are held.
final class NewFile: UnfinishedFile {
  package var descriptor: Int32 { file.descriptor }
  private let file: NewPrivateFile
  private let interruption: Interruption

  /// - Throws: exit 8 if the path exists, 13 if the file cannot be made.
  init(_ path: String, interruption: Interruption) throws(CommandError) {
    try FilePlace.refuseSideFile(path)
    guard try !FilePlace.exists(path) else { throw FilePlace.taken(path) }
    self.interruption = interruption
    interruption.watch()
    do throws(NewPrivateFile.Failure) { file = try NewPrivateFile(path) } catch {
      throw CommandError(error)
    }
  }

  /// The file and its name are on the disk when this returns. If it throws, there is no file.
  package func finish() throws(CommandError) {
    try file.finish(
      publishing: { () throws(CommandError) in
        do throws(VaultError) { try interruption.hold() } catch { throw CommandError(describing: error) }
      }, failing: CommandError.init)
  }
}

extension Command {
  /// Runs what makes a file that has its name when it is whole, and says where a signal has ended that.
  ///
  /// - Parameter path: `nil` where it goes to standard output, which may have a part of it.
  func makingFile<R>(_ path: String?, _ body: () throws -> R) throws -> R {
    do { return try body() } catch {
      let told = CommandError(describing: error)
      guard path != nil, world.interruption.signal != nil, told.promptEnd == nil,
        told.code == VaultError.Code.appCancelled.rawValue
      else { throw error }
      throw CommandError(.interrupted, "interrupted; nothing was written")
    }
  }
}

extension CommandError {
  fileprivate init(_ failure: NewPrivateFile.Failure) {
    guard failure.number != EEXIST else {
      self = FilePlace.taken(failure.path)
      return
    }
    let path = printable(failure.path)
    let doing =
      switch failure.step {
      case .making: "making \(path)"
      case .writing: "writing \(path)"
      case .naming: "naming \(path)"
      case .openingFolder: "opening the folder of \(path)"
      case .writingFolder: "writing the folder of \(path)"
      }
    self = .io(doing, errno: failure.number)
  }
}
