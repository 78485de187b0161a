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

  /// Words that are known only when the program runs, in this order.
  package init(words: [String], values: [Value]) {
    precondition(words.count == values.count, "Meanings: each word has a value")
    (self.words, self.values) = (words, values)
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

// MARK: Times

extension ValueKind where Value == Int64 {
  /// Whole seconds, from one to a hundred years.
  package static var duration: ValueKind { duration(1...Durations.longest) }

  /// Whole seconds. A number alone is seconds.
  package static func duration(_ range: ClosedRange<Int64>) -> ValueKind {
    length(range, in: .seconds, milliseconds: 1000, examples: "90s, 15m, 12h30m, 30d, 2w, 6mo or 1y")
  }

  /// Milliseconds. A number alone is milliseconds.
  package static func milliseconds(_ range: ClosedRange<Int64>) -> ValueKind {
    length(range, in: .milliseconds, milliseconds: 1, examples: "500ms or 2s")
  }

  private static func length(
    _ range: ClosedRange<Int64>, in unit: TimeSpan.Unit, milliseconds: Int64, examples: String
  ) -> ValueKind {
    let (least, most) = (shortest(range.lowerBound, unit), shortest(range.upperBound, unit))
    return ValueKind { text, name throws(CommandError) in
      guard let span = TimeSpan(text, alone: unit)?.fixedMilliseconds, span % milliseconds == 0,
        range.contains(span / milliseconds)
      else {
        throw .usage(
          "\(naming(text, name)) takes a time from \(least) to \(most)",
          hint: "write \(examples); a number alone is \(unit)")
      }
      return span / milliseconds
    }
  }

  /// As people type it, in the greatest unit up to a day that counts it.
  private static func shortest(_ number: Int64, _ unit: TimeSpan.Unit) -> String {
    guard unit == .seconds, number > 0 else { return "\(number)\(unit.rawValue)" }
    for (size, name) in [(Int64(86_400), "d"), (3600, "h"), (60, "m")] where number % size == 0 {
      return "\(number / size)\(name)"
    }
    return "\(number)s"
  }

  /// Seconds since 1970.
  package static var instant: ValueKind {
    ValueKind { text, name throws(CommandError) in
      do throws(TimeFlaw) { return try Instants.read(text) / 1000 } catch {
        throw .usage("\(naming(text, name)) \(error.words)", hint: "write \(instantForms)")
      }
    }
  }
}

extension ValueKind where Value == TypedMoment {
  /// A moment that is over.
  package static var past: ValueKind { moment("how long ago it was, like 1h, 90d or 6mo") }

  /// A moment to come.
  package static var future: ValueKind { moment("the time from now, like 90d, 2w, 6mo or 1y") }

  private static func moment(_ distance: String) -> ValueKind {
    ValueKind { text, name throws(CommandError) in
      do throws(TimeFlaw) { return try TypedMoment(text) } catch {
        throw .usage("\(naming(text, name)) \(error.words)", hint: "write \(instantForms), or \(distance)")
      }
    }
  }
}

/// The forms of an instant, for hints.
private let instantForms =
  "a date like 2027-01-31, or 2027-01-31T10:00 with a zone like Z or +01:00 (else UTC), or seconds since 1970"

/// The option, with what was typed if only a time looks so: a secret that was typed in the wrong place is never repeated.
private func naming(_ text: String, _ name: String) -> String {
  let looks = text.utf8.count <= 32 && text.utf8.allSatisfy { timeBytes.contains($0) }
  let hasForm =
    text.utf8.contains { !(0x30...0x39).contains($0) } && (0x30...0x39).contains(text.utf8.first ?? 0)
  return looks && hasForm ? "\(name) \(text)" : name
}

/// Digits, what separates them, and the letters of units and zones.
private let timeBytes = Array("0123456789-:.+ TZtzsmhdwyoin".utf8)

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
