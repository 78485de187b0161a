/// What is said once, for all verbs.
extension Help {
  var optionsPage: [String] {
    layout.wrapped("Options of every command. They can be given before the command too.") + [""]
      + layout.table(rows(of: program.commonOptions))
  }

  var exitCodesPage: [String] {
    layout.wrapped("Exit codes. The help of a command says which of them it has.") + [""]
      + layout.table(program.exitCodes.map { (String($0.rawValue), $0.meaning) })
  }

  var secretsPage: [String] {
    let text = program.manual.secrets.flatMap { layout.wrapped($0) + [""] }
    return text + layout.table(program.allSecretOptions.map { ($0.title, $0.advice) })
  }

  var wordsPage: [String] {
    let vocabulary = program.vocabulary()
    let synonyms = vocabulary.synonyms.map { ($0.typed.joined(separator: " "), "\(program.name) \($0.verb)") }
    let options = vocabulary.optionSynonyms.map { ("--\($0.typed)", "--\($0.name)") }
    let redirects = vocabulary.redirects.map { redirect in
      (
        redirect.typed.joined(separator: " "),
        "\(program.name) \(redirect.command)" + (redirect.effect.isEmpty ? "" : ": \(redirect.effect)")
      )
    }
    return layout.wrapped("Words of other programs that work here, and what they mean:") + [""]
      + layout.table(synonyms + options) + [""] + layout.wrapped("Words that are answered with a command:")
      + [""] + layout.table(redirects)
  }
}

extension Program {
  /// The options that bring secrets, each secret once.
  var allSecretOptions: [SecretOptions] {
    var all: [SecretOptions] = []
    for secret in secretOptions + families.flatMap({ $0.verbs.flatMap { $0.secretOptions } })
    where !all.contains(where: { $0.descriptor.name == secret.descriptor.name }) {
      all.append(secret)
    }
    return all
  }
}
