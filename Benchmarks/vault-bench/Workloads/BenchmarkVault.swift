import AuthenticatorKit
import Glibc
import OneTimePassword
import SecretMemory
import Synchronization
import VaultKit
import VaultTestKit

/// A real vault of a given size, with or without a passcode. It uses the synchronous core, as `vaultctl` does.
final class BenchmarkVault {
  /// The actor that users of the library call.
  let vault: Vault
  /// The number of passwords in the vault at first. ``put()`` adds more.
  let count: Int
  let core: VaultCore
  private let derivations = DerivationCount()
  var next: Int
  private var seed: UInt64 = 88_172_645_463_325_252

  /// Opens the vault in `folder`, or makes one with `count` passwords and one HOTP credential there.
  init(in folder: String, count: Int, passcode: String? = nil) {
    let path = folder + "/data/bench.vault"
    let protector = FileProtector(file: folder + "/device.key")
    _ = unsafe mkdir(folder, 0o700)
    self.count = count
    next = count + Int(getpid()) << 24
    let isThere = unsafe access(path, F_OK) == 0
    let environment = VaultEnvironment(derivationObserver: { [derivations] in derivations.add() })
    if isThere {
      core = must { try VaultCore.open(at: path, protector: protector, environment: environment) }
    } else {
      core = must {
        try VaultCore.create(
          at: path, protector: protector, passcode: try passcode.map { try Passcode(testing: $0) },
          environment: environment)
      }
    }
    vault = Vault(core: core)
    if !isThere { fill() }
  }

  private func fill() {
    var first = 0
    while first < count {
      let last = min(first + 10_000, count)
      must { try core.write { transaction in for index in first..<last { try add(index, &transaction) } } }
      first = last
    }
    must {
      let uri = try OTPAuthURI(
        kind: .hotp(counter: 0), issuer: "issuer", account: "hotp",
        secret: SecretBytes(testing: "12345678901234567890"))
      _ = try core.addOTP(uri, named: "hotp")
      let timed = try OTPAuthURI(
        kind: .totp(periodSeconds: 30), issuer: "issuer", account: "totp",
        secret: SecretBytes(testing: "12345678901234567890"))
      _ = try core.addOTP(timed, named: "totp")
    }
  }

  /// A password with a name and four indexed attributes.
  private func add(_ index: Int, _ transaction: inout WriteTransaction) throws {
    var new = NewItem(.genericPassword, name: Self.name(index))
    new.attributes[.service] = "svc-\(index % 100)"
    new.attributes[.account] = "user-\(index)"
    new.attributes[.label] = "label \(index)"
    new.attributes[.accessGroup] = "group-\(index % 10)"
    _ = try transaction.add(new, secret: SecretBytes(testing: "a password of 32 bytes, \(index)"))
  }

  /// The commits and the key derivations of this vault so far.
  var work: Work { Work(commits: must { try core.status().sequence }, derivations: derivations.value) }

  /// The name of an item.
  static func name(_ index: Int) -> String { "item-\(index)" }

  // MARK: What is timed

  /// A HOTP code whose counter is on disk before it is returned.
  func hotp() -> Workload {
    let id = must { try core.describeOTP(named: "hotp").item.id }
    return Workload("HOTP code, durable") { [core] in _ = try core.nextHOTPCode(of: id) }
  }

  /// HOTP codes from blocks of 32 counters that one durable write reserves; one run is one code.
  ///
  /// No verb reserves counters: this measures a program that combines `CounterReservation` with a write.
  func reservedHOTP() -> Workload {
    let id = must { try core.describeOTP(named: "hotp").item.id }
    let generator = Box(must { try HOTPGenerator(key: SecretBytes(testing: "12345678901234567890")) })
    return Workload(
      "HOTP code, 32 counters reserved",
      many: { [core] count in
        var made = 0
        while made < count {
          let next = try core.describeOTP(named: "hotp").state.counter
          var block = try CounterReservation(startingAt: next, count: 32, lookAhead: 100)
          try core.setCounter(of: id, to: block.counterAfterBlock)
          while let counter = block.take() {
            _ = generator.value.code(at: counter)
            made += 1
          }
        }
      })
  }

  /// A new item with four indexed attributes and a secret, durable.
  func put() -> Workload {
    Workload("put, durable") { [self] in
      next += 1
      let index = next
      try core.write { transaction in try add(index, &transaction) }
    }
  }

  /// New items in one transaction.
  func putMany() -> Workload {
    Workload(
      "put, many in one transaction",
      many: { [self] count in
        try core.write { transaction in
          for _ in 0..<count {
            next += 1
            try add(next, &transaction)
          }
        }
      })
  }

  /// New one-time-password credentials in one transaction, from their parameters.
  func enrollMany() -> Workload {
    Workload(
      "enroll, many in one transaction",
      many: { [self] count in
        try core.write { transaction in
          for _ in 0..<count {
            var new = NewOTPCredential(.totp(periodSeconds: 30), name: nextUser(), role: .verifier)
            new.issuer = "example.org"
            try transaction.enroll(new, key: SecretBytes.random(byteCount: 20))
          }
        }
      })
  }

  /// The same items in one transaction, put as items.
  func putManyCredentials() -> Workload {
    Workload(
      "put the same items",
      many: { [self] count in
        try core.write { transaction in
          for _ in 0..<count {
            var new = NewItem(.otp, name: nextUser())
            new.attributes[.otpType] = 2
            new.attributes[.otpPeriod] = 30
            new.attributes[.otpRole] = 2
            new.attributes[.otpAlgorithm] = 1
            new.attributes[.otpDigits] = 6
            new.attributes[.issuer] = "example.org"
            _ = try transaction.add(new, secret: SecretBytes.random(byteCount: 20), by: .otp)
          }
        }
      })
  }

  private func nextUser() -> String {
    next += 1
    return "user-\(next)"
  }

  /// Items by random name in one snapshot. Opens the attributes, but no secret.
  func getInSnapshot() -> Workload {
    Workload(
      "get by name in a snapshot",
      many: { [self] count in
        try core.read { transaction in
          for _ in 0..<count { _ = try transaction.item(named: Self.name(random())) }
        }
      })
  }

  /// Items by random name with their secrets, in one snapshot.
  func secretInSnapshot() -> Workload {
    Workload(
      "get by name with its secret in a snapshot",
      many: { [self] count in
        try core.read { transaction in
          for _ in 0..<count {
            _ = try transaction.useSecret(of: transaction.item(named: Self.name(random())), by: nil)
          }
        }
      })
  }

  /// An item by random name, each in a separate state of the vault.
  func getAlone() -> Workload {
    Workload("get by name, each alone") { [self] in _ = try core.item(named: Self.name(random())) }
  }

  /// All items with their attributes opened.
  func list() -> Workload {
    Workload("list") { [core] in _ = try core.items(matching: Query()) }
  }

  /// Opens all items one by one, without keeping them.
  func scan() -> Workload {
    Workload("scan") { [core] in
      var transaction = try core.beginReading()
      var walk = ItemWalk()
      while try transaction.next(&walk) != nil {}
    }
  }

  /// Opens the vault again.
  static func opening(_ folder: String) -> Workload {
    let protector = FileProtector(file: folder + "/device.key")
    return Workload("open") {
      _ = try VaultCore.open(at: folder + "/data/bench.vault", protector: protector)
    }
  }

  /// Unlocks with the right passcode. The attempt is counted on disk.
  func unlock(_ passcode: String) -> Workload {
    Workload("unlock") { [core] in
      core.lock()
      try core.unlock(with: Passcode(testing: passcode))
    }
  }

  /// The cheapest call of the core: it reads nothing of the file.
  func question() -> Workload {
    Workload("a call of the core") { [core] in _ = core.isReadOnly }
  }

  private func random() -> Int {
    seed ^= seed << 13
    seed ^= seed >> 7
    seed ^= seed << 17
    return Int(seed % UInt64(count))
  }
}

extension Vault {
  /// The call of ``BenchmarkVault/question()``, through the actor.
  func question() -> Bool { core.isReadOnly }
}

/// What an operation did: counts, which are the same on a busy machine.
struct Work: Equatable {
  /// Commits to the vault.
  let commits: UInt64
  /// Key derivations by Argon2id.
  let derivations: UInt64

  static func - (_ after: Work, _ before: Work) -> Work {
    Work(commits: after.commits - before.commits, derivations: after.derivations - before.derivations)
  }
}

private final class DerivationCount: Sendable {
  private let count = Atomic<UInt64>(0)
  var value: UInt64 { count.load(ordering: .relaxed) }

  func add() { count.add(1, ordering: .relaxed) }
}
