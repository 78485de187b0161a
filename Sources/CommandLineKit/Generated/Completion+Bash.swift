extension Completion {
  var bashScript: String {
    let name = program.name
    return """
      # bash completion of \(name); print it again with: \(name) completion bash
      _\(name)_names() {
        local line
        while IFS= read -r line; do
          [[ $line == "$current"* ]] && COMPREPLY+=("$(printf %q "$line")")
        done
      }
      _\(name)_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); }
      _\(name)() {
        local current=${COMP_WORDS[COMP_CWORD]} previous= place= word index joined=
        ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
        # The shell makes a word of = and of what is around it: join --option VAR = NAME again.
        index=$COMP_CWORD
        if [[ $current == = ]]; then
          current= joined=1 index=$((COMP_CWORD - 1))
        elif [[ $previous == = ]]; then
          joined=1 index=$((COMP_CWORD - 2))
        fi
        if [[ $joined ]]; then
          previous=${COMP_WORDS[index]}
          [[ $previous == -* || $index -lt 1 ]] || previous=${COMP_WORDS[index - 1]}
        fi
        COMPREPLY=()
        for ((index = 1; index < COMP_CWORD; index++)); do
          word="$place${place:+ }${COMP_WORDS[index]}"
          case $word in
            \(knownPlaces)) place=$word ;;
          esac
          if [[ ${COMP_WORDS[index]} == -- ]]; then
            case $place in
              \(programPlaces)) _\(name)_program $((index + 1)); return ;;
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
      # What follows -- is a command line of its own.
      _\(name)_program() {
        if (($1 == COMP_CWORD)); then
          mapfile -t COMPREPLY < <(compgen -c -- "$current")
        elif declare -F _command_offset >/dev/null; then
          _command_offset "$1"
        else
          _\(name)_files
        fi
      }
      complete -F _\(name) \(name)

      """
  }

  private var knownPlaces: String {
    places.map(\.words).filter { !$0.isEmpty }.map { "'\($0)'" }.joined(separator: " | ")
  }

  private var programPlaces: String {
    places.filter(\.takesProgram).map { "'\($0.words)'" }.joined(separator: " | ")
  }

  private var valueCases: String {
    var lines: [String] = []
    for place in places {
      for option in place.options where option.value != nil {
        let typed = option.spellings.map { "'\(place.words):\($0)'" }.joined(separator: " | ")
        lines.append("    \(typed)) \(command(source(of: option, at: place))); return ;;")
      }
    }
    return lines.joined(separator: "\n")
  }

  private var placeCases: String {
    places.map { place in
      let options = place.options.flatMap(\.spellings).joined(separator: " ")
      let words = place.next.map(\.word)
      var line = "    '\(place.words)')\n"
      line +=
        "      if [[ $current == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '\(options)' -- \"$current\")\n"
      if words.isEmpty {
        line += "      else \(command(place.arguments))\n"
      } else if case .files = place.arguments {
        // The first argument is one of the words, the second one a file.
        line += "      elif [[ \(shellList(words)) == *\" $previous \"* ]]; then _\(program.name)_files\n"
        line += "      else \(command(.words(words)))\n"
      } else {
        line += "      else \(command(.words(words)))\n"
      }
      return line + "      fi ;;"
    }.joined(separator: "\n")
  }

  private func shellList(_ words: [String]) -> String { "\" \(words.joined(separator: " ")) \"" }

  private func command(_ source: ShellSource) -> String {
    switch source {
    case .nothing: "COMPREPLY=()"
    case .words(let words):
      "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$current\")"
    case .files: "_\(program.name)_files"
    case .programs: "mapfile -t COMPREPLY < <(compgen -c -- \"$current\")"
    case .names(let command): "_\(program.name)_names < <(\(command))"
    case .namesAfterEquals(let command):
      "[[ $joined ]] && _\(program.name)_names < <(\(command))"
    }
  }
}
