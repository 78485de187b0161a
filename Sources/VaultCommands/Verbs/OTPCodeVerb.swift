import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl otp code NAME`.
func runOTPCode(_ command: Command) throws -> Outcome {
  let item = try command.credential()
  let result =
    item.isCounterBased ? try counterCode(command, item) : try timedCode(command, item)
  guard command.invocation.has("copy") else { return Outcome(json: result.json, lines: [result.code]) }
  return try command.copy(
    SharedSecret(SecretBytes(copying: Array(result.code.utf8))), result.factsWithoutCode)
}

private func counterCode(_ command: Command, _ item: Item) throws -> OTPResult {
  for option in ["at", "next", "min-remaining"] where command.invocation.has(option) {
    throw CommandError.usage("--\(option) is for codes that follow the time, this one follows a counter")
  }
  return try command.vault.unlocking {
    try $0.nextHOTPCode(of: item.id, context: command.vault.context(for: item))
  }
}

private func timedCode(_ command: Command, _ item: Item) throws -> OTPResult {
  let invocation = command.invocation
  let least = Int64(invocation.number("min-remaining") ?? 0)
  guard least == 0 || !(invocation.has("at") || invocation.has("next")) else {
    throw CommandError.usage("--min-remaining stands without --at and --next")
  }
  guard least <= item.attributes[.otpPeriod] ?? 30 else {
    throw CommandError.usage("--min-remaining is longer than the period of the code")
  }
  func code() throws -> OTPResult {
    try command.vault.unlocking { core in
      try core.timedCode(
        of: item.id, at: invocation.instant("at"), stepsAhead: invocation.has("next") ? 1 : 0,
        context: command.vault.context(for: item))
    }
  }
  var result = try code()
  // A second time only where the clock was set back while we waited.
  for _ in 0..<3 {
    guard case .time(_, _, let remaining, _) = result.factor, remaining < least else { break }
    command.messages.note("waiting \(remaining) s for the next code")
    command.world.wait(UInt32(clamping: remaining))
    result = try code()
  }
  return result
}

extension OTPResult {
  /// What stays to be said when the code itself went to the clipboard.
  fileprivate var factsWithoutCode: [(String, JSON)] {
    guard case .object(let fields) = json else { return [] }
    return fields.filter { $0.name != "code" }.map { ($0.name, $0.value) }
  }

  fileprivate var json: JSON {
    var fields: [(String, JSON)] = [("name", .string(name))]
    switch factor {
    case .counter(let counter):
      fields += [("type", .string("hotp")), ("code", .string(code)), ("digits", .integer(Int64(digits)))]
      fields.append(("counter", .unsigned(counter)))
    case .time(let validFrom, let validTo, let remaining, let isSteam):
      fields += [("type", .string(isSteam ? "steam" : "totp")), ("code", .string(code))]
      fields += [("digits", .integer(Int64(digits))), ("validFrom", .integer(validFrom))]
      fields += [("validTo", .integer(validTo)), ("remaining", .integer(remaining))]
    }
    return .object(fields)
  }
}

extension Command {
  /// The credential that the command is about.
  func credential() throws -> Item { try vault.opened().read { try target(in: &$0, kind: .otp) } }
}

extension Item {
  /// Whether it is a HOTP credential.
  var isCounterBased: Bool { attributes[.otpType] == OTPDescription.Kind.hotp.rawValue }
}
