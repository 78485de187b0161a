import CommandLineKit
import TextFormats
import VaultPrompts

/// `vaultctl batch`: a result for each line as soon as it is done.
func runBatch(_ command: Command) throws -> Outcome {
  let reader = BatchReader(descriptor: command.world.standardInput)
  var failure: CommandError?
  while true {
    let answer: BatchAnswer
    do {
      guard let line = try reader.next() else { break }
      answer = try run(line, for: command)
    } catch {
      answer = BatchAnswer(outcome: nil, failure: CommandError(describing: error), isUnread: true)
    }
    try command.emit(Outcome(json: answer.json, pieces: [.json(answer.json)]))
    if let error = answer.failure {
      if failure == nil { failure = error }
      guard command.invocation.has("keep-going") else { break }
      if error.exit == .io, answer.isUnread { break }
      if answer.isUnread { try reader.skipLine() }
    }
  }
  return Outcome(json: nil, failure: failure)
}

private struct BatchAnswer {
  let outcome: Outcome?
  let failure: CommandError?
  /// The line was malformed and its rest is still to be read.
  var isUnread = false

  var json: JSON {
    var fields: [(String, JSON)] = [("exit", .integer(Int64((failure?.exit ?? .done).rawValue)))]
    if let result = outcome?.json { fields.append(("result", result)) }
    let answer = JSON.object(fields)
    guard case .object(let error)? = failure?.json else { return answer }
    return answer.adding { error }
  }
}

/// Runs one line. Its errors are answers; only what concerns the whole batch is thrown.
private func run(_ line: BatchLine, for command: Command) throws -> BatchAnswer {
  do {
    let outcome = try outcome(of: line, for: command)
    return BatchAnswer(outcome: outcome, failure: outcome.failure)
  } catch {
    return BatchAnswer(outcome: nil, failure: CommandError(describing: error))
  }
}

private func outcome(of line: BatchLine, for command: Command) throws -> Outcome {
  guard case .run(let invocation) = try Parser.parse(line.words) else {
    throw CommandError.usage("help is not given in a batch", hint: "run the command with --help by itself")
  }
  try check(invocation, line)
  var world = command.world
  world.batchInput = BatchInput(secret: line.input)
  let inner = Command(
    invocation: invocation, world: world, messages: command.messages.asJSON,
    vault: command.vault, emit: command.emit)
  return try holdingEndingSignal { try invocation.verb.run(inner) }
}

/// The vault, its passcode and the prompt belong to the whole batch, not to a line.
private func check(_ invocation: Invocation, _ line: BatchLine) throws {
  guard invocation.verb.allowedInBatch else {
    throw CommandError.usage(
      "'vaultctl \(invocation.verb.name)' does not run in a batch", hint: "run it by itself")
  }
  let channels = invocation.verb.allChannels.flatMap { [$0.descriptorOption, $0.fileOption] }
  for option in ["vault", "device-key", "prompt", "no-input", "follow", "copy"] + channels
  where invocation.has(option) {
    throw CommandError.usage(
      ["follow", "copy"].contains(option)
        ? "--\(option) is for a person and does not stand in a batch"
        : "--\(option) stands on the line of 'vaultctl batch', not in it")
  }
  guard line.input == nil || invocation.verb.readsStandardInput else {
    throw CommandError.malformed("'vaultctl \(invocation.verb.name)' reads no standard input")
  }
}
