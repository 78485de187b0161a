extension Completion {
  var zshScript: String {
    """
    #compdef vaultctl
    # zsh completion of vaultctl; print it anew with: vaultctl completion zsh
    _vaultctl() {
      local place= word previous=${words[CURRENT-1]} current=${words[CURRENT]}
      local -a next names
      integer index
      for ((index = 2; index < CURRENT; index++)); do
        word="$place${place:+ }${words[index]}"
        case $word in
          (\(knownPlaces)) place=$word ;;
        esac
      done
      case $place:$previous in
    \(valueCases)
      esac
      case $place in
    \(placeCases)
      esac
    }
    if [[ $funcstack[1] == _vaultctl ]]; then _vaultctl "$@"; else compdef _vaultctl vaultctl; fi

    """
  }

  private var knownPlaces: String {
    places.map(\.words).filter { !$0.isEmpty }.map { "'\($0)'" }.joined(separator: "|")
  }

  private var valueCases: String {
    var lines: [String] = []
    for place in places {
      for option in place.options where option.value != nil {
        let pattern = "    ('\(place.words):--\(option.name)')"
        if option.completesFiles {
          lines.append("\(pattern) _files; return ;;")
        } else if option.completionWords.isEmpty {
          lines.append("\(pattern) _message '\(quoted(option.placeholder))'; return ;;")
        } else {
          lines.append("\(pattern) compadd -- \(option.completionWords.joined(separator: " ")); return ;;")
        }
      }
    }
    return lines.joined(separator: "\n")
  }

  private var placeCases: String {
    places.map { place in
      let options = place.options.map { described("--" + $0.name, $0.summary) }.joined(separator: " ")
      var text = "    ('\(place.words)')\n      if [[ $current == -* ]]; then\n"
      text += "        next=(\(options))\n        _describe -o option next\n"
      if let command = place.namesCommand {
        text += "      else\n        names=(\"${(@f)$(\(command))}\")\n        compadd -- ${names:#}\n"
      } else {
        let words = place.next.map { described($0.word, $0.summary) }.joined(separator: " ")
        text += "      else\n        next=(\(words))\n        _describe command next\n"
      }
      return text + "      fi ;;"
    }.joined(separator: "\n")
  }

  private func described(_ word: String, _ summary: String) -> String {
    "'\(word):\(quoted(summary))'"
  }

  private func quoted(_ text: String) -> String {
    String(text.flatMap { $0 == "'" ? Array("'\\''") : $0 == ":" ? Array("\\:") : [$0] })
  }
}
