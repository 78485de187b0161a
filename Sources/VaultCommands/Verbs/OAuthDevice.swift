import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl oauth device NAME`.
enum OAuthDevice: VaultVerb {
  static let words = ["oauth", "device"]
  static let summary = "Get tokens to which a person agrees on another device (RFC 8628)."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let ownOptions: [any OptionKey] = [
    OAuthOptions.proofKey, OAuthOptions.scope, TransportOptions.program,
  ]
  static let channels = OAuthOptions.channels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  /// A person reads the code that this call prints.
  static let allowedInBatch = false
  static let notes = [
    "Needs --transport (2). For a machine without a browser. The address and the code are printed on standard error; the person opens the "
      + "address on any device, types the code, and agrees. With --json that line is an object with verificationURL, userCode, "
      + "verificationURLComplete (the address with the code in it, where the server gives one) and expires (Unix seconds).",
    "Meanwhile the server is asked as often as it wants to be asked. The command ends when the person has decided, with 7 when the server "
      + "stops waiting, or by Ctrl-C: nothing is stored then, and the tokens that the client has stay.",
    "A server that does not offer this is refused (15); so is one that began to offer it after the registration: register again.",
    OAuthWords.tokens, OAuthOptions.errorNote, OAuthOptions.transportNote,
  ]
  static let examples = [
    "vaultctl oauth device shop --dpop k1 --transport ~/as",
    "vaultctl oauth device shop --dpop k1 --transport ~/as --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let client = try command.registration()
    let transport = try command.neededTransport()
    let key = try command.clientKey(OAuthOptions.proofKey)
    let context = try command.vault.pinContext()
    let request = try command.vault.unlocking {
      try $0.beginDeviceAuthorization(
        for: client, boundTo: key, scope: command[OAuthOptions.scope], over: transport, context: context)
    }
    try show(request, command)
    let tokens = try command.vault.unlocking {
      try $0.finishDeviceAuthorization(request, over: transport, context: context)
    }
    return try command.outcome(tokens)
  }

  private static func show(_ request: DeviceAuthorization, _ command: Command) throws {
    guard command.isJSON else {
      command.messages.note("open \(printable(request.url)) and type \(printable(request.code))")
      if let url = request.completeURL {
        command.messages.note("or open \(printable(url)) and compare the code")
      }
      return
    }
    try JSON.object {
      Field("verificationURL", request.url)
      Field("userCode", request.code)
      Field("verificationURLComplete", request.completeURL)
      Field("expires", request.expires.seconds)
    }.write(to: command.messages.stream)
    try command.messages.stream.write("\n")
    try command.messages.stream.flush()
  }
}
