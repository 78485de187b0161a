/// The manual pages of a program in mdoc: one for the program, and one for each family of verbs.
package struct ManPages {
  private let program: Program

  package init(of program: Program) { self.program = program }

  /// File names and their text.
  package var all: [(name: String, text: String)] {
    [("\(program.name).1", overview)]
      + program.families.map { ("\(program.name)-\($0.word).1", family($0)) }
  }
}

extension ManPages {
  private var overview: String {
    var page = ManPage(
      title: program.name.uppercased(), name: program.name, summary: program.manual.summary)
    page.line(".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar options")
    page.line(".Sh DESCRIPTION")
    for paragraph in program.manual.description { page.text(paragraph) }
    page.line(".Sh COMMANDS")
    page.list(program.families.map { ("\(program.name)-\($0.word)(1)", $0.summary) })
    page.line(".Sh OPTIONS")
    page.list(rows(of: program.commonOptions))
    page.line(".Sh SECRETS")
    for paragraph in program.manual.secrets { page.text(paragraph) }
    page.list(program.allSecretOptions.map { ($0.title, $0.advice) })
    for section in program.manual.sections {
      page.line(".Sh \(section.title)")
      switch section.content {
      case .text(let paragraphs): for paragraph in paragraphs { page.text(paragraph) }
      case .list(let rows): page.list(rows.map { ($0.term, $0.text) })
      }
    }
    page.line(".Sh EXIT STATUS")
    page.list(rows(of: program.exitCodes))
    page.line(".Sh EXAMPLES")
    for example in program.manual.examples { page.line(".Dl " + ManPage.escaped(example)) }
    return page.source
  }

  private func family(_ family: VerbFamily) -> String {
    let name = "\(program.name)-\(family.word)"
    var page = ManPage(title: name.uppercased(), name: name, summary: family.summary)
    page.line(".Sh SYNOPSIS")
    for verb in family.verbs { page.line(".D1 " + ManPage.escaped(program.usage(of: verb))) }
    page.line(".Sh DESCRIPTION")
    for verb in family.verbs { describe(verb, on: &page) }
    page.line(".Sh EXIT STATUS")
    page.list(rows(of: Set(family.verbs.flatMap { $0.exitCodes }).sorted()))
    page.line(".Sh EXAMPLES")
    for example in family.verbs.flatMap({ $0.examples }) { page.line(".Dl " + ManPage.escaped(example)) }
    page.line(
      ".Sh SEE ALSO", ".Xr \(program.name) 1",
      "has the options of every command, and the options that bring secrets.")
    return page.source
  }

  private func describe(_ verb: any Verb.Type, on page: inout ManPage) {
    page.line(".Ss " + ManPage.escaped(verb.name))
    page.text(verb.summary)
    let arguments = verb.arguments.map { ($0.usage, $0.summary) }
    let options = Help(program).ownOptions(of: verb)
    if !arguments.isEmpty || !options.isEmpty { page.list(arguments + rows(of: options)) }
    for note in verb.notes { page.text(note) }
    page.text(verb.facts.map { "\($0.name): \($0.text)." }.joined(separator: " "))
    if !verb.secretOptions.isEmpty {
      page.text("May need: \(verb.secretOptions.map(\.title).joined(separator: ", ")).")
    }
    page.text("Exit codes: " + verb.exitCodes.map { String($0.rawValue) }.joined(separator: ", ") + ".")
  }

  private func rows(of options: [Option]) -> [(String, String)] {
    options.map { ($0.listing, $0.explanation) }
  }

  private func rows(of exitCodes: [ExitCode]) -> [(String, String)] {
    exitCodes.map { (String($0.rawValue), $0.meaning) }
  }
}
