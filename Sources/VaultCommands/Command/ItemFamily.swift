import AuthenticatorKit
import CommandLineKit
import VaultKit

/// The verbs that are about items of one kind.
struct ItemFamily {
  let kind: ItemKind
  /// Their first words.
  let words: [String]
  /// The verb that lists the items of the kind alone.
  let listing: String?

  fileprivate static let all = [
    ItemFamily(kind: .otp, words: ["otp", "transaction"], listing: "otp list"),
    ItemFamily(kind: .key, words: ["key", "jwt", "dpop"], listing: "key list"),
    ItemFamily(kind: .cardToken, words: ["token"], listing: "token list"),
    ItemFamily(kind: .consent, words: ["consent"], listing: "consent list"),
    ItemFamily(kind: .clientRegistration, words: ["oauth"], listing: nil),
  ]
}

extension ItemFamily {
  /// The family of a verb; `nil` for a verb about items of any kind, and for one about no item.
  init?(of verb: any VaultVerb.Type) {
    guard let family = Self.all.first(where: { $0.words.contains(verb.words.first ?? "") }) else {
      return nil
    }
    self = family
  }
}
