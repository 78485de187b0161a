package import OneTimePassword
package import SecretMemory
package import VaultKit

/// One-time passwords on the synchronous core. ``OTPCredential`` offers the same on the actor.
extension VaultCore {
  /// Adds a credential.
  ///
  /// - Parameters:
  ///   - window: Counters, or steps to either side, that a verifier tries; `nil` for 10 and 1.
  ///   - pin: The PIN item that guards the key; `nil` for none.
  ///   - limits: How far a prover goes without a synchronization.
  ///   - prepare: Changes the first state in the commit that adds the credential.
  package func addOTP(
    _ uri: borrowing OTPAuthURI, named name: String, role: OTPRole = .prover, window: UInt64? = nil,
    access: AccessControl = AccessControl(), audit: AuditPolicy = .changes, pin: ItemID? = nil,
    limits: OfflineLimits = OfflineLimits(), context: AuthenticationContext? = nil,
    preparing prepare: (inout ItemState, inout WriteTransaction) throws(VaultError) -> Void = { _, _ in }
  ) throws(VaultError) -> OTPDescription {
    try limits.check(role)
    var new = NewItem(
      .otp, name: name, attributes: try OTPItem.attributes(of: uri, role: role, window: window),
      access: access,
      audit: audit)
    new.joinsEntry = true
    new.limit(to: limits, from: try start(of: limits))
    if case .hotp(let counter) = uri.kind { new.state.counter = counter }
    let (item, state) = try add(
      new, secret: uri.secret.copy(), behind: pin, role: role, context: context, preparing: prepare)
    return try OTPItem(item).description(state)
  }

  /// Adds a credential, behind a PIN item where there is one.
  ///
  /// - Returns: The item, and its state as it was stored.
  func add(
    _ new: NewItem, secret: consuming SecretBytes, behind pin: ItemID?, role: OTPRole,
    context: AuthenticationContext?,
    preparing prepare: (inout ItemState, inout WriteTransaction) throws(VaultError) -> Void
  ) throws(VaultError) -> (item: Item, state: ItemState) {
    var state = new.state
    func prepareItem(_ new: inout NewItem, in transaction: inout WriteTransaction) throws(VaultError) {
      try prepare(&new.state, &transaction)
      state = new.state
    }
    let item =
      if let pin {
        try add(new, secret: secret, behind: pin, role: role, context: context, preparing: prepareItem)
      } else {
        try add(new, secret: secret, by: .otp, context: context, preparing: prepareItem)
      }
    return (item, state)
  }

  /// A credential without its secret.
  package func describeOTP(named name: String) throws(VaultError) -> OTPDescription {
    var transaction = try beginReading()
    let named = try transaction.item(named: name)
    let item = try OTPItem(transaction.owned(by: named) ?? named)
    return item.description(try transaction.state(of: item.item.id))
  }

  /// The next code of a HOTP prover. The counter after it is on disk before this returns.
  ///
  /// At most once: a counter may be skipped when a process ends, but no counter is used twice.
  /// - Parameter context: Who is asked where the credential has constraints.
  /// - Throws: ``VaultError/Code/policy`` for a verifier, ``VaultError/Code/outOfStep``,
  ///   ``VaultError/Code/locked``.
  package func nextHOTPCode(
    of id: ItemID, by factors: PINFactors = [.current, .biometric], for purpose: CodePurpose = .offline,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> OTPResult {
    func check(_ item: Item, _ look: inout ReadTransaction) throws(VaultError) -> Bool {
      try OTPItem(item).refuse(unless: .prover)
      try look.refuseOutOfStep(item, for: purpose)
      return true
    }
    return try usingCredential(
      id, by: factors, making: purpose, to: "make a code", context: context, checking: check
    ) { (use, look) throws(VaultError) in
      var transaction = try continueReading(look)
      var prepared = try transaction.prepareSecret(of: transaction.item(id), by: use.component)
      transaction.end()
      var change = try beginWriting(.secret(.use, of: id, by: use.component), context: context)
      let item = try OTPItem(change.item(id, of: prepared))
      try item.refuse(unless: .prover)
      let counter: UInt64
      let notices: [OTPResult.Notice]
      let code: String
      // The key is wiped at the end of this scope, and not after the commit.
      do {
        let key = try change.useSecret(of: item.item, by: use.component, prepared: prepared.take())
        counter = try change.takeCounter(of: item.item, for: purpose)
        notices = try use.writeFactor(in: &change)
        code = try use.withSecret(key, of: item.item) { (key) throws(VaultError) in
          try item.hotp(key).code(at: counter)
        }
      }
      try purpose.commit?(&change, CodeForPeer(code: code, counter: counter))
      try change.log(.codeGenerated, item: item.item)
      let result = OTPResult(
        name: item.item.name ?? "", code: code, digits: item.format.length, factor: .counter(counter),
        notices: notices)
      try change.commit()
      return result
    }
  }

  /// The code of a TOTP or Steam prover at a moment. Stores nothing, so it works on a read-only vault; only the use of a
  /// credential with constraints is logged, and codes that are limited in number are counted.
  ///
  /// - Parameters:
  ///   - seconds: Seconds since 1970; `nil` for now, by the clock of the server as far as a synchronization found it.
  ///   - context: Who is asked where the credential has constraints.
  package func timedCode(
    of id: ItemID, at seconds: Int64? = nil, stepsAhead: Int64 = 0,
    by factors: PINFactors = [.current, .biometric], for purpose: CodePurpose = .offline,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> OTPResult {
    func check(_ item: Item, _ look: inout ReadTransaction) throws(VaultError) -> Bool {
      try OTPItem(item).refuse(unless: .prover)
      try look.state(of: id).refuseUnlessActive()
      try look.refuseOutOfStep(item, for: purpose)
      return true
    }
    return try usingCredential(
      id, by: factors, making: purpose, to: "make a code", context: context, checking: check
    ) { (use, look) throws(VaultError) in
      let transaction = try beginReading(
        .secret(.use, of: id, by: use.component), from: look, context: context)
      return try timedCode(
        of: id, at: seconds, stepsAhead: stepsAhead, for: purpose, using: use, in: transaction)
    }
  }

  private func timedCode(
    of id: ItemID, at seconds: Int64?, stepsAhead: Int64, for purpose: CodePurpose,
    using use: CredentialUse, in first: consuming ReadTransaction
  ) throws(VaultError) -> OTPResult {
    var transaction = consume first
    let credential = try OTPItem(transaction.item(id))
    try credential.refuse(unless: .prover)
    let state = try transaction.state(of: id)
    try state.refuseUnlessActive()
    try transaction.refuseOutOfStep(credential.item, for: purpose)
    let now = seconds ?? state.time(environment.clock)
    let notes: [AuditNote]
    let timed: TimedCode
    // The key is wiped at the end of this scope, and not after the commit.
    do {
      let opened = try transaction.useSecret(of: credential.item, by: use.component)
      notes = opened.notes
      let generator = try use.withSecret(opened.secret, of: credential.item) { (key) throws(VaultError) in
        try credential.totp(key)
      }
      let ahead = stepsAhead.multipliedReportingOverflow(by: credential.period)
      let moment = now.addingReportingOverflow(ahead.partialValue)
      guard !ahead.overflow, !moment.overflow else { throw VaultError(otp: .timeOutOfRange) }
      timed = try otp { () throws(OTPError) in try generator.code(at: moment.partialValue) }
    }
    let factor = OTPResult.Factor.time(
      validFrom: timed.step.validFrom, validTo: timed.step.validTo,
      remaining: timed.step.validTo - max(now, timed.step.validFrom),
      isSteam: credential.kind == .steam)
    var result = OTPResult(
      name: credential.item.name ?? "", code: timed.code, digits: credential.format.length, factor: factor)
    let item = credential.item
    transaction.end()
    result.notices = try writeUncounted(result.code, of: item, for: purpose, using: use, noting: notes)
    return result
  }

  /// Writes what a code leaves that moves no counter: its count, the verdict on the PIN, what its purpose adds, and the log. Writes nothing
  /// where it leaves nothing, so that a vault that cannot be written gives such codes too.
  ///
  /// - Returns: What the caller must tell the person.
  func writeUncounted(
    _ code: String, of item: Item, for purpose: CodePurpose, using use: CredentialUse,
    noting notes: [AuditNote]
  ) throws(VaultError) -> [OTPResult.Notice] {
    guard
      item.audit == .all || !item.access.constraints.isEmpty || use.shown != nil || purpose.commit != nil
        || purpose.counts(item)
    else { return [] }
    var transaction = try beginWriting()
    try transaction.countCode(of: item, for: purpose)
    let notices = try use.writeFactor(in: &transaction)
    try purpose.commit?(&transaction, CodeForPeer(code: code, counter: nil))
    try transaction.log(notes)
    try transaction.log(.codeGenerated, item: item)
    try transaction.commit()
    return notices
  }

  /// Sets the counter of a credential that has one, and ends "needs resynchronization".
  ///
  /// - Parameter force: Allows a smaller counter, which generates codes again.
  package func setCounter(
    of id: ItemID, to counter: UInt64, force: Bool = false, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    let change = try counterChange(of: id, to: counter, context: context)
    guard force else {
      if change.isBackward { throw .counterIsBehind(change.before) }
      let transaction = try beginWriting(.guardedState(of: id, by: .otp), context: context)
      return try setCounter(of: id, to: counter, use: nil, in: transaction)
    }
    try usingCredential(id, for: .replace, to: "set the counter back", context: context) {
      (item, _) throws(VaultError) in
      change.isBackward || item.access.asksPerson
    } body: { (use, look) throws(VaultError) in
      if let look = consume look { look.end() }
      let isAsked = use.shown != nil || change.isBackward || change.asksPerson
      let transaction = try beginWriting(
        isAsked ? .secret(.replace, of: id, by: use.component) : .delete(id), context: context)
      try setCounter(of: id, to: counter, use: use, in: transaction)
    }
  }

  /// What a new counter is to the present one, which only an unlocked vault tells.
  private func counterChange(
    of id: ItemID, to counter: UInt64, context: AuthenticationContext?
  ) throws(VaultError) -> (before: UInt64, isBackward: Bool, asksPerson: Bool) {
    var transaction = try beginReading(.delete(id), context: context) { (look) throws(VaultError) in
      try look.item(id).refuseUnlessCounting()
    }
    let (item, state) = (try transaction.item(id), try transaction.state(of: id))
    // A counter at its end stays there and is blocked, because setting it again would go back.
    return (state.counter, counter < state.counter || state.isBlocked, item.access.asksPerson)
  }

  /// - Parameter use: What `force` has obtained; `nil` without `force`.
  private func setCounter(
    of id: ItemID, to counter: UInt64, use: CredentialUse?, in first: consuming WriteTransaction
  ) throws(VaultError) {
    var transaction = consume first
    let item = try transaction.item(id)
    try item.refuseUnlessCounting()
    try transaction.permitWithoutSecret(on: item)
    let (before, now) = (try transaction.state(of: id), transaction.reading.expiryTime)
    // A counter at its end stays there and is blocked, because setting it again would go back.
    let isBackward = counter < before.counter || before.isBlocked
    guard !isBackward || use != nil else { throw .counterIsBehind(before.counter) }
    // Repeated codes are as sensitive as the secret, so the same rules apply.
    try transaction.permitChange(
      of: id, use == nil ? .update : .replace, needingKeys: isBackward, by: use?.component ?? .otp)
    _ = try use?.writeFactor(in: &transaction)
    try transaction.changeState(of: id) { state in
      state.counter = counter
      state.needsResync = false
      state.isBlocked = false
      // Without a peer, the person who asked the server is the only synchronization.
      if item.attributes[.peer] == nil {
        state.lastSynchronization = now
        state.codesSinceSynchronization = 0
      }
    }
    try transaction.log(.counterSet, item: item, detail: "\(before.counter) to \(counter)")
    try transaction.commit()
  }

  /// The URI of a credential with its secret, for export; logged.
  ///
  /// - Throws: ``VaultError/Code/expired`` for a counter at its end, which no URI can say: the last code would be made again.
  package func exportOTP(of id: ItemID, context: AuthenticationContext? = nil) throws(VaultError)
    -> SecretBytes
  {
    func check(_ item: Item, _ look: inout ReadTransaction) throws(VaultError) -> Bool {
      if item.countsCodes, try look.state(of: id).isBlocked { throw VaultError(otp: .counterExhausted) }
      try item.refuseExport()
      return true
    }
    return try usingCredential(
      id, for: .export, to: "export the secret", context: context, checking: check
    ) { (use, look) throws(VaultError) in
      if let look = consume look { look.end() }
      var transaction = try beginWriting(
        .secret(.export, of: id, by: use.component), context: context)
      let item = try transaction.item(id)
      if item.countsCodes, try transaction.state(of: id).isBlocked {
        throw VaultError(otp: .counterExhausted)
      }
      let text = try transaction.exportOTP(item, by: use.component)
      _ = try use.writeFactor(in: &transaction)
      try transaction.commit()
      return text
    }
  }
}

extension Item {
  fileprivate func refuseUnlessCounting() throws(VaultError) {
    guard kind == .otp else { throw .noCredential }
    guard countsCodes else { throw VaultError(.policy, "the credential has no counter") }
  }
}

extension VaultError {
  fileprivate static func counterIsBehind(_ present: UInt64) -> VaultError {
    VaultError(
      .policy, "the counter is \(present) already; a smaller one would use codes twice",
      hint: .forceCounter)
  }
}

extension OTPItem {
  func refuse(unless wanted: OTPRole) throws(VaultError) {
    guard role != wanted else { return }
    throw wanted == .prover
      ? VaultError(.policy, "the credential is a verifier: it never prints codes", hint: .verifyCode)
      : VaultError(.policy, "the credential is a prover: it does not judge codes", hint: .makeCode)
  }
}
