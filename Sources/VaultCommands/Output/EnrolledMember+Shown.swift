import TextFormats
import VaultKit

extension EnrolledMember {
  var json: JSON {
    .object {
      Field("name", name)
      Field("source", sourceWord)
      Field("enrolled", enrolled.seconds)
    }
  }

  /// The word of `--source`.
  var sourceWord: String {
    switch source {
    case .phrase: "phrase"
    case .finger: "fingerprint"
    case .login: "login"
    }
  }
}
