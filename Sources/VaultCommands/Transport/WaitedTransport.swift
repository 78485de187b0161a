import AuthenticatorKit
import TransportPrograms
import VaultKit

/// The transport of a command. While the command waits for the server, a signal ends it, whatever it has committed before.
struct WaitedTransport: Transport {
  let program: TransportProgram
  let interruption: Interruption

  var identity: String { program.identity }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    interruption.yield()
    try interruption.check()
    return try program.send(request)
  }

  func cancel() { program.cancel() }
}
