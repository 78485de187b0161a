import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultWords

@Suite("Results of the log and exit codes", .bounded)
struct AuditResultTests {
  private func source(_ path: String) throws -> String {
    try String(contentsOf: Tool.repository.appendingPathComponent(path), encoding: .utf8)
  }

  // Verified to fail when a number of AuditResult is changed.
  @Test("every result is the number of an exit code")
  func everyResult() throws {
    let numbers = try source("Sources/VaultFormat/Audit/AuditResult.swift")
      .matches(of: /AuditResult\(rawValue: ([0-9]+)\)/).map { try #require(UInt16($0.1)) }
    expect(numbers.count, equals: 12)
    for number in numbers {
      #expect(ExitCode.all.contains { AuditResult($0).rawValue == number }, "\(number)")
    }
  }

  @Test("the log and the exit code say the same of every error that the log tells from others")
  func everyError() throws {
    let codes = try source("Sources/VaultFormat/Errors/VaultError.swift")
      .matches(of: /= Code\(rawValue: "(\w+)"\)/).map { VaultError.Code(rawValue: String($0.1)) }
    #expect(codes.count > 20)
    for code in codes {
      let error = VaultError(code, "")
      let exit = CommandError(describing: error).exit
      #expect(error.auditResult == .failed || error.auditResult == AuditResult(exit), "\(code.rawValue)")
    }
  }

  @Test("success is exit code 0, and other failures are the exit code of failed input and output")
  func ends() {
    #expect(AuditResult(.done) == .success && AuditResult(.io) == .failed)
  }
}
