extension VaultLog {
  /// The text of a line: a literal whose values say by their types whether they are shown.
  ///
  /// `"stored \(name: item.name), \(count) uses"` is shown as `stored <name>, 3 uses`. There is no interpolation of a
  /// `String`: it may be a secret or a code. A type that is always shown conforms to ``Value``.
  package struct Message: ExpressibleByStringInterpolation, Sendable {
    private let parts: [Part]

    /// A part of the text, not yet masked.
    enum Part: Sendable {
      case literal(String)
      case shown(String)
      case masked(String, as: StaticString)
    }

    package init(stringLiteral text: String) { parts = [.literal(text)] }

    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// What a line shows of it.
    func text(isUnmasked: Bool) -> String {
      var text = ""
      for part in parts {
        switch part {
        case .literal(let literal): text += literal
        case .shown(let value): text += LogText.harmless(value)
        case .masked(let value, let mask): text += isUnmasked ? LogText.harmless(value) : "<\(mask)>"
        }
      }
      return text
    }

    package struct StringInterpolation: StringInterpolationProtocol {
      var parts: [Part] = []

      package init(literalCapacity: Int, interpolationCount: Int) {
        parts.reserveCapacity(2 * interpolationCount + 1)
      }

      package mutating func appendLiteral(_ literal: String) {
        if !literal.isEmpty { parts.append(.literal(literal)) }
      }

      /// A value that is always shown.
      package mutating func appendInterpolation(_ value: some Value) { parts.append(.shown(value.logText)) }

      /// A name that a person or a peer gave, or an identifier of theirs. Masked.
      package mutating func appendInterpolation(name: String?) {
        parts.append(name.map { .masked($0, as: "name") } ?? .literal("-"))
      }

      /// Where something is: a path, a host, a URL without its query. Masked.
      package mutating func appendInterpolation(address: String?) {
        parts.append(address.map { .masked($0, as: "address") } ?? .literal("-"))
      }

      @available(*, unavailable, message: "a text can be a secret: write name: or address: before it")
      package mutating func appendInterpolation(_ text: String) {}
    }
  }

  /// A value that a line always shows: it tells nothing about a person, a place or a secret.
  package protocol Value {
    /// What the line shows.
    var logText: String { get }
  }
}

extension VaultLog.Value where Self: BinaryInteger {
  package var logText: String { String(self) }
}

extension Int: VaultLog.Value {}
extension Int32: VaultLog.Value {}
extension Int64: VaultLog.Value {}
extension UInt8: VaultLog.Value {}
extension UInt16: VaultLog.Value {}
extension UInt32: VaultLog.Value {}
extension UInt64: VaultLog.Value {}

extension Bool: VaultLog.Value {
  package var logText: String { self ? "true" : "false" }
}

extension StaticString: VaultLog.Value {
  package var logText: String { description }
}

extension Duration: VaultLog.Value {
  /// In milliseconds.
  package var logText: String {
    "\(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) ms"
  }
}
