/// A value that a verb takes by its place on the command line.
package struct Argument: Sendable {
  package let name: String
  package let summary: String
  package let value: ValueShape
  package let isRequired: Bool
  /// Takes all arguments that are left.
  package let takesRest: Bool

  package init<Value: Sendable>(
    _ name: String, _ kind: ValueKind<Value>, _ summary: String, isRequired: Bool = true,
    takesRest: Bool = false
  ) {
    self.name = name
    self.summary = summary
    value = kind.shape
    self.isRequired = isRequired
    self.takesRest = takesRest
  }

  package var usage: String {
    let word = takesRest ? "\(name) ..." : name
    return isRequired ? word : "[\(word)]"
  }
}
