/// The text of `-h`, `--help` and `help`, made from the declarations of the verbs.
package struct Help {
  let program: Program
  let layout: TextLayout

  /// - Parameters:
  ///   - width: Of a line.
  ///   - isBold: Whether headings are bold.
  package init(_ program: Program, width: Int = 80, isBold: Bool = false) {
    self.program = program
    layout = TextLayout(width: width, isBold: isBold)
  }

  package func text(_ request: HelpRequest) -> String {
    let lines =
      switch request.topic {
      case .program: request.isShort ? shortOverview : overview
      case .family(let family): page(of: family, isShort: request.isShort)
      case .verb(let verb): request.isShort ? shortPage(of: verb) : page(of: verb)
      case .options: optionsPage
      case .exitCodes: exitCodesPage
      case .secrets: secretsPage
      case .words: wordsPage
      case .verbs(let verbs): layout.table(verbs.map { ("\(program.name) \($0.name)", $0.summary) }, upTo: 34)
      }
    let remark = request.remark.map { layout.wrapped($0) + [""] } ?? []
    return (remark + lines).map { $0 + "\n" }.joined()
  }

  private func page(of family: VerbFamily, isShort: Bool) -> [String] {
    if family.verbs.count == 1, let only = family.verbs.first, only.words == [family.word] {
      return isShort ? shortPage(of: only) : page(of: only)
    }
    return isShort ? shortPage(of: family) : wholePage(of: family)
  }
}

// MARK: the whole text

extension Help {
  private var overview: [String] {
    var lines = usage("COMMAND [options]") + [""] + layout.wrapped(program.manual.purpose)
    lines += section("Examples", program.manual.examples.flatMap(layout.command))
    let daily = program.families.filter { $0.verbs.count == 1 && $0.verbs[0].words == [$0.word] }
    let others = program.families.filter { family in !daily.contains { $0.word == family.word } }
    lines += section("Commands", layout.table(daily.map { ($0.word, $0.summary) }))
    if !others.isEmpty {
      lines += section("Families of commands", layout.table(others.map { ($0.word, $0.summary) }))
    }
    return lines + [""] + pointers
  }

  private func wholePage(of family: VerbFamily) -> [String] {
    let verbs = family.verbs
    var lines = usage("\(family.word) COMMAND [options]") + [""] + layout.wrapped(family.summary)
    lines += section("Commands", layout.table(verbs.map { ($0.name, $0.summary) }))
    lines += section("Examples", verbs.prefix(2).flatMap { layout.command($0.examples[0]) })
    lines += section("Exit codes", exitCodes(Set(verbs.flatMap { $0.exitCodes }).sorted()))
    return lines + [""] + pointers
  }

  private func page(of verb: any Verb.Type) -> [String] {
    var lines = layout.wrapped(program.usage(of: verb), indent: 7, first: "Usage: ")
    lines += [""] + layout.wrapped(verb.summary)
    lines += section("Examples", verb.examples.flatMap(layout.command))
    if !verb.arguments.isEmpty {
      lines += section(
        "Arguments", layout.table(verb.arguments.map { ($0.usage, summary(of: $0, in: verb)) }))
    }
    let own = ownOptions(of: verb)
    if !own.isEmpty { lines += section("Options", layout.table(rows(of: own))) }
    lines += section("Facts", layout.table(verb.facts.map { ($0.name, $0.text) } + secretsFact(of: verb)))
    if !verb.notes.isEmpty {
      lines += section("Notes", verb.notes.flatMap { layout.wrapped($0, indent: 2, first: "  ") })
    }
    lines += section("Exit codes", exitCodes(verb.exitCodes))
    return lines + [""] + pointers
  }

  private var pointers: [String] {
    guard let name = program.verb(["help"])?.name else { return [] }
    return layout.wrapped(
      "'\(program.name) \(name) options' has the options of every command, '\(name) exit-codes' all exit codes, '\(name) secrets' "
        + "how secrets are given.")
  }

  /// What a program can use of them; those that any command can end with are in one line.
  private func exitCodes(_ codes: [ExitCode]) -> [String] {
    let own = codes.filter { !program.commonExitCodes.contains($0) }
    let common = codes.filter { program.commonExitCodes.contains($0) }.map { String($0.rawValue) }
    return layout.table(own.map { (String($0.rawValue), $0.meaning) })
      + layout.wrapped("as every command: \(common.joined(separator: ", "))", indent: 2, first: "  ")
  }

  private func summary(of argument: Argument, in verb: any Verb.Type) -> String {
    guard argument.name == verb.arguments.first?.name, !verb.standIns.isEmpty else { return argument.summary }
    let usages = verb.standIns.map(\.usage).joined(separator: " or ")
    return argument.summary + " \(usages) may stand in its place."
  }

  /// The secrets that the options of a verb bring.
  private func secretsFact(of verb: any Verb.Type) -> [(String, String)] {
    guard !verb.secretOptions.isEmpty else { return [] }
    let titles = verb.secretOptions.map(\.title).joined(separator: ", ")
    return [("may need", "\(titles); '\(program.name) help secrets' says how each is given.")]
  }
}

// MARK: parts of a page

extension Help {
  func usage(_ rest: String) -> [String] {
    layout.wrapped("\(program.name) \(rest)", indent: 7, first: "Usage: ")
  }

  func section(_ title: String, _ lines: [String]) -> [String] { ["", layout.heading("\(title):")] + lines }

  /// The options of a verb without those that bring secrets.
  func ownOptions(of verb: any Verb.Type) -> [Option] {
    let secret = verb.secretOptions.flatMap { $0.options.map(\.name) }
    return verb.options.filter { !secret.contains($0.name) }
  }

  func rows(of options: [Option]) -> [(String, String)] { options.map { ($0.listing, $0.explanation) } }
}
