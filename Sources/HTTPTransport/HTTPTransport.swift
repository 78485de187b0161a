import CLinux
import Glibc
import SecretMemory
import TextFormats

/// `vault-http`: the transport that takes a request to a server over HTTPS.
///
/// `docs/guides/http.md` is the specification, and `docs/guides/transport.md` that of requests and answers. One process
/// answers one request and ends. This is the front page; read in this order:
///
/// - ``Configuration`` says which server and whom to trust; ``Mapping`` which path and fields an operation has.
/// - ``TransportMessage`` is the request of `vaultctl`. ``OutgoingRequest`` makes a request of HTTP of it, by the mapping.
/// - ``Connection`` sends it with libcurl, under the limits, pins and anchors of the configuration.
/// - ``ReplyReader`` takes what the mapping names from the reply, and makes the answer or a ``Refusal``.
///
/// Secrets are in `SecretBytes` on the whole way; libcurl's copies are wiped when it frees them.
package enum HTTPTransport {
  /// Answers the request on standard input, and ends the process: with 0, or with 2 where there is no request to answer.
  package static func main() -> Never {
    ProcessHardening.apply()
    Environment.keepProxies()
    signal(SIGPIPE, SIG_IGN)
    let words = CommandLine.arguments
    switch Arguments.parse(Array(words.dropFirst())) {
    case .wrong(let why): leave("\(why)\nusage: \(Arguments.usage); --help explains it")
    case .help: print(Arguments.help)
    case .printMapping(let name):
      guard let text = ShippedMappings.text(of: name) else {
        leave("there is no mapping of that name; there are \(ShippedMappings.names)")
      }
      print(text)
    case .arguments(let arguments): _exit(answer(arguments))
    }
  }

  /// - Returns: The exit code. What was secret is wiped then.
  private static func answer(_ arguments: Arguments) -> Int32 {
    let message: TransportMessage
    do throws(TextError) { message = try TransportMessage(descriptor: 0) } catch {
      leave("standard input has no request: \(error.words)")
    }
    let answer = SecretText()
    do throws(Refusal) { try Exchange(arguments).answer(message, into: answer) } catch {
      let refusal = SecretText()
      error.answer(to: message.id).write(to: refusal)
      refusal.write("\n")
      return refusal.expose { SecretOutput.write($0, to: 1) } == 0 ? 0 : 2
    }
    return answer.expose { SecretOutput.write($0, to: 1) } == 0 ? 0 : 2
  }

  /// Writes a text that is not secret, and ends the process.
  private static func print(_ text: String) -> Never {
    _exit(SecretOutput.write(unsafe Array(text.utf8).span.bytes, to: 1) == 0 ? 0 : 2)
  }

  private static func leave(_ line: String) -> Never {
    let line = "vault-http: \(line)\n"
    _ = unsafe line.withCString { unsafe write(2, $0, strlen($0)) }
    // Skips what libraries have registered for the exit of the process.
    _exit(2)
  }
}
