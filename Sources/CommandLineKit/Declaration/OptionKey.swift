/// An option with the type of its value: ``Flag``, ``Setting`` or ``Settings``.
package protocol OptionKey: Sendable {
  var option: Option { get }
}

extension OptionKey {
  package var name: String { option.name }
  /// `--name`
  package var shown: String { "--\(option.name)" }
}
