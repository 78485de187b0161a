package import AuthenticatorKit
package import TextFormats
import VaultKit

extension PeerTransaction {
  /// - Parameter credential: The name of the credential; `nil` if it is gone.
  package func json(of credential: String?) -> JSON {
    .object {
      Field("id", id.hexadecimal)
      Field("alias", alias)
      if let credential { Field("credential", credential) }
      Field("state", status.rawValue)
      Field("delivery", delivery?.rawValue)
      if hasHiddenText { Field("notShown", true) }
      if status == .pending { Field("secondsLeft", secondsLeft) }
      Field("received", received.seconds)
      if let service { Field("service", service) }
      if let serviceName { Field("serviceName", serviceName) }
      if let deviceAlias { Field("deviceAlias", deviceAlias) }
    }
  }

  /// The cells of a list.
  package func row(of credential: String?) -> [String] {
    [alias, state, credential ?? "", serviceName ?? service ?? ""]
  }

  private var state: String {
    let waits = status == .pending ? words(status.rawValue, secondsLeft: secondsLeft) : status.rawValue
    return waits + told + (hasHiddenText ? ", not shown" : "")
  }

  /// Whether the server has the decision, if that is worth saying.
  private var told: String {
    switch delivery {
    case .untold: ", not told"
    case .refused: ", refused there"
    default: ""
    }
  }
}

extension TransactionDetails {
  /// As ``PeerTransaction/json(of:)``, with what the person decides about.
  package func json(of credential: String?) -> JSON {
    transaction.json(of: credential).adding {
      Field("action", action.rawValue)
      if let context { Field("context", context.text) }
      Field("whyNotShown", whyTextIsHidden.map { "the text \($0)" })
      Field("types", .array(offered.map { .string($0.rawValue) }))
      Field("choices", .array(choices.map { .string($0.rawValue) }))
    }
  }

  /// What a person reads: the text last, whole, as it is.
  package func lines(of credential: String?) -> [String] {
    let facts: [(String, String?)] = [
      ("alias", transaction.alias), ("id", id.hexadecimal), ("credential", credential),
      ("service", transaction.serviceName ?? transaction.service), ("device", transaction.deviceAlias),
      ("action", action.rawValue), ("state", transaction.status.rawValue),
      ("server", transaction.delivery.flatMap(Self.words)),
      ("left", transaction.status == .pending ? "\(transaction.secondsLeft) s" : nil),
      ("types", offered.map(\.rawValue).joined(separator: ", ")),
      ("text", whyTextIsHidden.map { "not shown: it \($0)" }),
    ]
    let rows = facts.compactMap { name, value in value.map { [name, $0] } }
    return columns(rows) + (context.map { ["", $0.text] } ?? [])
  }

  private static func words(_ delivery: TransactionDelivery) -> String? {
    switch delivery {
    case .untold: "does not have the decision yet"
    case .refused: "refused the decision"
    default: nil
    }
  }
}
