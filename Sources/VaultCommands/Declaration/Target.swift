import CommandLineKit

/// What can be given in place of NAME.
package enum Target: Sendable {
  case none
  /// `--service` with `--account`, or `--id`.
  case full
  /// `--id` alone, because the verb uses the other two for new values.
  case identifier

  static let service = Setting(
    "service", .text, "S", "With --account, in place of NAME: the item of this service.")
  static let account = Setting(
    "account", short: "u", .text, "A", "With --service, in place of NAME: the item of this account.")
  static let id = Setting(
    "id", .identifier, "ID", "In place of NAME: the item's id, 32 hexadecimal digits.")

  var options: [any OptionKey] {
    switch self {
    case .none: []
    case .full: [Self.service, Self.account, Self.id]
    case .identifier: [Self.id]
    }
  }

  var standIns: [StandIn] {
    let id = StandIn([Self.id], needing: Self.id)
    return switch self {
    case .none: []
    case .full: [StandIn([Self.service, Self.account], needing: Self.account), id]
    case .identifier: [id]
    }
  }
}
