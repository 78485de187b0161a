/// An option without a value: `static let force = Flag("force", "…")`, read as `command[Self.force]`.
package struct Flag: OptionKey {
  package let option: Option

  package init(_ name: String, short: String = "", _ summary: String) {
    option = Option(name: name, short: short, value: nil, summary: summary)
  }
}
