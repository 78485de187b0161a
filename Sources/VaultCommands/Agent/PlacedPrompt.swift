import AgentMessages
import SecretMemory
import TextPreparation
import VaultKit
import VaultPrompts

/// A prompt that is shown where the setting of the agent says. Wherever that is, it names the program that asks.
struct PlacedPrompt: HostPrompt {
  let places: any PromptPlaces
  /// The prompt in the process of the command.
  let remote: RemotePrompt

  private var link: ClientLink { remote.link }

  init(places: any PromptPlaces, remote: RemotePrompt) { (self.places, self.remote) = (places, remote) }

  /// The prompt of what asks by itself as well, whatever `--prompt` says.
  init(places: any PromptPlaces, link: ClientLink) {
    self.init(places: places, remote: RemotePrompt(link: link, way: .automatic))
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    do throws(PromptFailure) {
      return try type(request, limit: TypedSecret.longest, isRepeated: false)
    } catch { throw VaultError(failure: error) }
  }

  func type(
    _ request: PromptRequest, limit: Int, isRepeated: Bool
  ) throws(PromptFailure) -> SecretBytes {
    do throws(VaultError) { try places.beginPrompt() } catch { throw .pinentry(error) }
    defer { places.endPrompt() }
    switch places.place {
    case .client, .finger:
      return try remote.type(places.named(request), limit: limit, isRepeated: isRepeated)
    case .nowhere(let why): throw .pinentry(why)
    case .here(let place):
      do throws(VaultError) { try check(place) } catch { throw .pinentry(error) }
      if !isRepeated { tellWhere(place, request) }
      var isAnswered = false
      defer { link.asked(noting: place.host.cuts, isAnswered: isAnswered) }
      let answer: SecretBytes
      do throws(PromptFailure) {
        answer = try link.sayingWhyTypingEnded { () throws(PromptFailure) in
          try link.asking(places.named(request), ended: .pinentry(link.unaskedPrompt)) {
            request throws(PromptFailure) in
            try place.prompt.type(request, limit: limit, isRepeated: isRepeated)
          }
        }
      } catch { throw place.named(error) }
      isAnswered = true
      do throws(VaultError) { try requirePlace() } catch { throw .pinentry(error) }
      return answer
    }
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    try places.beginPrompt()
    defer { places.endPrompt() }
    switch places.place {
    case .client: return try remote.confirm(places.named(request))
    case .nowhere(let why): throw why
    case .here(let place):
      return try ask(request, at: place, place.prompt.confirm)
    case .finger(let place): return try confirm(request, by: place.host.biometry)
    }
  }

  /// A finger is the yes: an answer of the process of the command is its word. It shows a text, which no reader does, and can only say no.
  private func confirm(
    _ request: PromptRequest, by reader: any BiometrySource
  ) throws(VaultError) -> Bool {
    if request.text != nil {
      guard try remote.confirm(places.named(request)) else { return false }
    }
    _ = try link.askingHere(places.named(request)) { request throws(VaultError) in
      try reader.verify(request) { remote.show($0, for: request) }
    }
    return true
  }

  private func ask<Answer>(
    _ request: PromptRequest, at place: PlaceHere, _ body: (PromptRequest) throws(VaultError) -> Answer
  ) throws(VaultError) -> Answer {
    try check(place)
    tellWhere(place, request)
    var isAnswered = false
    defer { link.asked(noting: place.host.cuts, isAnswered: isAnswered) }
    let answer = try link.askingHere(places.named(request), body)
    isAnswered = true
    try requirePlace()
    return answer
  }

  /// - Throws: If the place is gone: who has it by now may have answered.
  private func requirePlace() throws(VaultError) {
    if case .nowhere(let why) = places.place { throw why }
  }

  func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer {
    try places.beginPrompt()
    defer { places.endPrompt() }
    switch places.place {
    case .client: return try remote.allow(places.named(request))
    case .here(let place):
      return try ask(request, at: place, place.prompt.allow)
    // Such a place has no question with more than two answers.
    default: return .once
    }
  }

  /// Has the person start what verifies them, where it may show nothing of the request: a module of PAM that asks nothing, or a reader.
  ///
  /// - Throws: ``VaultError/Code/cancelled`` if they do not.
  func start(_ name: String, for request: PromptRequest) throws(VaultError) {
    guard places.startsByHand else { return }
    var request = request
    // They are about the verification.
    (request.text, request.triesLeft, request.emptyAnswer, request.alternatives) = (nil, nil, nil, [])
    request.question = "Enter starts \(name), Ctrl-D declines"
    for _ in 0..<3 {
      if try readSecret(request).byteCount == 0 { return }
      request.problem = "that was not used: press Enter alone"
    }
    throw VaultError(.cancelled, "cancelled at the prompt")
  }

  func show(_ line: String, for request: PromptRequest) {
    switch places.place {
    case .client, .finger: remote.show(line, for: request)
    case .nowhere: break
    case .here(let place): place.prompt.show(line, for: request)
    }
  }

  func cancel() { link.cancelOpen() }

  /// Says on the terminal of the command, where there is one, where the prompt is.
  private func tellWhere(_ place: PlaceHere, _ request: PromptRequest) {
    if !place.isOfCommand { remote.show("vaultctl: the agent asks through \(place.name)", for: request) }
  }

  /// - Throws: If `--prompt` of the command names another way than the agent has.
  private func check(_ place: PlaceHere) throws(VaultError) {
    guard remote.way == .automatic || remote.way == place.way else {
      throw VaultError(
        .interactionNotAllowed, "the agent asks through \(place.name), and not as --prompt says",
        hint: "leave --prompt out; 'vaultctl agent status' shows who asks")
    }
  }
}

/// PAM in the process that shows the prompts.
struct PlacedPresence: PresenceSource {
  let places: any PromptPlaces
  let remote: RemotePresence

  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    switch places.presencePlace {
    case .client: try remote.verifyPresence(places.named(request), asking: prompt)
    case .nowhere(let why): throw why
    case .here(let place), .finger(let place):
      try PlacedPrompt(places: places, link: remote.link).start("the login", for: request)
      try remote.link.askingHere(places.named(request)) { request throws(VaultError) in
        try place.host.presence.verifyPresence(request, asking: prompt)
      }
      if case .nowhere(let why) = places.presencePlace { throw why }
    }
  }

  func cancel() { remote.cancel() }
}

/// The fingerprint reader of the process that shows the prompts.
struct PlacedReader: BiometrySource {
  let places: any PromptPlaces
  let remote: RemoteReader

  func enrolledFingers() throws(VaultError) -> [String] {
    switch places.readerPlace {
    case .client: try remote.enrolledFingers()
    case .nowhere(let why): throw why
    case .here(let place), .finger(let place): try place.host.biometry.enrolledFingers()
    }
  }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String? {
    switch places.readerPlace {
    case .client: return try remote.verify(places.named(request), showing: progress)
    case .nowhere(let why): throw why
    case .here(let place), .finger(let place):
      let prompt = PlacedPrompt(places: places, link: remote.link)
      try prompt.start("the fingerprint reader", for: request)
      let finger = try remote.link.askingHere(places.named(request)) { request throws(VaultError) in
        try place.host.biometry.verify(request) { prompt.show($0, for: request) }
      }
      if case .nowhere(let why) = places.readerPlace { throw why }
      return finger
    }
  }

  func cancel() { remote.cancel() }
}

extension PromptPlaces {
  /// The request with the program that asks. The person may not see the terminal where it was started, and a vault that is unlocked for
  /// all commands is asked for by some that the person did not start.
  fileprivate func named(_ request: PromptRequest) -> PromptRequest {
    var request = request
    request.requester = requester
    return request
  }
}

extension PlaceHere {
  /// The failure of a prompt, which names this place where no prompt can be shown on it.
  fileprivate func named(_ failure: PromptFailure) -> PromptFailure {
    guard case .terminal(let error) = failure, let obstacle = error.obstacle else { return failure }
    return .pinentry(
      VaultError(
        .interactionNotAllowed, "the agent asks on \(name), where \(obstacle)",
        hint: "end the program there, or change who is asked: vaultctl agent start --ask"))
  }
}

extension ClientLink {
  /// Runs `body`, which asks a person in this process.
  fileprivate func askingHere<R: ~Copyable>(
    _ request: PromptRequest, _ body: (PromptRequest) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try sayingWhyEnded { () throws(VaultError) in
      try asking(request, ended: unaskedPrompt, body)
    }
  }
}
