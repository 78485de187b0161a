import Glibc
import TextFormats

/// One request and its answer.
struct Exchange {
  private let configuration: Configuration

  init(_ arguments: Arguments) throws(Refusal) {
    configuration = try Refusal.unsent { () throws(Refusal) in try Configuration(arguments) }
  }

  func answer(_ message: TransportMessage, into output: SecretText) throws(Refusal) {
    let deadline = ContinuousClock.now + configuration.limit
    let (operation, request) = try Refusal.unsent { () throws(Refusal) in
      guard let operation = configuration.mapping.operations[message.operation] else {
        throw .other("the mapping has no operation '\(message.operation)'")
      }
      return (operation, try OutgoingRequest(message, by: operation, configuration))
    }
    let connection = try Refusal.unsent { () throws(Refusal) in try Connection(configuration) }
    let reply = try send(request, over: connection, until: deadline)
    try ReplyReader(operation, message).answer(from: reply, into: output)
  }

  /// Sends it again where that changes nothing, and the server could not be asked.
  private func send(
    _ request: OutgoingRequest, over connection: borrowing Connection, until deadline: ContinuousClock.Instant
  ) throws(Refusal) -> Reply {
    var pauses = request.mayRepeat ? Self.pauses : []
    var isUnsent = true
    while true {
      let result: Result<Reply, Connection.Failure>
      do throws(Connection.Failure) {
        result = .success(try connection.send(request, until: deadline))
      } catch { result = .failure(error) }
      let mayRepeat: Bool
      switch result {
      case .success(let reply): (mayRepeat, isUnsent) = ([502, 503, 504].contains(reply.status), false)
      case .failure(let failure):
        (mayRepeat, isUnsent) = (failure.isOfTheConnection, isUnsent && failure.isUnsent)
      }
      if mayRepeat, let pause = pauses.first, ContinuousClock.now + .microseconds(pause) < deadline {
        pauses.removeFirst()
        usleep(pause)
        continue
      }
      do throws(Connection.Failure) { return try result.get() } catch {
        var refusal = error.refusal
        refusal.isUnsent = isUnsent
        throw refusal
      }
    }
  }

  /// Microseconds.
  private static let pauses: [UInt32] = [250_000, 1_000_000]
}
