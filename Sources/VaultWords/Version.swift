/// The version of this release.
package enum Version {
  /// 2026-01-01. An earlier clock is wrong.
  package static let madeAfter: Int64 = 1_767_225_600
  package static let tool = "0.1.0"
  /// The format of new vaults, by docs/format/vault-file.md.
  package static let format = 1
}
