extension Completion {
  var fishScript: String {
    let name = program.name
    return """
      # fish completion of \(name); print it again with: \(name) completion fish
      function __\(name)_place
          set -l place
          for word in (commandline -opc)[2..-1]
              set -l longer (string trim -- "$place $word")
              if contains -- $longer \(knownPlaces)
                  set place $longer
              else if test "$word" = -- && contains -- "$place" \(programPlaces)
                  set place program
                  break
              end
          end
          echo "$place"
      end
      function __\(name)_at
          test (__\(name)_place) = "$argv[1]"
      end
      function __\(name)_previous
          contains -- (commandline -opc)[-1] $argv
      end
      # The command line behind --, for its own completion.
      function __\(name)_program
          set -l words (commandline -opc)
          set -l index (contains -i -- -- $words)
          set -l rest $words[(math $index + 1)..-1]
          complete -C (string join ' ' -- (string escape -- $rest) (commandline -ct))
      end
      # Names after the = of the word that is typed.
      function __\(name)_after_equals
          set -l start (string match -r '^[^=]*=' -- (commandline -ct))
          if test -n "$start"
              for name in (eval $argv[1])
                  echo $start$name
              end
          end
      end
      complete -c \(name) -f
      complete -c \(name) -n '__\(name)_at program' -a '(__\(name)_program)'
      \(lines.joined(separator: "\n"))

      """
  }

  private var knownPlaces: String {
    places.map(\.words).filter { !$0.isEmpty }.map { "'\($0)'" }.joined(separator: " ")
  }

  private var programPlaces: String {
    places.filter(\.takesProgram).map { "'\($0.words)'" }.joined(separator: " ")
  }

  private var lines: [String] {
    places.flatMap { place in
      let start = "complete -c \(program.name) -n '__\(program.name)_at \"\(place.words)\"'"
      var lines = place.next.map { "\(start) -a '\($0.word)' -d '\(quoted($0.summary))'" }
      switch place.arguments {
      case .names(let command): lines.append("\(start) -a '(\(command))'")
      case .files:
        // Where the first argument is one of a few words, the second one is a file.
        let known = place.next.map(\.word).joined(separator: " ")
        let place =
          "__\(program.name)_at \"\(place.words)\""
          + (known.isEmpty ? "" : "; and __\(program.name)_previous \(known)")
        lines.append("complete -c \(program.name) -n '\(place)' -F")
      default: break
      }
      return lines
        + place.options.map { option in
          let value = option.value == nil ? "" : self.value(source(of: option, at: place))
          let letter = option.short.first.map { " -s \($0)" } ?? ""
          return "\(start) -l \(option.name)\(letter)\(value) -d '\(quoted(option.summary))'"
        }
    }
  }

  private func value(_ source: ShellSource) -> String {
    switch source {
    case .nothing: " -x"
    case .words(let words): " -x -a '\(words.joined(separator: " "))'"
    case .files, .programs: " -r -F"
    case .names(let command): " -x -a '(\(command))'"
    case .namesAfterEquals(let command): " -x -a '(__\(program.name)_after_equals \"\(command)\")'"
    }
  }

  private func quoted(_ text: String) -> String {
    String(text.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] })
  }
}
