import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultWords

/// Which codes of a secret were used: by credentials of the vault, and by the earlier lines of an import.
///
/// It is the one place that keeps a line, or a credential of `otp add`, from giving or accepting a used code again, whatever its name is. It knows secrets by hash
/// values of this process alone. The secret of an item that asks a person is not opened: such an item is known by its name only.
struct UsedCodes {
  /// What is known of one secret, in one role.
  private struct Mark {
    /// The lowest counter that was not used here.
    var counter: UInt64 = 0
    /// Whether its code may have been used elsewhere: it is that of a credential whose counter must be set first.
    private var isDoubtful = false
    var isAtEnd = false
    var lastAccepted: UInt64?
    /// The credentials that can use codes of the secret.
    var holders: Set<ItemID> = []

    mutating func add(_ state: ItemState, of id: ItemID?) {
      if state.counter >= counter {
        isDoubtful = state.needsResync || state.counter == counter && isDoubtful
        counter = state.counter
      }
      isAtEnd = isAtEnd || state.isBlocked || state.needsResync && state.counter == .max
      lastAccepted = [lastAccepted, state.lastAccepted].compactMap(\.self).max()
      if let id, !state.needsResync, !state.isBlocked { holders.insert(id) }
    }

    /// Has a credential whose counter must be set say which counters were used: the next import compares with it.
    func keep(in state: inout ItemState) { state.counter = max(state.counter, counter) }

    /// Whether the code of a counter is, or may be, used.
    func covers(_ other: UInt64) -> Bool { isAtEnd || other < counter || isDoubtful && other == counter }

    /// The lowest counter whose code is certainly not used.
    var free: UInt64 { isDoubtful && counter < .max ? counter + 1 : counter }
  }

  private var marks: [Int: Mark] = [:]
  /// The key of the mark of each credential that can use codes.
  private var keys: [ItemID: Int] = [:]
  /// The credentials whose secrets were not opened.
  private var unopened: Set<ItemID> = []
  private var hasReadVault = false
  /// The family of the only credential that is compared; `nil` for an import, which has many. Secrets that only the passcode opens
  /// are then passed over, and not an error.
  private var only: CodeFamily?

  /// For the lines of an import.
  init() {}

  /// For one credential. No secret of another family is opened.
  init(for source: CodeSource) { only = source.family }

  /// Keeps a line from giving or accepting a code again.
  ///
  /// A prover that is behind gives no code before its counter is set. A verifier goes on where the other one is.
  ///
  /// - Parameter named: The item that has, or had, the name of the line.
  /// - Returns: What a person should know.
  mutating func skipUsed(
    _ line: inout ItemLine, beside named: Item?, in transaction: inout WriteTransaction
  ) throws -> [String] {
    guard let source = try line.codeSource() else { return [] }
    return try skipUsed(&line.item.state, of: source, beside: named, in: &transaction)
  }

  /// The same for the first state of a credential.
  mutating func skipUsed(
    _ state: inout ItemState, of source: CodeSource, beside named: Item? = nil,
    in transaction: inout WriteTransaction
  ) throws(VaultError) -> [String] {
    try readVault(in: &transaction)
    var mark = marks[source.key] ?? Mark()
    if let named, unopened.contains(named.id), CodeFamily(named) == source.family {
      mark.add(try transaction.state(of: named.id), of: nil)
    }
    return source.family.role == .prover
      ? Self.skipUsedByProver(&state, counter: source.counter, by: mark)
      : Self.skipUsedByVerifier(&state, counter: source.counter, by: mark)
  }

  /// Remembers a line that was stored, for the lines after it.
  ///
  /// - Parameter id: `nil` for one in the trash, which makes and judges no codes.
  mutating func note(_ line: ItemLine, storedAs id: ItemID?) throws {
    guard let source = try line.codeSource() else { return }
    var state = line.item.state
    state.counter = max(state.counter, source.counter ?? 0)
    marks[source.key, default: Mark()].add(state, of: id)
    if let id { keys[id] = source.key }
  }

  /// Remembers the codes of an item that is about to be deleted, which can use no more of them.
  mutating func release(_ item: Item, in transaction: inout WriteTransaction) throws(VaultError) {
    guard CodeFamily(item) != nil else { return }
    try readVault(in: &transaction)
    if let key = keys[item.id] { marks[key]?.holders.remove(item.id) }
  }

  private static func skipUsedByProver(_ state: inout ItemState, counter: UInt64?, by mark: Mark) -> [String]
  {
    guard let counter, !state.isBlocked else { return [] }
    guard !state.needsResync else {
      mark.keep(in: &state)
      return []
    }
    let isSecond = !mark.holders.isEmpty
    guard mark.covers(counter) || isSecond && counter == mark.counter else {
      return isSecond
        ? ["another credential has its secret: use one of the two only, or a code comes out twice"] : []
    }
    state.needsResync = true
    mark.keep(in: &state)
    return [
      "a credential with its secret is not behind it: it gives no code before 'vaultctl otp counter NAME --set N', with N from the server"
    ]
  }

  private static func skipUsedByVerifier(_ state: inout ItemState, counter: UInt64?, by mark: Mark)
    -> [String]
  {
    var warnings: [String] = []
    if let counter, counter < mark.free || mark.isAtEnd && !state.isBlocked {
      state.counter = max(counter, mark.free)
      state.isBlocked = state.isBlocked || mark.isAtEnd
      warnings.append(
        "a verifier with its secret is ahead: its counter is set to \(state.counter), because it would accept codes twice"
      )
    }
    if let last = mark.lastAccepted {
      state.lastAccepted = last
      if counter == nil {
        warnings.append("a verifier with its secret has accepted codes: it does not accept them again")
      }
    }
    if !mark.holders.isEmpty {
      warnings.append("another verifier has its secret: each of the two accepts the next codes once")
    }
    return warnings
  }

  /// Reads the credentials of the vault, once, before the first line that needs them.
  private mutating func readVault(in transaction: inout WriteTransaction) throws(VaultError) {
    guard !hasReadVault else { return }
    hasReadVault = true
    var credentials: [(Item, CodeFamily)] = []
    var walk = ItemWalk(keepingPages: false)
    while let item = try transaction.reading.nextReadable(&walk) {
      if !item.isInTrash, let family = CodeFamily(item), only == nil || only == family {
        credentials.append((item, family))
      }
    }
    for (item, family) in credentials {
      guard !item.isConstrained, !item.isBehindPIN else {
        unopened.insert(item.id)
        continue
      }
      do throws(VaultError) {
        let state = try transaction.state(of: item.id)
        let key = family.mark(of: try transaction.useSecret(of: item, by: .otp), item.codeAlgorithm ?? .sha1)
        marks[key, default: Mark()].add(state, of: item.id)
        keys[item.id] = key
      } catch {
        guard error.code != .locked || only != nil else { throw error }
        unopened.insert(item.id)
      }
    }
  }
}

/// Of what the codes of a credential are made.
struct CodeSource {
  /// A value for the secret and the family that only this process knows.
  fileprivate let key: Int
  fileprivate let family: CodeFamily
  /// That of the next code, where the codes have counters.
  fileprivate let counter: UInt64?

  /// `nil` for a credential that remembers no used codes: a prover whose codes follow the time.
  init?(_ uri: borrowing OTPAuthURI, role: OTPRole) {
    var (codes, counter) = (CodeFamily.counted, nil as UInt64?)
    switch uri.kind {
    case .hotp(let next): counter = next
    case .totp(let period): codes = CodeFamily.timed(period)
    default: codes = CodeFamily.timed(30)
    }
    guard counter != nil || role == .verifier else { return nil }
    let family = CodeFamily(role, codes)
    self.init(family, uri.secret, uri.algorithm, counter: counter)
  }

  /// `nil` for a credential that remembers no used codes.
  init?(_ suite: OCRASuite, key: borrowing SecretBytes, role: OTPRole, counter: UInt64) {
    guard suite.hasCounter || role == .verifier && suite.timeStepSeconds != nil else { return nil }
    self.init(
      CodeFamily(role, suite.description), key, suite.algorithm, counter: suite.hasCounter ? counter : nil)
  }

  private init(
    _ family: CodeFamily, _ secret: borrowing SecretBytes, _ algorithm: OTPAlgorithm, counter: UInt64?
  ) {
    key = family.mark(of: secret, algorithm)
    (self.family, self.counter) = (family, counter)
  }
}

/// What codes are made of besides the secret: equal secrets of one family have equal codes.
private struct CodeFamily: Hashable {
  let role: OTPRole
  /// The suite; else what the codes follow.
  let codes: String

  init(_ role: OTPRole, _ codes: String) { (self.role, self.codes) = (role, codes) }

  /// `nil` for an item that remembers no used codes.
  init?(_ item: Item) {
    guard item.kind == .otp, !item.isActivation, let role = item.attributes[.otpRole].flatMap(OTPRole.init),
      item.countsCodes || role == .verifier
    else { return nil }
    let plain = item.countsCodes ? Self.counted : Self.timed(item.attributes[.otpPeriod] ?? 30)
    self.init(role, item.attributes[.ocraSuite] ?? plain)
  }

  static let counted = "counter"
  static func timed(_ period: Int64) -> String { "time \(period)" }

  /// A value for a secret in this family that only this process knows.
  func mark(of secret: borrowing SecretBytes, _ algorithm: OTPAlgorithm) -> Int {
    var hasher = Hasher()
    hasher.combine(self)
    hasher.combine(algorithm.fingerprint(of: secret))
    return hasher.finalize()
  }
}

extension ItemLine {
  /// `nil` for a line that remembers no used codes.
  fileprivate func codeSource() throws -> CodeSource? {
    guard item.kind == .otp else { return nil }
    if let suite { return CodeSource(suite, key: secret.bytes, role: role, counter: item.state.counter) }
    return CodeSource(try uri(), role: role)
  }
}
