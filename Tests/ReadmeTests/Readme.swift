import Foundation

/// The README and other pages of the source tree that these tests were compiled from.
enum Readme {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func text(of page: String = "README.md") throws -> String {
    try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
  }

  /// The contents of the fenced blocks that are marked with `language`.
  static func blocks(_ language: String, of page: String = "README.md") throws -> [String] {
    var blocks: [String] = []
    var current: [Substring]?
    for line in try text(of: page).split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = current {
        if line == "```" {
          blocks.append(lines.map { $0 + "\n" }.joined())
          current = nil
        } else {
          current = lines + [line]
        }
      } else if line == "```\(language)" {
        current = []
      }
    }
    return blocks
  }
}
