import CommandLineKit
import VaultKit
import VaultLogging
import VaultWords

extension ValueKind where Value == String {
  /// The name of an item.
  static var name: ValueKind {
    ValueKind(completedWith: .names) { text, name throws(CommandError) in
      try Names.check(text, named: name)
      return text
    }
  }

  /// A name that is set: all of its characters show.
  static var newName: ValueKind {
    ValueKind { text, name throws(CommandError) in
      try Names.checkNew(text, named: name)
      return text
    }
  }

  static var text: ValueKind { text(completedWith: .none) }

  /// A text that is no longer than a name.
  static var shortText: ValueKind { text(completedWith: .none, upTo: Names.longest) }

  /// The name of a field and its value.
  static var longText: ValueKind {
    text(completedWith: .none, upTo: Names.longest + 1 + EntryLimits.valueByteCount)
  }

  /// `VAR=NAME`: a place, and the name of an item.
  static var placeAndName: ValueKind { text(completedWith: .namesAfterEquals) }

  /// One line of a prompt, which shows as what it is.
  static var reason: ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard !text.isEmpty, text.unicodeScalars.count <= longestReason else {
        throw .usage("\(name) takes 1 to \(longestReason) characters")
      }
      guard let flaw = VisibleText.flaw(inName: text) else { return text }
      throw .usage("\(name) \(flaw)", hint: "a person reads it in a prompt: leave out what does not show")
    }
  }

  private static let longestReason = 200

  private static func text(
    completedWith candidates: ValueShape.Candidates, upTo longest: Int = Names.longestText
  ) -> ValueKind {
    ValueKind(completedWith: candidates) { text, name throws(CommandError) in
      try Names.checkText(text, named: name, upTo: longest)
      return text
    }
  }
}

extension ValueKind where Value == ItemID {
  static var identifier: ValueKind {
    ValueKind { text, name throws(CommandError) in
      guard let id = ItemID(hexadecimal: text) else { throw .usage("\(name) takes 32 hexadecimal digits") }
      return id
    }
  }
}

extension ValueKind where Value == AuditPolicy {
  static var auditPolicy: ValueKind { .choice(["changes": .changes, "all": .all]) }
}

extension ValueKind where Value == Constraints {
  /// The words of an access rule, a comma list.
  static var constraints: ValueKind {
    let words = Constraints.words.map(\.word)
    let list = ValueKind<[String]>.choices(words)
    return ValueKind(completedWith: .commaList(words)) { text, name throws(CommandError) in
      Constraints(words: try list.read(text, name))
    }
  }
}

extension ValueKind where Value == [VaultLog.Tag] {
  /// Tags of the log or their beginnings, a comma list. No set: the runtime would look for its conformance in each command.
  static var logTags: ValueKind {
    let words = VaultLog.Tag.allCases.map(\.rawValue)
    return ValueKind(completedWith: .commaList(words)) { text, name throws(CommandError) in
      guard let tags = VaultLog.Tag.named(text) else {
        throw .usage("\(name) takes a comma list of \(words.joined(separator: ", ")), or their beginnings")
      }
      return Array(tags)
    }
  }
}

extension ValueKind where Value == Int64 {
  /// Seconds since 1970 of any size, or RFC 3339: a suite may count them in steps far beyond the year 9999.
  static var moment: ValueKind {
    ValueKind { text, name throws(CommandError) in
      let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
      guard isNumber, let seconds = Int64(text) else { return try ValueKind.instant.read(text, name) }
      return seconds
    }
  }
}
