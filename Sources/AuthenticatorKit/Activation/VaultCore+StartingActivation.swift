package import SecretMemory
package import VaultKit

/// The first step of an activation.
extension VaultCore {
  /// Starts an activation: the peer accepts the first code, and its secret waits here for the second one.
  ///
  /// - Parameter code: The activation code, as the person typed it.
  package func startActivation(
    _ new: NewActivation, code: SharedSecret, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    try new.check()
    let code = try PeerCode.read(code)
    try environment.clock.refuseWithoutBoot()
    let place = try placeOfActivation(new.name)
    let device = DeviceID(try environment.random.newBytes(16))!
    let credential = ItemID(try environment.random.newBytes(16))!
    var item = new.item(in: place, of: credential, device: device, transport: transport)
    // What cannot be stored is refused before the code is used.
    try permitAdding(item, by: .otp, context: context)
    let answer = try exchange(.activationStart, new.fields(code, device), over: transport, context: context)
    let started = try StartedActivation(answer)
    item.describe(started)
    item.state.set(.started)
    item.state.deadline = try Deadline(seconds: started.seconds, clock: environment.clock)
    var transaction = try beginWriting(.add(item, by: .otp), context: context)
    guard try transaction.reading.placeOfActivation(new.name) == place else { throw .nameChanged }
    if let pending = place.pending { try transaction.destroy(pending) }
    let added = try transaction.add(item, secret: started.secret.bytes.copy(), by: .otp)
    try transaction.log(.activationStarted, item: added)
    try transaction.commit()
    return added
  }

  private func placeOfActivation(_ name: String) throws(VaultError) -> ActivationPlace {
    var transaction = try beginReading()
    return try transaction.placeOfActivation(name)
  }
}

/// What stands where an activated credential is to be.
struct ActivationPlace: Equatable {
  /// The credential that is replaced, because its server has disabled it.
  var disabled: ItemID?
  /// An activation that was started before and is replaced.
  var pending: ItemID?
}

extension ReadTransaction {
  /// - Throws: ``VaultError/Code/duplicateItem`` for anything that an activation does not replace.
  mutating func placeOfActivation(_ name: String) throws(VaultError) -> ActivationPlace {
    var place = ActivationPlace()
    var own: [ItemID] = []
    if let item = try find(name) {
      guard item.kind == .otp else { throw .sameName }
      switch try state(of: item.id).credentialState() {
      case .started: place.pending = item.id
      case .disabled:
        place.disabled = item.id
        place.pending = try activation(replacing: item.id)?.id
        own = [try deviceCredential(of: item)?.id].compactMap { $0 }
      default:
        throw VaultError(
          .duplicateItem, "there is a credential of that name, and its server has not disabled it",
          hint: "choose another name, or remove or disable the credential first")
      }
    }
    own += [place.pending].compactMap { $0 }
    try refuseTaken(NewActivation.deviceName(of: name), unless: own)
    if place.disabled != nil { try refuseTaken(NewActivation.replacementName(of: name), unless: own) }
    return place
  }

  /// - Throws: ``VaultError/Code/duplicateItem`` if another item has the name.
  mutating func refuseTaken(_ name: String, unless own: [ItemID]) throws(VaultError) {
    guard let item = try find(name), !own.contains(item.id) else { return }
    throw VaultError(
      .duplicateItem, "there is an item of the name '\(name)', which the activation needs",
      hint: "rename that item, or choose another name for the credential")
  }

  /// The item of a name; `nil` where there is none.
  private mutating func find(_ name: String) throws(VaultError) -> Item? {
    var attributes = Attributes()
    attributes[.name] = name
    return try items(matching: Query(where: attributes, limit: 1)).first
  }
}

extension NewActivation {
  fileprivate func fields(_ code: SharedSecret, _ device: DeviceID) -> TransportFields {
    var fields = TransportFields()
    fields["device"] = .text(device.hexadecimal)
    fields["codeBase64"] = .secret(TransportSecret(code))
    fields["service"] = service.map { .text($0) }
    fields["account"] = account.map { .text($0) }
    return fields
  }

  /// The activation under way. No policy guards its secret, which is no key of codes.
  ///
  /// - Parameter credential: The identifier that the credential will have, however often its last step is tried: one secret under
  ///   two of them would be masked twice, and the two masks tell the PIN.
  fileprivate func item(
    in place: ActivationPlace, of credential: ItemID, device: DeviceID, transport: any Transport
  ) -> NewItem {
    var attributes = Attributes()
    attributes[.otpType] = Activation.type
    attributes[.transport] = transport.identity
    attributes[.device] = device.bytes
    attributes[.activated] = credential.bytes
    if let service { attributes[.service] = service }
    if let account { attributes[.account] = account }
    if let disabled = place.disabled { attributes[.credential] = disabled.bytes }
    let name = place.disabled == nil ? name : Self.replacementName(of: name)
    return NewItem(.otp, name: name, attributes: attributes, access: access)
  }
}

extension NewItem {
  fileprivate mutating func describe(_ started: StartedActivation) {
    attributes[.peer] = started.peer
    attributes[.peerPINMode] = Int64(started.mode.rawValue)
    if started.keepsUnlockKey { attributes[.keepsUnlockKey] = true }
    for (attribute, value) in [
      (Attribute<String>.service, started.service), (.account, started.account), (.issuer, started.issuer),
    ] {
      if let value { attributes[attribute] = value }
    }
  }
}

extension VaultError {
  static var nameChanged: VaultError {
    VaultError(
      .busy, "another process has changed what has the name of the credential", hint: "look, and try again")
  }
}
