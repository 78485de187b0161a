/// What a verb leaves in the audit.
package enum Audited: Sendable {
  case never
  case always
  /// Only for items made with `--audit all`.
  case onRequest
}
