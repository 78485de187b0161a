import Foundation

/// Programs of the system.
package enum Shell {
  /// The path of a program that is installed, along `PATH` and where programs of root are.
  package static func find(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let directories: [String] = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
    return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  package static func has(_ name: String) -> Bool { find(name) != nil }
}
