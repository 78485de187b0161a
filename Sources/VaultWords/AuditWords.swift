/// What commands say of a damaged audit.
package enum AuditWords {
  /// The way out, after which `verify` is sound. No repair fills a gap or accepts one, because an attacker could make a gap.
  package static let wayOut =
    "no repair closes a gap of the audit: make a backup with 'vaultctl backup' and restore the vault from it, which then has an audit "
    + "of its own; keep this file for the entries that it has"
}
