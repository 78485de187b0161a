import Foundation
import TestSupport
import Testing

/// Runs a program to its end and expects it to succeed.
func run(_ program: String, _ arguments: String...) throws {
  #expect(try Program(program, arguments).run(errors: .inherited).status == 0)
}
