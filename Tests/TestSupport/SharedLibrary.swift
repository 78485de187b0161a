import Foundation

/// A library that a test writes in C: a PAM module, or one that a program loads before all others.
package enum SharedLibrary {
  /// - Parameter words: What the linker is told beside the source.
  /// - Returns: The path of the library, which is left in the temporary directory.
  package static func compile(_ source: String, _ words: [String] = []) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("library.c").path
    try Data(source.utf8).write(to: URL(fileURLWithPath: file))
    let library = folder.appendingPathComponent("library.so").path
    // The compiler that comes with Swift.
    let result = try Program("clang", ["-shared", "-fPIC", "-o", library, file] + words).run()
    guard result.status == 0 else { throw NotCompiled(description: result.text) }
    return library
  }

  /// What the compiler says.
  package struct NotCompiled: Error, CustomStringConvertible {
    package let description: String
  }
}
