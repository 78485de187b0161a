/// What to do next after a failure: one sentence without a final period, written once for programs and for the tool.
///
/// A program reads the sentence of the library, which names no program, command or option. Where the tool has a command or an
/// option for a step, the same text has it at its place as `\(tool:)`, and only the tool shows it:
///
/// ```swift
/// let hint: Hint = "set one\(tool: " with 'vaultctl passcode set'")"
/// let other: Hint = "\("rotate the epoch", tool: "run 'vaultctl vault rotate epoch'")"
/// ```
///
/// A hint that several places give, or that a test expects, has a name: in `Hint+Known.swift`, or beside its component.
package struct Hint: Sendable, Hashable {
  /// The hint for programs.
  package let sentence: String
  /// The hint for a person at a command line.
  package let toolSentence: String

  package init(_ sentence: String) { self.init(sentence, tool: sentence) }

  package init(_ sentence: String, tool: String) { (self.sentence, toolSentence) = (sentence, tool) }
}

extension Hint: ExpressibleByStringInterpolation {
  package init(stringLiteral sentence: String) { self.init(sentence) }

  package init(stringInterpolation text: StringInterpolation) {
    self.init(text.sentence, tool: text.toolSentence)
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var sentence = "", toolSentence = ""

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ literal: String) { appendInterpolation(literal, tool: literal) }

    package mutating func appendInterpolation(_ text: String) { appendInterpolation(text, tool: text) }

    package mutating func appendInterpolation(_ text: String = "", tool: String) {
      sentence += text
      toolSentence += tool
    }
  }
}
