/// An option that can be given several times. The values are read as a list, in their order.
package struct Settings: OptionKey {
  package let option: Option

  package init(
    _ name: String, short: String = "", _ kind: ValueKind<String>, _ placeholder: String, _ summary: String
  ) {
    option = Option(
      name: name, short: short, value: kind.shape, placeholder: placeholder, summary: summary,
      isRepeatable: true)
  }
}
