public import VaultKit

/// The kinds of this library. Their rules hold in each program that links it, also in one that never calls a component: the
/// list is registered when the program is loaded (``KindRegistry``).
private func addKinds() {
  KindRegistry.add([
    .otp, .pin, .biokey, .cardToken, .consent, .clientRegistration, .transaction, .tokenSet, .responseJWT,
    .attachment,
  ])
}

@section(".init_array") @used
private let registration: @convention(c) () -> Void = { KindRegistry.register(addKinds) }

extension ItemKind {
  /// A file that belongs to another item. No component makes one yet.
  public static let attachment = ItemKind(rawValue: 25)
}

extension KindRules {
  fileprivate static let attachment = KindRules(
    .attachment, word: "attachment", secret: .component(name: "an attachment"))
}
