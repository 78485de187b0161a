import Foundation
import TestSupport
import Testing

/// Runs a program to its end and expects it to succeed.
func run(_ program: String, _ arguments: String...) throws {
  try expect(Program(program, arguments).run(errors: .inherited).status, equals: 0)
}
