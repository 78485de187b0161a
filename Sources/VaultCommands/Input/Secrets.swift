import Glibc
package import SecretMemory
import VaultKit
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
    let typed = try ask(
      channel.title, limit: SecretReading.longestPhrase, twice: isNew, insteadOf: alternatives(to: channel))
    return try SecretReading.checkPhrase(typed, named: channel.title)
  }

  /// As ``secret(_:isNew:)``, but the person may give an empty answer: `nil`.
  ///
  /// - Parameter what: What the prompt asks for.
  func answer(_ channel: SecretChannel, asking what: String) throws(CommandError) -> SecretBytes? {
    if let given = try given(channel) { return given }
    let typed = try ask(
      what, limit: SecretReading.longestPhrase, twice: false, insteadOf: alternatives(to: channel))
    return typed.byteCount == 0 ? nil : try SecretReading.checkPhrase(typed, named: channel.title)
  }

  /// What was given without a prompt, if anything.
  package func given(_ channel: SecretChannel) throws(CommandError) -> SecretBytes? {
    if let number = invocation.text(channel.descriptorOption), let descriptor = Int32(number) {
      return try SecretReading.phrase(from: descriptor, named: channel.title)
    }
    if let path = invocation.text(channel.fileOption) {
      return try SecretFile.read(path, of: channel)
    }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else {
      return nil
    }
    return try SecretFile.credential(folder + "/vaultctl.passcode", named: channel.title)
  }

  /// Whether ``secret(_:isNew:)`` would ask a person.
  func willAsk(_ channel: SecretChannel) -> Bool {
    if invocation.has(channel.descriptorOption) || invocation.has(channel.fileOption) { return false }
    guard channel == .passcode, let folder = world.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
    else { return true }
    // One that cannot be looked at is not asked for either: reading it says why.
    return (try? FilePlace.exists(folder + "/vaultctl.passcode")) == false
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
    return try ask(
      what, limit: Terminal.longestLine, twice: twice,
      insteadOf: "give it on standard input, through a pipe or a file")
  }

  private func ask(
    _ what: String, limit: Int, twice: Bool, insteadOf hint: String
  ) throws(CommandError) -> SecretBytes {
    guard invocation.mayPrompt else {
      throw CommandError(
        .interactionNotAllowed, "the \(what) is needed, and asking is switched off", hint: hint)
    }
    let first = try read(what, limit, hint)
    guard twice else { return first }
    let second = try read("\(what) again", limit, hint)
    guard first.isEqualInConstantTime(to: second) else {
      throw .malformed("the two entries of the \(what) differ", hint: "nothing was changed; try again")
    }
    return first
  }

  /// From the terminal, else from pinentry, as `--prompt` says.
  private func read(_ what: String, _ limit: Int, _ hint: String) throws(CommandError) -> SecretBytes {
    let chosen = invocation.text("prompt") ?? "auto"
    if chosen != "pinentry" {
      if let typed = try readTerminal(what, limit) { return typed }
      guard chosen == "auto" else { throw Self.nobody(what, "there is no terminal to ask on", hint) }
    }
    let found: Pinentry
    do throws(Pinentry.Absence) {
      found = try Pinentry.find(terminalPath: world.terminalPath) { world.environment[$0] }
    } catch {
      let why = VaultError(absence: error)
      throw chosen == "pinentry"
        ? Self.nobody(what, why.message, why.hint ?? hint)
        : Self.nobody(what, "there is no terminal to ask on", hint)
    }
    return try readPinentry(found, what)
  }

  /// nil where there is no terminal.
  private func readTerminal(_ what: String, _ limit: Int) throws(CommandError) -> SecretBytes? {
    do throws(TerminalError) {
      let terminal = try Terminal(path: world.terminalPath)
      return try terminal.readSecret("\(action): \(what): ", limit: limit)
    } catch {
      switch error {
      case .cancelled: throw CommandError(.cancelled, "cancelled at the prompt for the \(what)")
      case .timedOut: throw CommandError(.cancelled, "nobody answered the prompt for the \(what)")
      case .tooLong(let limit): throw SecretReading.tooLong(what, limit)
      case .noTerminal: return nil
      case .signalled(let signal): endBySignal(signal)
      }
    }
  }

  private func readPinentry(_ pinentry: Pinentry, _ what: String) throws(CommandError) -> SecretBytes {
    var request = PromptRequest(.passcode, operation: action)
    request.question = what
    do throws(VaultError) { return try PinentryPrompt(pinentry).readSecret(request) } catch {
      throw CommandError(error)
    }
  }

  private static func nobody(_ what: String, _ why: String, _ hint: String) -> CommandError {
    CommandError(.interactionNotAllowed, "the \(what) is needed, and \(why)", hint: hint)
  }

  /// What is about to happen, as the prompt shows it.
  private var action: String {
    let object = invocation.argument("NAME") ?? invocation.text("id") ?? invocation.text("account")
    return "vaultctl \(invocation.verb.name)" + (object.map { " '\($0)'" } ?? "")
  }

  private func alternatives(to channel: SecretChannel) -> String {
    "give --\(channel.descriptorOption) N or --\(channel.fileOption) PATH"
  }
}

extension Invocation {
  var mayPrompt: Bool { !has("no-input") && text("prompt") != "none" }
}

/// Ends the process as the signal would have without a prompt.
func endBySignal(_ number: Int32) -> Never {
  signal(number, SIG_DFL)
  _ = raise(number)
  exit(128 + number)
}
