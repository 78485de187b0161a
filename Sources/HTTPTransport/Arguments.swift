/// What the command line says: nothing secret.
package struct Arguments: Equatable {
  /// The path of the configuration.
  package var configuration: String
  /// The descriptor with the key and the certificates of this client.
  package var clientCertificate: Int32?
  package var skipsHostCheck = false

  package enum Parsed: Equatable {
    case arguments(Arguments)
    case printMapping(String)
    /// Wrong usage, with one line that says why.
    case wrong(String)
  }

  /// - Parameter words: Those after the name of the program.
  package static func parse(_ words: [String]) -> Parsed {
    var rest = words[...]
    var paths: [String] = []
    var arguments = Arguments(configuration: "")
    while let word = rest.popFirst() {
      switch word {
      case "--no-host-check": arguments.skipsHostCheck = true
      case "--client-certificate-fd":
        guard let number = rest.popFirst().flatMap(descriptor) else {
          return .wrong("\(word) needs the number of a descriptor, 3 or more")
        }
        arguments.clientCertificate = number
      case "--print-mapping":
        guard words.count == 2, let name = rest.popFirst() else {
          return .wrong("\(word) needs the name of a mapping, and nothing else")
        }
        return .printMapping(name)
      case _ where word.hasPrefix("-"): return .wrong("unknown option")
      default: paths.append(word)
      }
    }
    guard paths.count == 1 else { return .wrong("name one configuration") }
    arguments.configuration = paths[0]
    return .arguments(arguments)
  }

  private static func descriptor(_ word: String) -> Int32? {
    guard let number = Int32(word), number >= 3, String(number) == word else { return nil }
    return number
  }

  static let usage =
    "usage: vault-http [--client-certificate-fd N] [--no-host-check] CONFIGURATION | --print-mapping NAME"
}
