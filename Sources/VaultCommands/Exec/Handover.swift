import CommandLineKit
package import SecretMemory
package import VaultKit
import VaultWords

/// One value and where the program finds it.
package struct Handover {
  package enum Place {
    case descriptor(Int32)
    case path(in: String)
    case value(of: String)
  }

  /// Where the value comes from.
  package enum Source {
    case vault(WantedValue)
    /// A value of a file of variables that is no reference.
    case text(SharedSecret)
  }

  /// What the command line calls it, such as `--fd number 1`, or a line of a file.
  let origin: String
  package let place: Place
  package let source: Source

  var number: Int32? { if case .descriptor(let number) = place { number } else { nil } }

  /// What the vault gives for it; `nil` for a text.
  var wanted: WantedValue? { if case .vault(let wanted) = source { wanted } else { nil } }

  /// All of a command line.
  ///
  /// - Parameter file: What `--env-file` names, whose lines come last.
  static func all(
    in invocation: Invocation, and file: EnvironmentFile?
  ) throws(CommandError) -> [Handover] {
    var handovers: [Handover] = []
    for option in [Exec.fd, Exec.file, Exec.env] {
      for (index, value) in invocation[option].enumerated() {
        handovers.append(try Handover(value, of: option.name, named: "\(option.shown) number \(index + 1)"))
      }
    }
    handovers += file?.handovers ?? []
    guard !handovers.isEmpty || file != nil else {
      throw .usage(
        "nothing to hand over", hint: "give --fd N=NAME, --file VAR=NAME, --env VAR=NAME or --env-file FILE")
    }
    try refuseTaken(handovers)
    return handovers
  }

  private static func refuseTaken(_ handovers: [Handover]) throws(CommandError) {
    var seen: Set<String> = []
    for handover in handovers where !seen.insert(handover.place.key).inserted {
      throw .usage("\(handover.origin) names a place that is taken already", hint: "give each value its own")
    }
  }

  init(origin: String, place: Place, source: Source) {
    (self.origin, self.place, self.source) = (origin, place, source)
  }

  private init(_ value: String, of option: String, named origin: String) throws(CommandError) {
    guard let equals = value.firstIndex(of: "=") else {
      throw .usage(
        "\(origin) has no =", hint: option == "fd" ? "write --fd 3=NAME" : "write --\(option) VAR=NAME")
    }
    let left = String(value[..<equals])
    source = .vault(try .init(typed: String(value[value.index(after: equals)...]), in: origin))
    self.origin = origin
    if option == "fd" {
      guard let number = Int32(left), left.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        number == 0 || number > 2
      else { throw .usage("\(origin) takes descriptor 0, or 3 and more") }
      place = .descriptor(number)
    } else {
      guard Self.isVariable(left.utf8) else {
        throw .usage("\(origin) names no variable", hint: Self.variableHint)
      }
      place = option == "file" ? .path(in: left) : .value(of: left)
    }
  }

  static let variableHint = "a variable has letters, digits and _, and no digit first"

  static func isVariable(_ name: some Sequence<UInt8>) -> Bool {
    var isFirst = true
    for byte in name {
      switch byte {
      case 0x41...0x5A, 0x61...0x7A, 0x5F: break
      case 0x30...0x39 where !isFirst: break
      default: return false
      }
      isFirst = false
    }
    return !isFirst
  }
}

extension Handover.Place {
  /// What no two places have in common.
  fileprivate var key: String {
    switch self {
    case .descriptor(let number): "\(number)"
    case .path(let variable), .value(let variable): variable
    }
  }
}

extension WantedValue {
  /// A name or a reference, as a person types it.
  fileprivate init(typed text: String, in origin: String) throws(CommandError) {
    guard !VaultReference.isMeant(by: text) else {
      self = .field(try VaultReference.read(text, in: origin))
      return
    }
    try Names.check(text, named: "the name in \(origin)")
    self = .secret(of: text)
  }
}

/// A value of the vault on its way to a program.
package struct HandedSecret: Sendable {
  package let secret: SharedSecret
  /// Whether it is concealed in the output of the program.
  package let isConcealed: Bool
}

/// The same in a file in memory.
struct HandedFile {
  let file: Int32
  let isConcealed: Bool
}
