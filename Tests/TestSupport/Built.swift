package import Foundation

/// The programs that were built with these tests.
package enum Built {
  /// The directory of the test's own program.
  package static let directory: URL = {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: own ?? "").deletingLastPathComponent()
  }()

  package static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}
