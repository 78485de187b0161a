extension Completion {
  var bashScript: String {
    """
    # bash completion of vaultctl; print it anew with: vaultctl completion bash
    _vaultctl() {
      local current=${COMP_WORDS[COMP_CWORD]} previous= place= word index names=
      ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
      for ((index = 1; index < COMP_CWORD; index++)); do
        word="$place${place:+ }${COMP_WORDS[index]}"
        case $word in
          \(knownPlaces)) place=$word ;;
        esac
      done
      COMPREPLY=()
      case $place:$previous in
    \(valueCases)
      esac
      case $place in
    \(placeCases)
      esac
    }
    complete -F _vaultctl vaultctl

    """
  }

  private var knownPlaces: String {
    places.map(\.words).filter { !$0.isEmpty }.map { "'\($0)'" }.joined(separator: " | ")
  }

  private var valueCases: String {
    var lines: [String] = []
    for place in places {
      for option in place.options where option.value != nil {
        let pattern = "'\(place.words):--\(option.name)'"
        if option.completesFiles {
          lines.append(
            "    \(pattern)) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;"
          )
        } else {
          let words = option.completionWords.joined(separator: " ")
          lines.append(
            "    \(pattern)) mapfile -t COMPREPLY < <(compgen -W '\(words)' -- \"$current\"); return ;;")
        }
      }
    }
    return lines.joined(separator: "\n")
  }

  private var placeCases: String {
    places.map { place in
      let options = place.options.map { "--" + $0.name }.joined(separator: " ")
      let words = place.next.map(\.word).joined(separator: " ")
      var line = "    '\(place.words)')\n"
      line +=
        "      if [[ $current == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '\(options)' -- \"$current\")\n"
      if let command = place.namesCommand {
        line += "      else\n"
        line += "        while IFS= read -r names; do\n"
        line += "          [[ $names == \"$current\"* ]] && COMPREPLY+=(\"$(printf %q \"$names\")\")\n"
        line += "        done < <(\(command))\n"
      } else {
        line += "      else mapfile -t COMPREPLY < <(compgen -W '\(words)' -- \"$current\")\n"
      }
      return line + "      fi ;;"
    }.joined(separator: "\n")
  }
}
