package import CommandLineKit
package import VaultKit

extension AuditResult {
  /// The result of a command in the log: the number of its exit code.
  package init(_ exit: ExitCode) { self.init(rawValue: UInt16(exit.rawValue)) }
}
