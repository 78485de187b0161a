/// Options that can be given in place of the first argument of a verb.
package struct StandIn: Sendable {
  let options: [Option]
  /// The option without which the others mean nothing.
  let needed: Option

  package init(_ options: [any OptionKey], needing needed: any OptionKey) {
    self.options = options.map(\.option)
    self.needed = needed.option
  }

  /// `--service S --account A`
  var usage: String { options.map(\.usage).joined(separator: " ") }

  /// `--service with --account`
  var shown: String { options.map { "--\($0.name)" }.joined(separator: " with ") }
}
