import CommandLineKit

/// What an option's value is, so that the parser checks it and a shell can complete it.
package enum ValueKind: Sendable {
  case text
  case name
  /// One that is set: all of its characters show.
  case newName
  case path
  case program
  case descriptor
  case number(ClosedRange<UInt64>)
  case duration
  case instant
  /// An instant, or how long ago.
  case past
  case identifier
  case generator
  case choice([String])
  case choices([String])
}

/// One option of a verb, as the parser, the help, the man page and the completion see it.
package struct Option: Sendable {
  package let name: String
  /// `nil` for an option without a value.
  package let value: ValueKind?
  package let placeholder: String
  package let summary: String
  package var defaultValue: String?
  /// The value may be left out, and then is the default.
  package var valueIsOptional = false
  /// May be given several times; ``Invocation/list(_:)`` has the values.
  package var isRepeatable = false

  package init(
    _ name: String, _ value: ValueKind? = nil, _ placeholder: String = "", _ summary: String,
    defaultValue: String? = nil
  ) {
    self.name = name
    self.value = value
    self.placeholder = placeholder
    self.summary = summary
    self.defaultValue = defaultValue
  }

  static func flag(_ name: String, _ summary: String) -> Option { Option(name, nil, "", summary) }

  var repeatable: Option {
    var copy = self
    copy.isRepeatable = true
    return copy
  }

  var optionalValue: Option {
    var copy = self
    copy.valueIsOptional = true
    return copy
  }

  /// `--name VALUE`, as the help prints it.
  var usage: String {
    guard value != nil else { return "--\(name)" }
    return valueIsOptional ? "--\(name) [\(shownPlaceholder)]" : "--\(name) \(shownPlaceholder)"
  }

  var shownPlaceholder: String {
    if case .choice(let words)? = value { return words.joined(separator: "|") }
    return placeholder
  }
}

/// One word that a verb takes by its place.
package struct Argument: Sendable {
  package let name: String
  package let summary: String
  package let kind: ValueKind
  package var isRequired = true
  /// Takes every word that is left.
  package var takesRest = false

  static func name(_ summary: String = "The name, 1 to 255 bytes without control characters.") -> Argument {
    Argument(name: "NAME", summary: summary, kind: .name)
  }

  static func newName(_ name: String = "NAME") -> Argument {
    Argument(name: name, summary: "The new name, 1 to 255 bytes of characters that show.", kind: .newName)
  }

  var optional: Argument {
    var copy = self
    copy.isRequired = false
    return copy
  }

  var usage: String {
    let word = takesRest ? "\(name) ..." : name
    return isRequired ? word : "[\(word)]"
  }
}
