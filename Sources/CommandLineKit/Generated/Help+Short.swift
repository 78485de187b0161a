/// One screen of 24 lines, of which the last is for the next command.
extension Help {
  private static let mostLines = 23

  var shortOverview: [String] {
    let manual = program.manual
    var lines = usage("COMMAND [options]") + [""]
    lines += layout.list(manual.daily)
    let shown = manual.daily.map { String($0.usage.prefix { $0 != " " }) }
    let others = program.families.map(\.word).filter { !shown.contains($0) }
    lines += [""] + layout.wrapped(others.joined(separator: ", "), indent: 6, first: "Also: ")
    let end = ["'\(program.name) COMMAND -h' explains a command, '\(program.name) help' lists them."]
    return lines + examples(manual.examples, within: Self.mostLines - lines.count - end.count - 1) + [""]
      + end
  }

  func shortPage(of family: VerbFamily) -> [String] {
    var lines = usage("\(family.word) COMMAND [options]") + [""] + layout.wrapped(family.summary) + [""]
    let end = ["'\(program.name) \(family.word) COMMAND -h' explains a command."]
    let rows = layout.list(family.verbs.map { ($0.name, $0.summary) })
    let room = Self.mostLines - lines.count - end.count - 1
    lines += rows.prefix(room)
    let left = rows.count - min(rows.count, room)
    let more = left > 0 ? ["--help shows \(left) more commands."] : end
    let examples = examples(
      family.verbs.prefix(2).map { $0.examples[0] }, within: Self.mostLines - lines.count - more.count - 1)
    return lines + examples + [""] + more
  }

  func shortPage(of verb: any Verb.Type) -> [String] {
    var lines = layout.wrapped(program.usage(of: verb), indent: 7, first: "Usage: ")
    lines += [""] + layout.wrapped(verb.summary)
    let own = ownOptions(of: verb)
    lines += examples(
      Array(verb.examples.prefix(2)), within: Self.mostLines - lines.count - (own.isEmpty ? 2 : 5))
    var room = Self.mostLines - lines.count - 2
    guard !own.isEmpty else { return lines + [""] + [moreHelp(of: verb, hidden: 0)] }
    lines.append("")
    room -= 1
    var shown = 0
    for option in own {
      let rows = layout.table([
        (option.listing.padded(to: columnWidth(of: own)), Self.firstSentence(option.summary))
      ])
      guard rows.count <= room else { break }
      room -= rows.count
      lines += rows
      shown += 1
    }
    return lines + [""] + [moreHelp(of: verb, hidden: own.count - shown)]
  }

  private func moreHelp(of verb: any Verb.Type, hidden: Int) -> String {
    let what =
      hidden == 0 ? "everything" : "\(hidden) more option\(hidden == 1 ? "" : "s"), and everything else"
    return "--help shows \(what)."
  }

  private func columnWidth(of options: [Option]) -> Int { min(26, options.map(\.listing.count).max() ?? 0) }

  /// Those that fit, below an empty line.
  private func examples(_ commands: [String], within room: Int) -> [String] {
    var lines: [String] = []
    for command in commands {
      let next = layout.command(command)
      guard lines.count + next.count + 1 <= room else { break }
      lines += next
    }
    return lines.isEmpty ? [] : [""] + lines
  }

  /// The summary up to its first full stop that ends a sentence.
  private static func firstSentence(_ text: String) -> String {
    var words: [Substring] = []
    for word in text.split(separator: " " as Character) {
      words.append(word)
      if word.last == "." || word.last == ":" && words.count > 2 { break }
    }
    var sentence = words.joined(separator: " ")
    if sentence.last == ":" || sentence.last == ";" { sentence.removeLast() }
    return sentence.last == "." ? sentence : sentence + "."
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
