import Foundation
import Testing

/// Runs a program to its end and expects it to succeed.
func run(_ program: String, _ arguments: String...) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [program] + arguments
  try process.run()
  process.waitUntilExit()
  #expect(process.terminationStatus == 0)
}
