extension Completion {
  var zshScript: String {
    let name = program.name
    return """
      #compdef \(name)
      # zsh completion of \(name); print it again with: \(name) completion zsh
      _\(name)() {
        local place= word previous=${words[CURRENT-1]} current=${words[CURRENT]}
        local -a next names
        integer index
        for ((index = 2; index < CURRENT; index++)); do
          word="$place${place:+ }${words[index]}"
          case $word in
            (\(knownPlaces)) place=$word ;;
          esac
          if [[ ${words[index]} == -- ]]; then
            case $place in
              (\(programPlaces)) shift index words; ((CURRENT -= index)); _normal; return ;;
            esac
          fi
        done
        case $place:$previous in
      \(valueCases)
        esac
        case $place in
      \(placeCases)
        esac
      }
      if [[ $funcstack[1] == _\(name) ]]; then _\(name) "$@"; else compdef _\(name) \(name); fi

      """
  }

  private var knownPlaces: String {
    places.map(\.words).filter { !$0.isEmpty }.map { "'\($0)'" }.joined(separator: "|")
  }

  private var programPlaces: String {
    places.filter(\.takesProgram).map { "'\($0.words)'" }.joined(separator: "|")
  }

  private var valueCases: String {
    var lines: [String] = []
    for place in places {
      for option in place.options where option.value != nil {
        let source = source(of: option, at: place)
        let typed = option.spellings.map { "'\(place.words):\($0)'" }.joined(separator: "|")
        lines.append("    (\(typed)) \(command(source, else: option.placeholder)); return ;;")
      }
    }
    return lines.joined(separator: "\n")
  }

  private var placeCases: String {
    places.map { place in
      let options = place.options.flatMap { option in
        option.spellings.map { described($0, as: option.summary) }
      }.joined(separator: " ")
      let words = place.next.map { described($0.word, as: $0.summary) }.joined(separator: " ")
      let offer = "next=(\(words))\n        _describe command next\n"
      var text = "    ('\(place.words)')\n      if [[ $current == -* ]]; then\n"
      text += "        next=(\(options))\n        _describe -o option next\n"
      if place.next.isEmpty {
        text += "      else\n        \(command(place.arguments, else: ""))\n"
      } else if case .files = place.arguments {
        // The first argument is one of the words, the second one a file.
        let known = place.next.map(\.word).joined(separator: "|")
        text += "      elif [[ $previous == (\(known)) ]]; then _files\n"
        text += "      else\n        \(offer)"
      } else {
        text += "      else\n        \(offer)"
      }
      return text + "      fi ;;"
    }.joined(separator: "\n")
  }

  private func command(_ source: ShellSource, else placeholder: String) -> String {
    switch source {
    case .nothing: "_message '\(quoted(placeholder))'"
    case .words(let words): "compadd -- \(words.joined(separator: " "))"
    case .files: "_files"
    case .programs: "_command_names -e"
    case .names(let command): "names=(\"${(@f)$(\(command))}\"); compadd -- ${names:#}"
    case .namesAfterEquals(let command):
      "if compset -P '*='; then names=(\"${(@f)$(\(command))}\"); compadd -- ${names:#}; fi"
    }
  }

  private func described(_ word: String, as summary: String) -> String {
    "'\(word):\(quoted(summary))'"
  }

  private func quoted(_ text: String) -> String {
    String(text.flatMap { $0 == "'" ? Array("'\\''") : $0 == ":" ? Array("\\:") : [$0] })
  }
}
