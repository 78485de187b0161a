package import Foundation
package import Testing

/// What a machine may lack without fault of its own. docs/testing.md has a row for each, and a run that skips a test for any
/// other reason fails.
package enum Lack: String, CaseIterable {
  case root = "no root"
  case namespaces = "no namespaces"
  case mounts = "no mounts"
  case processor = "not on this processor"
  case sanitizer = "under a sanitizer"
  case userDirectory = "another user directory"
  case vectors = "no large vector sets"
  case newerPyotp = "no newer pyotp"
}

/// Ends the test, or this case of it, as skipped. The run lists it with the reason.
///
/// - Parameter what: What is not tested then.
package func skip(
  _ lack: Lack, _ what: String, at location: SourceLocation = #_sourceLocation
) throws -> Never {
  try Test.cancel("skipped: \(lack.rawValue): \(what)", sourceLocation: location)
}

/// Skips the test where it does not run as root.
package func needRoot(_ what: String, at location: SourceLocation = #_sourceLocation) throws {
  if geteuid() != 0 { try skip(.root, what, at: location) }
}

/// Skips the test where it cannot mount a file system that it alone sees.
package func needMounts(_ what: String, at location: SourceLocation = #_sourceLocation) throws {
  try needRoot(what, at: location)
  let mount = ["--mount", "mount", "-t", "tmpfs", "none", NSTemporaryDirectory()]
  if try Program("unshare", mount).run().status != 0 { try skip(.mounts, what, at: location) }
}

/// A file of Project Wycheproof's vectors, in the directory that `VAULT_WYCHEPROOF` names. They are too large for the repository,
/// so the test is skipped where the variable is not set.
package func wycheproof(_ name: String, at location: SourceLocation = #_sourceLocation) throws -> Data {
  guard let directory = ProcessInfo.processInfo.environment["VAULT_WYCHEPROOF"] else {
    try skip(.vectors, "wycheproof \(name)", at: location)
  }
  return try Data(contentsOf: URL(filePath: directory).appending(path: "\(name).json"))
}

/// A program that the test needs is not installed. That is no reason to skip a test: `scripts/test` installs all of them.
package struct Absent: Error, CustomStringConvertible {
  package let name: String

  package init(_ name: String) { self.name = name }

  package var description: String { "\(name) is not installed: scripts/install-deps" }
}

extension Shell {
  /// The path of a program that the test needs.
  ///
  /// - Throws: ``Absent``.
  @discardableResult
  package static func need(_ name: String) throws -> String {
    guard let path = find(name) else { throw Absent(name) }
    return path
  }

  /// Fails the test where one of these is not installed.
  package static func need(_ names: String...) throws { for name in names { _ = try need(name) } }
}
