package import TextFormats
package import VaultKit

extension EnrolledMember {
  package var json: JSON {
    .object {
      Field("name", name)
      Field("source", sourceWord)
      Field("enrolled", enrolled.seconds)
    }
  }

  /// The word of `--source`.
  package var sourceWord: String {
    switch source {
    case .phrase: "phrase"
    case .finger: "fingerprint"
    case .login: "login"
    }
  }
}
