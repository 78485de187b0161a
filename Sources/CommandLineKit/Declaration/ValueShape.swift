/// What the parser, the help and the completion know of a value, whatever its type.
package struct ValueShape: Sendable {
  /// What a shell can complete the value with.
  package enum Candidates: Sendable {
    case none
    /// One of a few words.
    case words([String])
    /// A comma list of a few words.
    case commaList([String])
    case files
    case programs
    /// The names that the verb's ``Verb/namesCommand`` prints.
    case names
    /// The same after a `=`.
    case namesAfterEquals
  }

  package let candidates: Candidates
  /// Refuses a wrong value; the second argument is the name of the option. The value itself is never repeated.
  let check: @Sendable (_ value: String, _ name: String) throws(CommandError) -> Void

  func accepts(_ value: String) -> Bool { (try? check(value, "")) != nil }
}
