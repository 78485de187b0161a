import Glibc
package import SecretMemory
import VaultPrompts

/// Where a command's secrets come from: an option, a systemd credential, or a prompt.
package struct Secrets {
  let invocation: Invocation
  let world: World

  /// The secret of one channel.
  ///
  /// - Parameter isNew: It is being set, so a prompt asks for it twice.
  /// - Throws: exit 6 when it would have to be asked for and may not, 5 when the person declines, 12 when
  ///   it is malformed, 13 when its file is not private.
  package func secret(_ channel: SecretChannel, isNew: Bool = false) throws(CommandError) -> SecretBytes {
    if let given = try given(channel) { return given }
    let terminal = try openTerminal(for: channel.title, insteadOf: alternatives(to: channel))
    let typed = try ask(terminal, channel.title, limit: SecretReading.longestPhrase, twice: isNew)
    return try SecretReading.checkPhrase(typed, named: channel.title)
  }

  /// What was given without a prompt, if anything.
  package func given(_ channel: SecretChannel) throws(CommandError) -> SecretBytes? {
    if let number = invocation.text(channel.descriptorOption), let descriptor = Int32(number) {
      return try SecretReading.phrase(from: descriptor, named: channel.title)
    }
    if let path = invocation.text(channel.fileOption) {
      return try SecretFile.read(path, named: channel.title)
    }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else {
      return nil
    }
    return try SecretFile.credential(folder + "/vaultctl.passcode", named: channel.title)
  }

  /// Whether ``secret(_:isNew:)`` would ask a person.
  func willAsk(_ channel: SecretChannel) -> Bool {
    !invocation.has(channel.descriptorOption) && !invocation.has(channel.fileOption)
      && (channel != .passcode || world.environment["CREDENTIALS_DIRECTORY"] == nil)
  }

  /// Data from standard input, byte for byte; on a terminal it is asked for without echo.
  package func data(_ what: String, limit: Int = SecretReading.longestSecret) throws(CommandError)
    -> SecretBytes
  {
    if let typed = try typedInput(what, twice: true) { return typed }
    return try SecretReading.all(of: world.standardInput, limit: limit, named: what)
  }

  /// A line from standard input, one newline dropped.
  package func line(_ what: String, twice: Bool) throws(CommandError) -> SecretBytes {
    if let typed = try typedInput(what, twice: twice) { return SecretReading.droppingNewline(typed) }
    let bytes = try SecretReading.all(
      of: world.standardInput, limit: SecretReading.longestSecret, named: what)
    return SecretReading.droppingNewline(bytes)
  }
}

extension Secrets {
  /// What a batch handed over, or what a person types; nil when standard input is neither.
  private func typedInput(_ what: String, twice: Bool) throws(CommandError) -> SecretBytes? {
    if let batch = world.batchInput {
      guard let box = batch.secret else {
        throw .malformed("\"stdin\" or \"stdinBase64\" is missing: the \(what)")
      }
      return box.expose { SecretBytes(copying: $0) }
    }
    guard isatty(world.standardInput) == 1 else { return nil }
    let terminal = try openTerminal(
      for: what, insteadOf: "give it on standard input, through a pipe or a file")
    return try ask(terminal, what, limit: Terminal.longestLine, twice: twice)
  }

  private func ask(
    _ terminal: borrowing Terminal, _ what: String, limit: Int, twice: Bool
  ) throws(CommandError) -> SecretBytes {
    let first = try read(terminal, what, limit)
    guard twice else { return first }
    let second = try read(terminal, "\(what) again", limit)
    guard first.isEqualInConstantTime(to: second) else {
      throw .malformed("the two entries of the \(what) differ", hint: "nothing was changed; try again")
    }
    return first
  }

  private func read(
    _ terminal: borrowing Terminal, _ what: String, _ limit: Int
  ) throws(CommandError) -> SecretBytes {
    do throws(TerminalError) {
      return try terminal.readSecret("\(action): \(what): ", limit: limit)
    } catch {
      switch error {
      case .cancelled: throw CommandError(.cancelled, "cancelled at the prompt for the \(what)")
      case .tooLong(let limit): throw SecretReading.tooLong(what, limit)
      case .noTerminal(let code): throw .io("asking on the terminal", errno: code)
      case .signalled(let signal): endBySignal(signal)
      }
    }
  }

  /// What is about to happen, as the prompt shows it.
  private var action: String {
    let object = invocation.argument("NAME") ?? invocation.text("id") ?? invocation.text("account")
    return "vaultctl \(invocation.verb.name)" + (object.map { " '\($0)'" } ?? "")
  }

  private func openTerminal(for what: String, insteadOf hint: String) throws(CommandError) -> Terminal {
    guard invocation.mayPrompt else {
      throw CommandError(
        .interactionNotAllowed, "the \(what) is needed, and asking is switched off", hint: hint)
    }
    do throws(TerminalError) {
      return try Terminal(path: world.terminalPath)
    } catch {
      throw CommandError(
        .interactionNotAllowed, "the \(what) is needed, and there is no terminal to ask on", hint: hint)
    }
  }

  private func alternatives(to channel: SecretChannel) -> String {
    "give --\(channel.descriptorOption) N or --\(channel.fileOption) PATH"
  }
}

extension Invocation {
  var mayPrompt: Bool { !has("no-input") && text("prompt") != "none" }
}

/// Ends the process as the signal would have without a prompt.
private func endBySignal(_ number: Int32) -> Never {
  signal(number, SIG_DFL)
  _ = raise(number)
  exit(128 + number)
}
