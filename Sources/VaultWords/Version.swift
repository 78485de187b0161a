/// What is released.
package enum Version {
  /// 2026-01-01: a clock before it is wrong.
  package static let madeAfter: Int64 = 1_767_225_600
  package static let tool = "0.1.0"
  /// The format of docs/format/vault-file.md that new vaults are written in.
  package static let format = 1
}
