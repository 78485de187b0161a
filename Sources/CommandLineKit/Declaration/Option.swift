/// One option of a verb, as the parser, the help, the manual page and the completion see it.
///
/// A verb declares its options with types, as ``Flag``, ``Setting`` and ``Settings``; each holds one of these.
package struct Option: Sendable {
  package let name: String
  /// The letters that can be written for it, with one dash. The help shows the first.
  package let short: String
  /// `nil` for an option without a value.
  package let value: ValueShape?
  package let placeholder: String
  package let summary: String
  package let defaultValue: String?
  /// The value can be left out. Then it is the default.
  package let valueIsOptional: Bool
  package let isRepeatable: Bool

  init(
    name: String, short: String = "", value: ValueShape?, placeholder: String = "", summary: String,
    defaultValue: String? = nil, valueIsOptional: Bool = false, isRepeatable: Bool = false
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.placeholder = placeholder
    self.summary = summary
    self.defaultValue = defaultValue
    self.valueIsOptional = valueIsOptional
    self.isRepeatable = isRepeatable
  }

  /// `--name VALUE`
  package var usage: String {
    guard value != nil else { return "--\(name)" }
    return valueIsOptional ? "--\(name) [\(shownPlaceholder)]" : "--\(name) \(shownPlaceholder)"
  }

  /// How it can be typed: `--name`, and `-n` where it has a letter.
  var spellings: [String] { ["--\(name)"] + (short.first.map { ["-\($0)"] } ?? []) }

  /// `-n, --name VALUE`, as the help prints it.
  package var listing: String { short.first.map { "-\($0), \(usage)" } ?? usage }

  /// The summary, with the default and whether the option can be repeated.
  package var explanation: String {
    var text = summary
    if let defaultValue, !valueIsOptional { text += " Default: \(defaultValue)." }
    if isRepeatable { text += " May be given several times." }
    return text
  }

  private var shownPlaceholder: String {
    guard placeholder.isEmpty, case .words(let words)? = value?.candidates else { return placeholder }
    return words.joined(separator: "|")
  }
}
