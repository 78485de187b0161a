/// An option without a value: `static let force = Flag("force", "…")`, read as `command[Self.force]`.
package struct Flag: OptionKey {
  package let option: Option

  package init(_ name: String, _ summary: String) {
    option = Option(name: name, value: nil, summary: summary)
  }
}
