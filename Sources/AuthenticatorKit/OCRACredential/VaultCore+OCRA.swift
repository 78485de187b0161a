import OneTimePassword
package import SecretMemory
package import VaultKit

/// Credentials with a suite on the synchronous core. ``OCRACredential`` offers the same on the actor.
extension VaultCore {
  /// Adds a credential.
  ///
  /// - Parameters:
  ///   - pin: The PIN item that guards the key; `nil` for the one of `new`.
  ///   - prepare: Changes the first state in the commit that adds the credential.
  package func addOCRA(
    _ new: NewOCRACredential, key: borrowing SecretBytes, pin: ItemID? = nil,
    context: AuthenticationContext? = nil,
    preparing prepare: (inout ItemState, inout WriteTransaction) throws(VaultError) -> Void = { _, _ in }
  ) throws(VaultError) -> OCRADescription {
    let (pin, role) = (pin ?? new.pin?.id, new.role)
    let limits = new.limits
    var new = try new.item(key: key)
    new.limit(to: limits, from: try start(of: limits))
    let (item, state) = try add(
      new, secret: key.copy(), behind: pin, role: role, context: context, preparing: prepare)
    return try OCRAItem(item).description(state)
  }

  /// A credential without its secret.
  package func describeOCRA(named name: String) throws(VaultError) -> OCRADescription {
    var transaction = try beginReading()
    return try transaction.describeOCRA(transaction.item(named: name))
  }

  /// A credential without its secret.
  package func describeOCRA(of id: ItemID) throws(VaultError) -> OCRADescription {
    var transaction = try beginReading()
    return try transaction.describeOCRA(transaction.item(id))
  }

  /// The credentials with suites that this version knows.
  package func listOCRA() throws(VaultError) -> [OCRADescription] {
    var transaction = try beginReading()
    var found: [OCRADescription] = []
    for item in try transaction.items(matching: Query(.otp))
    where item.hasSuite {
      do throws(VaultError) { found.append(try transaction.describeOCRA(item)) } catch {
        guard error.code == .unsupported else { throw error }
      }
    }
    return found
  }

  /// The code for a question. With a suite with a counter, the counter after it is on disk before this returns.
  ///
  /// - Parameter context: Who is asked where the credential has constraints.
  /// - Throws: As ``OCRACredential/sign(_:context:)``. After an error of the request, no counter is used.
  package func signOCRA(
    _ request: OCRARequest, with id: ItemID, by factors: PINFactors = [.current, .biometric],
    for purpose: CodePurpose = .offline, context: AuthenticationContext? = nil
  ) throws(VaultError) -> OCRAResult {
    func check(_ item: Item, _ look: inout ReadTransaction) throws(VaultError) -> Bool {
      _ = try look.signing(request, with: item, for: purpose)
      return true
    }
    return try usingCredential(
      id, by: factors, making: purpose, to: "sign", context: context, checking: check
    ) { (use, look) throws(VaultError) in
      var transaction = try continueReading(look)
      return try transaction.item(id).countsCodes
        ? try signCounted(request, with: id, for: purpose, using: use, in: transaction, context: context)
        : try signUncounted(request, with: id, for: purpose, using: use, in: transaction, context: context)
    }
  }

  private func signCounted(
    _ request: OCRARequest, with id: ItemID, for purpose: CodePurpose, using use: CredentialUse,
    in first: consuming ReadTransaction, context: AuthenticationContext?
  ) throws(VaultError) -> OCRAResult {
    var transaction = consume first
    var prepared = try transaction.prepareSecret(of: transaction.item(id), by: use.component)
    transaction.end()
    var change = try beginWriting(.secret(.use, of: id, by: use.component), context: context)
    let item = try OCRAItem(change.item(id, of: prepared))
    // The person may have taken long, so the time of the code is that of this transaction.
    let signing = try change.reading.signing(request, with: item.item, for: purpose)
    let counter: UInt64
    let notices: [OTPResult.Notice]
    var result: OCRAResult
    // The key is wiped at the end of this scope, and not after the commit.
    do {
      let key = try change.useSecret(of: item.item, by: use.component, prepared: prepared.take())
      counter = try change.takeCounter(of: item.item, for: purpose)
      notices = try use.writeFactor(in: &change)
      result = try signing.result(by: item, use, data: key, counter: counter)
    }
    try purpose.commit?(&change, CodeForPeer(code: result.code, counter: counter))
    try change.log(.codeGenerated, item: item.item)
    result.notices = notices
    try change.commit()
    return result
  }

  /// Stores nothing, so it works on a read-only vault; only the use of a PIN, or of a credential with constraints, is
  /// logged, and codes that are limited in number are counted.
  private func signUncounted(
    _ request: OCRARequest, with id: ItemID, for purpose: CodePurpose, using use: CredentialUse,
    in first: consuming ReadTransaction, context: AuthenticationContext?
  ) throws(VaultError) -> OCRAResult {
    var transaction = try beginReading(
      .secret(.use, of: id, by: use.component), from: first, context: context)
    let credential = try OCRAItem(transaction.item(id))
    // As above.
    let signing = try transaction.signing(request, with: credential.item, for: purpose)
    let notes: [AuditNote]
    var result: OCRAResult
    // The key is wiped at the end of this scope, and not after the commit.
    do {
      let opened = try transaction.useSecret(of: credential.item, by: use.component)
      notes = opened.notes
      result = try signing.result(by: credential, use, data: opened.secret, counter: nil)
    }
    let item = credential.item
    transaction.end()
    result.notices = try writeUncounted(result.code, of: item, for: purpose, using: use, noting: notes)
    return result
  }
}

/// A request that fits its suite, and the time step of its code.
private struct Signing {
  let request: OCRARequest
  let step: TimeStep?

  /// - Throws: ``VaultError/Code/malformed`` for a request that the suite does not allow.
  init(_ request: OCRARequest, suite: OCRASuite, unixTime: Int64) throws(VaultError) {
    self.request = request
    guard suite.timeStepSeconds != nil || request.unixTime == nil else {
      throw VaultError(otp: .unexpectedInput(.timeStep))
    }
    step = try otp { () throws(OTPError) in
      let step = suite.timeStepSeconds == nil ? nil : try suite.timeStep(at: unixTime)
      // The code is made where its counter is taken; whether it can be made is known before.
      try request.input(for: suite, counter: suite.hasCounter ? 0 : nil, timeStep: step?.number)
        .check(for: suite)
      return step
    }
  }

  /// - Parameter data: The secret of the item: the key, or the masked key.
  func result(
    by item: OCRAItem, _ use: CredentialUse, data: borrowing SecretBytes, counter: UInt64?
  ) throws(VaultError) -> OCRAResult {
    let generator = try use.withSecret(data, of: item.item) { (key) throws(VaultError) in
      try item.generator(key)
    }
    let code = try otp { () throws(OTPError) in
      try generator.code(for: request.input(for: item.suite, counter: counter, timeStep: step?.number))
    }
    return OCRAResult(
      name: item.item.name ?? "", code: code, counter: counter,
      validity: step.map { $0.validFrom..<$0.validTo })
  }
}

extension ReadTransaction {
  /// What a credential is to sign, if it can sign it now.
  fileprivate mutating func signing(
    _ request: OCRARequest, with item: Item, for purpose: CodePurpose
  ) throws(VaultError) -> Signing {
    let credential = try OCRAItem(item)
    try credential.refuse(unless: .prover)
    try refuseOutOfStep(item, for: purpose)
    let state = try state(of: item.id)
    if !credential.suite.hasCounter { try state.refuseUnlessActive() }
    let unixTime = request.unixTime ?? state.time(clock)
    return try Signing(request, suite: credential.suite, unixTime: unixTime)
  }

  fileprivate mutating func describeOCRA(_ item: Item) throws(VaultError) -> OCRADescription {
    try OCRAItem(item).description(state(of: item.id))
  }
}
