import AuthenticatorKit
import CommandLineKit
import VaultKit

/// The verbs that are about items of one kind.
struct ItemFamily {
  let kind: ItemKind
  /// How their names begin.
  let beginnings: [String]
  /// The verb that lists the items of the kind alone.
  let listing: String?

  fileprivate static let all = [
    ItemFamily(kind: .otp, beginnings: ["otp", "code", "transaction"], listing: "otp list"),
    ItemFamily(kind: .key, beginnings: ["key", "jwt"], listing: "key list"),
    ItemFamily(kind: .consent, beginnings: ["card consent"], listing: "card consent list"),
    ItemFamily(kind: .cardToken, beginnings: ["card"], listing: "card list"),
    ItemFamily(kind: .clientRegistration, beginnings: ["oauth"], listing: nil),
  ]
}

extension ItemFamily {
  /// The family of a verb; `nil` for a verb about items of any kind, and for one about no item.
  init?(of verb: any VaultVerb.Type) {
    guard let family = Self.all.first(where: { $0.beginnings.contains { verb.begins(with: $0) } }) else {
      return nil
    }
    self = family
  }
}

extension VaultVerb {
  /// Whether the verb's name is the beginning, or goes on after it with another word.
  static func begins(with beginning: String) -> Bool { (name + " ").hasPrefix(beginning + " ") }
}
