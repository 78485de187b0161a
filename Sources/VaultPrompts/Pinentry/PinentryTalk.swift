import Glibc
import VaultKit

/// One conversation with a pinentry: options, texts, one question.
struct PinentryTalk: ~Copyable {
  private var channel: AssuanChannel
  private let turn: PinentryTurn
  private let patience: Patience
  /// Until then, pinentry itself must have answered. The person has a separate limit.
  private var setUp: Deadline

  init(
    _ channel: consuming AssuanChannel, turn: PinentryTurn, patience: Patience, silence: Patience
  ) {
    self.channel = channel
    self.turn = turn
    self.patience = patience
    setUp = Deadline(after: silence)
  }

  /// Reads the greeting, and says where pinentry may ask. Pinentry may refuse options that it does not know.
  mutating func begin(_ pinentry: Pinentry) throws(VaultError) {
    try expectOK()
    var options = [
      "lc-ctype=\(locale(of: pinentry, named: "LC_CTYPE"))",
      "lc-messages=\(locale(of: pinentry, named: "LC_MESSAGES"))",
    ]
    if let terminal = pinentry.terminal {
      options.append("ttyname=\(terminal)")
      options.append("ttytype=\(variable(of: pinentry, named: "TERM") ?? "dumb")")
    }
    for option in options where option.utf8.count < 300 { _ = try command("OPTION", text: option) }
    _ = try command("SETTIMEOUT", text: String(max(1, patience.duration.components.seconds)))
  }

  /// Shows what is asked for, with the text of the request: in the description of the question if it fits, otherwise in
  /// pages before that, each with the button that goes on to the next.
  mutating func describe(_ request: PromptRequest) throws(VaultError) {
    try require("SETTITLE", text: "Vault")
    let shown = request.text.map(TextPages.pinentry)?.pages ?? []
    if shown.count > 1 { try show(shown) }
    let text = Self.fitting(request)
    try require("SETDESC", text: Self.description(text, shown))
    try require("SETPROMPT", text: text.question + ":")
    if let problem = text.problem { try require("SETERROR", text: problem) }
  }

  /// Asks the question.
  mutating func ask(
    _ question: String, data: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) {
    try channel.send(question, until: setUp)
    let answer = try final(
      until: Deadline(after: patience.duration + .seconds(2), by: patience.now), isPerson: true, data)
    if let answer { throw Self.error(answer) }
  }

  /// Ends the conversation. It does not matter whether pinentry reads this.
  func end() { try? channel.send("BYE", until: Deadline(after: .milliseconds(100))) }

  /// GPG_ERR_NOT_CONFIRMED.
  static let notConfirmed: Int32 = 114
}

extension PinentryTalk {
  private mutating func show(_ pages: [[String]]) throws(VaultError) {
    try require("SETOK", text: "Next")
    for (number, page) in pages.enumerated() {
      let title = "The vault shows a text, page \(number + 1) of \(pages.count):"
      try require("SETDESC", text: ([title] + page).joined(separator: "\n"))
      try ask("CONFIRM") { _ throws(VaultError) in throw .pinentryNonsense("unexpected data") }
    }
    try require("SETOK", text: "OK")
  }

  private mutating func expectOK() throws(VaultError) {
    guard try final(until: setUp, isPerson: false, Self.noData) == nil else {
      throw .pinentryNonsense("an error before anything was asked")
    }
  }

  private mutating func require(_ command: String, text: String) throws(VaultError) {
    if let number = try self.command(command, text: text) { throw Self.error(number) }
  }

  private mutating func command(_ command: String, text: String) throws(VaultError) -> UInt32? {
    try channel.send(command, text: text, until: setUp)
    return try final(until: setUp, isPerson: false, Self.noData)
  }

  /// Reads up to the line that ends a command: nil for OK, else the number of the error.
  private mutating func final(
    until deadline: Deadline, isPerson: Bool, _ data: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) -> UInt32? {
    let turn = turn
    for _ in 0..<Self.mostLines {
      let answer = try channel.answer(
        waiting: { descriptor throws(VaultError) in
          try Self.wait(for: descriptor, until: deadline, isPerson: isPerson, turn)
        }, data: data)
      switch answer {
      case .ok: return nil
      case .error(let number): return number
      // Such as the quality bar of a passphrase: this client has no answer.
      case .inquiry: try channel.send("CAN", until: Deadline(after: .seconds(1)))
      case .data, .other: if deadline.hasPassed { throw .pinentrySilent }
      }
    }
    throw .pinentryNonsense("endless lines")
  }

  private static func wait(
    for descriptor: Int32, until deadline: Deadline, isPerson: Bool, _ turn: PinentryTurn
  ) throws(VaultError) {
    do throws(TerminalError) {
      try turn.wait(for: descriptor, until: deadline)
    } catch .timedOut where !isPerson {
      throw .pinentrySilent
    } catch { throw VaultError(prompt: error) }
  }

  private static func noData(_ data: RawSpan) throws(VaultError) {
    throw .pinentryNonsense("unexpected data")
  }

  /// The lower 16 bits are the code; the upper ones name the source.
  private static func error(_ number: UInt32) -> VaultError {
    let code = Int32(number & 0xFFFF)
    return switch code {
    case 99, 198: VaultError(.cancelled, "cancelled at the prompt", underlying: code)
    case notConfirmed: VaultError(.cancelled, "not confirmed at the prompt", underlying: code)
    case 62: VaultError(.timedOut, "the prompt timed out", underlying: code)
    default:
      VaultError(
        .interactionNotAllowed, "pinentry cannot ask here (gpg error \(number))",
        hint: "start it on a terminal or in a desktop session", underlying: code)
    }
  }

  /// The text, with each field cut until everything fits into one line of the protocol.
  private static func fitting(_ request: PromptRequest) -> PromptText {
    for limit in [300, 150, 75, 40] {
      let text = PromptText(request, longestField: limit)
      let parts = [description(text, []), text.question, text.problem ?? ""]
      let most = request.text == nil ? 900 : 900 - TextPages.mostWithQuestion
      if parts.allSatisfy({ AssuanChannel.escaped($0).utf8.count < most }) { return text }
    }
    return PromptText(request, longestField: 20)
  }

  /// The first line is fixed text: if it began with a tag, Qt would take the whole for rich text, which can hide
  /// much.
  ///
  /// - Parameter shown: The pages of the text. A single one is part of the description.
  private static func description(_ text: PromptText, _ shown: [[String]]) -> String {
    let lines = shown.count == 1 ? shown[0] : shown.isEmpty ? [] : ["  for the text of \(shown.count) pages"]
    return (["The vault asks for: \(text.question)"] + text.facts + lines).joined(separator: "\n")
  }

  private func locale(of pinentry: Pinentry, named name: String) -> String {
    variable(of: pinentry, named: "LC_ALL") ?? variable(of: pinentry, named: name) ?? variable(
      of: pinentry, named: "LANG") ?? "C.UTF-8"
  }

  private func variable(of pinentry: Pinentry, named name: String) -> String? {
    let value = pinentry.environment.first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1)
    return value.flatMap { $0.isEmpty ? nil : PromptText.visible(String($0)) }
  }

  private static let mostLines = 10_000
}
