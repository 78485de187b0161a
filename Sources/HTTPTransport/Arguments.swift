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
    case help
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
      case "--help", "-h": return .help
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

  static let usage = "vault-http [--client-certificate-fd N] [--no-host-check] CONFIGURATION"

  /// The text of `--help`. `docs/man/vault-http.1` explains the same options.
  static let help = """
    Usage: \(usage)
           vault-http --print-mapping NAME

    Take one request of vaultctl to a server over HTTPS: the request comes on standard input, and one answer is written.
    vaultctl starts it where '--transport' names a configuration whose first line is '#!' and the path of vault-http.

    Arguments:
      CONFIGURATION              A file of JSON that says which server, whom to trust, and which path and fields each
                                 operation has. Root or you must own it, and only the owner can write to it.

    Options:
      --client-certificate-fd N  Read a key with its certificates as PEM from descriptor N, 3 or more: a sealed file in
                                 memory, as 'vaultctl exec --fd N=NAME' makes it.
      --no-host-check            Do not compare the name of the host with the certificate. Each host then needs a pin.
      --print-mapping NAME       Print a mapping that comes with the program, and end: \(ShippedMappings.names).
      -h, --help                 Print this, and end.

    Exit codes:
      0   an answer was written, which can be an error
      2   wrong usage, or standard input has no request
      13  standard output could not be written

    Example:
      vault-http ~/bank.json < request

    """
}
