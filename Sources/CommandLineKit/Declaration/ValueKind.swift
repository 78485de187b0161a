/// What a value is, so that the parser checks it, a verb reads it, and a shell completes it.
///
/// A tool adds its own kinds in an extension.
package struct ValueKind<Value: Sendable>: Sendable {
  package typealias Read = @Sendable (_ text: String, _ name: String) throws(CommandError) -> Value

  /// Reads a value.
  ///
  /// - Throws: An error that names the option, and never repeats the text.
  package let read: Read
  let candidates: ValueShape.Candidates

  package init(completedWith candidates: ValueShape.Candidates = .none, _ read: @escaping Read) {
    self.read = read
    self.candidates = candidates
  }

  package var shape: ValueShape {
    let read = read
    return ValueShape(candidates: candidates) { value, name throws(CommandError) in _ = try read(value, name)
    }
  }
}

extension ValueKind where Value == String {
  package static var path: ValueKind { nonEmpty(completedWith: .files) }
  /// A path, or `-` for standard input or output.
  package static var pathOrStream: ValueKind { nonEmpty(completedWith: .files, takesStream: true) }
  package static var program: ValueKind { nonEmpty(completedWith: .programs) }

  package static func choice(_ words: [String]) -> ValueKind {
    ValueKind(completedWith: .words(words)) { text, name throws(CommandError) in
      guard words.contains(text) else {
        throw .usage("\(name) takes one of \(words.joined(separator: ", "))")
      }
      return text
    }
  }

  private static func nonEmpty(
    completedWith candidates: ValueShape.Candidates, takesStream: Bool = false
  ) -> ValueKind {
    ValueKind(completedWith: candidates) { text, name throws(CommandError) in
      guard !text.isEmpty else { throw .usage("\(name) is empty") }
      guard takesStream || text != "-" else {
        throw .usage(
          "\(name) is -, which is standard input or output to other programs and is not supported here",
          hint: "for a file of that name write ./-")
      }
      return text
    }
  }
}

extension ValueKind {
  /// One of a few words, each with what it means.
  package static func choice(_ meanings: Meanings<Value>) -> ValueKind {
    ValueKind(completedWith: .words(meanings.words)) { text, name throws(CommandError) in
      guard let index = meanings.words.firstIndex(of: text) else {
        throw .usage("\(name) takes one of \(meanings.words.joined(separator: ", "))")
      }
      return meanings.values[index]
    }
  }
}

/// Words and what they mean, in the order of the help.
package struct Meanings<Value: Sendable>: Sendable, ExpressibleByDictionaryLiteral {
  fileprivate var words: [String] = []
  fileprivate var values: [Value] = []

  package init(dictionaryLiteral pairs: (String, Value)...) {
    // Without the generic functions of collections: at the start of each command, the runtime would make types for them.
    for index in 0..<pairs.count {
      words.append(pairs[index].0)
      values.append(pairs[index].1)
    }
  }
}

extension ValueKind where Value == [String] {
  /// A comma list of a few words.
  package static func choices(_ words: [String]) -> ValueKind {
    ValueKind(completedWith: .commaList(words)) { text, name throws(CommandError) in
      let given = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard given.allSatisfy(words.contains) else {
        throw .usage("\(name) takes a comma list of \(words.joined(separator: ", "))")
      }
      return given
    }
  }
}

extension ValueKind where Value == Int32 {
  /// The number of an open descriptor.
  package static var descriptor: ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard isNumber(text), let number = Int32(text), number >= 0 else {
        throw .usage("\(name) takes the number of an open descriptor")
      }
      return number
    }
  }
}

extension ValueKind where Value == UInt64 {
  package static func number(_ range: ClosedRange<UInt64>) -> ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard isNumber(text), let number = UInt64(text), range.contains(number) else {
        throw .usage("\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
  }
}

extension ValueKind where Value == Int64 {
  /// Whole seconds, from one to a hundred years.
  package static var duration: ValueKind { duration(upTo: Durations.longest) }

  /// Whole seconds, from one to a number of whole days.
  package static func duration(upTo longest: Int64) -> ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard let seconds = Durations.seconds(text), seconds <= longest else {
        throw .usage("\(name) takes a duration from 1s to \(longest / 86_400)d, like 90s, 15m, 12h, 30d")
      }
      return seconds
    }
  }

  /// Seconds since 1970.
  package static var instant: ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard let seconds = Instants.seconds(text) else {
        throw .usage("\(name) takes Unix seconds or RFC 3339, like 1700000000 or 2023-11-14T22:13:20Z")
      }
      return seconds
    }
  }
}

extension ValueKind where Value == PastMoment {
  package static var past: ValueKind {
    ValueKind { text, name throws(CommandError) in
      if let seconds = Durations.seconds(text) { return .ago(seconds: seconds) }
      if let seconds = Instants.seconds(text) { return .at(seconds: seconds) }
      throw .usage(
        "\(name) takes Unix seconds, RFC 3339, or a time ago, like 1700000000, 2023-11-14T22:13:20Z or 1h")
    }
  }
}

extension ValueKind where Value == Generator {
  package static var generator: ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard let generator = Generator(text) else {
        throw .usage("\(name) takes a length and an alphabet, like 24, 32:alnum, 24:all, 6:words, 64:hex")
      }
      return generator
    }
  }
}

private func isNumber(_ text: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
}
