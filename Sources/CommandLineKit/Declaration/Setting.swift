/// An option with a value: `static let copy = Setting("copy", .duration, "TIME", "…")`, read as `command[Self.copy]`.
package struct Setting<Value: Sendable>: OptionKey {
  package let option: Option
  let kind: ValueKind<Value>

  /// - Parameters:
  ///   - short: The letters that can be written for it, with one dash.
  ///   - placeholder: The value in the usage; a choice shows its words instead.
  ///   - defaultValue: The default, for the help. With `valueIsOptional` it is also the value that is read when none is given.
  package init(
    _ name: String, short: String = "", _ kind: ValueKind<Value>, _ placeholder: String = "",
    _ summary: String, defaultValue: String? = nil, valueIsOptional: Bool = false
  ) {
    self.kind = kind
    option = Option(
      name: name, short: short, value: kind.shape, placeholder: placeholder, summary: summary,
      defaultValue: defaultValue, valueIsOptional: valueIsOptional)
  }
}
