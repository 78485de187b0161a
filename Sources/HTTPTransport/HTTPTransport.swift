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
  /// Answers the request on standard input, and ends the process: with 0, with 2 where there is no request to answer, or with 13
  /// where the answer cannot be written.
  package static func main() -> Never {
    ProcessHardening.apply()
    Environment.keepProxies()
    signal(SIGPIPE, SIG_IGN)
    let words = (1..<max(1, clinux_argument_count())).map { unsafe String(cString: clinux_argument($0)) }
    switch Arguments.parse(words) {
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
      return end(ofWriting: refusal.expose { SecretOutput.write($0, to: 1) })
    }
    return end(ofWriting: answer.expose { SecretOutput.write($0, to: 1) })
  }

  /// - Parameter number: 0, or the `errno` of the failure.
  /// - Returns: The exit code, after a line about the failure.
  private static func end(ofWriting number: Int32) -> Int32 {
    guard number != 0 else { return 0 }
    say("standard output cannot be written: \(unsafe String(cString: strerror(number)))")
    return 13
  }

  /// Writes a text that is not secret, and ends the process.
  private static func print(_ text: String) -> Never {
    _exit(end(ofWriting: SecretOutput.write(unsafe Array(text.utf8).span.bytes, to: 1)))
  }

  private static func leave(_ line: String) -> Never {
    say(line)
    // Skips what libraries have registered for the exit of the process.
    _exit(2)
  }

  private static func say(_ line: String) {
    let line = "vault-http: \(line)\n"
    _ = unsafe line.withCString { unsafe write(2, $0, strlen($0)) }
  }
}
