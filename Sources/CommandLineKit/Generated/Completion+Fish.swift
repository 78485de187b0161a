extension Completion {
  var fishScript: String {
    """
    # fish completion of vaultctl; print it anew with: vaultctl completion fish
    function __vaultctl_place
        set -l place
        for word in (commandline -opc)[2..-1]
            set -l longer (string trim -- "$place $word")
            if contains -- $longer \(knownPlaces)
                set place $longer
            end
        end
        echo "$place"
    end
    function __vaultctl_at
        test (__vaultctl_place) = "$argv[1]"
    end
    complete -c vaultctl -f
    \(lines.joined(separator: "\n"))

    """
  }

  private var knownPlaces: String {
    places.map(\.words).filter { !$0.isEmpty }.map { "'\($0)'" }.joined(separator: " ")
  }

  private var lines: [String] {
    places.flatMap { place in
      let start = "complete -c vaultctl -n '__vaultctl_at \"\(place.words)\"'"
      var lines = place.next.map { "\(start) -a '\($0.word)' -d '\(quoted($0.summary))'" }
      if let command = place.namesCommand { lines.append("\(start) -a '(\(command))'") }
      return lines + place.options.map { "\(start) -l \($0.name)\(value(of: $0)) -d '\(quoted($0.summary))'" }
    }
  }

  private func value(of option: Option) -> String {
    guard option.value != nil else { return "" }
    if option.completesFiles { return " -r -F" }
    let words = option.completionWords
    return words.isEmpty ? " -x" : " -x -a '\(words.joined(separator: " "))'"
  }

  private func quoted(_ text: String) -> String {
    String(text.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] })
  }
}
