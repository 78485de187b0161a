/// What a person answers who is asked for how long a program may use an item.
package enum GrantAnswer: Sendable, Equatable {
  case no
  /// For this use alone.
  case once
  /// For so many seconds, as often as the program likes.
  case time(seconds: Int64)
  /// So many times, this use included; 2 or more.
  case uses(Int)

  /// The longest time, in seconds: 12 hours, as long as a vault stays unlocked by itself.
  package static let longest: Int64 = 12 * 3600
  /// The largest number of uses.
  package static let mostUses = 100

  /// What was typed: nothing, `o`, `once`, `y` or `yes` is once; `n` or `no`; a time such as `90s`, `5m` or `1h`; a number of uses
  /// such as `3x`.
  ///
  /// - Returns: `nil` for anything else, and for more than ``longest`` and ``mostUses``.
  package init?(typed: String) {
    switch typed.lowercased() {
    case "", "o", "once", "y", "yes": self = .once
    case "n", "no": self = .no
    case let text:
      guard let unit = text.last, let number = Self.number(text.dropLast()) else { return nil }
      switch unit {
      case "x":
        guard number <= Self.mostUses else { return nil }
        self = number == 1 ? .once : .uses(number)
      case "s", "m", "h":
        let seconds = Int64(number) * (unit == "h" ? 3600 : unit == "m" ? 60 : 1)
        guard seconds <= Self.longest else { return nil }
        self = .time(seconds: seconds)
      default: return nil
      }
    }
  }

  /// The same as it is typed.
  package var typed: String {
    switch self {
    case .no: "no"
    case .once: "once"
    case .time(let seconds): "\(seconds)s"
    case .uses(let count): "\(count)x"
    }
  }

  /// One to five ASCII digits, more than 0.
  private static func number(_ text: Substring) -> Int? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text).flatMap { $0 > 0 ? $0 : nil }
  }
}

/// A prompt that can ask for how long a program may use an item.
package protocol GrantPrompt: Prompt {
  /// What the person allows to the program that the request names. A prompt that has no such question returns
  /// ``GrantAnswer/once``: the person has been verified.
  ///
  /// - Throws: As ``Prompt/confirm(_:)``.
  func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer
}
