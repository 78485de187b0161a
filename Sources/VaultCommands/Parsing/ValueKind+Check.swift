import CommandLineKit

extension ValueKind {
  /// Refuses a value that is not of this kind; the value itself is never repeated.
  ///
  /// - Throws: exit 2, or 12 for a name.
  func check(_ value: String, named name: String) throws(CommandError) {
    switch self {
    case .name:
      try Names.check(value, named: name)
    case .newName:
      try Names.checkNew(value, named: name)
    case .text:
      try Names.checkText(value, named: name)
    case .path, .program:
      guard !value.isEmpty else { throw .usage("\(name) is empty") }
      guard value != "-" else {
        throw .usage(
          "\(name) is -, which is standard input or output to other programs and is not supported here",
          hint: "for a file of that name write ./-")
      }
    case .descriptor:
      guard Self.isNumber(value), let number = Int32(value), number >= 0 else {
        throw .usage("\(name) takes the number of an open descriptor")
      }
    case .number(let range):
      guard Self.isNumber(value), let number = UInt64(value), range.contains(number) else {
        throw .usage("\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
    case .duration:
      guard Durations.seconds(value) != nil else { throw Self.noDuration(name) }
    case .instant:
      guard Instants.milliseconds(value) != nil else {
        throw .usage("\(name) takes Unix seconds or RFC 3339, like 1700000000 or 2023-11-14T22:13:20Z")
      }
    case .past:
      guard Instants.milliseconds(value) != nil || Durations.seconds(value) != nil else {
        throw .usage(
          "\(name) takes Unix seconds, RFC 3339, or a time ago, like 1700000000, 2023-11-14T22:13:20Z or 1h")
      }
    case .identifier:
      guard value.utf8.count == 32, value.utf8.allSatisfy(\.isHexadecimalDigit) else {
        throw .usage("\(name) takes 32 hexadecimal digits")
      }
    case .generator:
      guard Generator(value) != nil else {
        throw .usage("\(name) takes a length and an alphabet, like 24, 32:alnum, 24:all, 6:words, 64:hex")
      }
    case .choice(let words):
      guard words.contains(value) else {
        throw .usage("\(name) takes one of \(words.joined(separator: ", "))")
      }
    case .choices(let words):
      let given = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard given.allSatisfy(words.contains) else {
        throw .usage("\(name) takes a comma list of \(words.joined(separator: ", "))")
      }
    }
  }

  static func noDuration(_ name: String) -> CommandError {
    .usage("\(name) takes a duration from 1s on, like 90s, 15m, 12h, 30d")
  }

  func accepts(_ value: String) -> Bool { (try? check(value, named: "")) != nil }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }
}

extension UInt8 {
  var isHexadecimalDigit: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
