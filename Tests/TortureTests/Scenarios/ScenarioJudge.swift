import AuthenticatorKit
import Foundation
import SecretMemory
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Says whether a vault is as before a call or as after it, and what is wrong with it.
  struct ScenarioJudge {
    let scenario: Scenario
    let home: ScenarioHome
    private let deviceKey: DeviceKeyID?
    private let before: String
    private let after: String

    /// - Parameter home: As it is before the call, and again when this returns; the call is made in it once.
    init(_ scenario: Scenario, in home: ScenarioHome) throws {
      (self.scenario, self.home) = (scenario, home)
      deviceKey = home.hasVault ? try VaultCore.outline(at: home.vault).deviceKey : nil
      before = home.hasVault && !scenario.isWithoutKey ? try Self.description(of: home, deviceKey) : "none"
      try home.reset()
      try home.run(scenario.words, scenario.input, exit: scenario.exit)
      after = try Self.description(of: home, deviceKey)
      try home.reset()
      // A call that changes nothing described here is judged by what it makes, or only by what it leaves intact.
      isTold = before != after
    }

    /// Whether the vault itself tells that the call was made.
    let isTold: Bool

    struct Verdict {
      /// Whether the call was made; `nil` when that cannot be seen.
      var isDone: Bool?
      /// Whether all is as before the call, so that it can be made once more.
      var isAsBefore = false
      var problems: [String] = []
      /// The passcode that opens the vault.
      var passcode: String?
    }

    func verdict(isAcknowledged: Bool) -> Verdict {
      var verdict = Verdict()
      guard home.hasVault else {
        verdict.isDone = false
        verdict.isAsBefore = true
        if scenario.start != .nothing { verdict.problems.append("the vault is gone") }
        if isAcknowledged { verdict.problems.append("acknowledged, and there is no vault") }
        return verdict
      }
      do {
        let found = try Self.look(home, deviceKey)
        verdict.passcode = found.passcode
        verdict.problems += found.problems
        if isTold { verdict.isDone = found.text == after }
        verdict.isAsBefore = found.text == before
        let isKnown = [before, after].contains(found.text)
        if !isKnown, !scenario.commitsOften {
          verdict.problems.append(
            "neither as before nor as after:\n\(found.text)\nnot\n\(before)\nnor\n\(after)")
        }
      } catch {
        // Lost is the key of before: one that the call has named must be there.
        let isLost =
          (error as? VaultError)?.code == .deviceKeyAbsent
          && (try? VaultCore.outline(at: home.vault).deviceKey) == deviceKey
        if isLost, scenario.isWithoutKey {
          verdict.isDone = false
          verdict.isAsBefore = true
        } else {
          verdict.problems.append("the vault does not open: \(error)")
        }
      }
      if let product = scenario.product {
        let problem = productProblem(product)
        if !isTold { verdict.isDone = problem == nil }
        if isAcknowledged, let problem { verdict.problems.append(problem) }
      }
      if isAcknowledged, verdict.isDone == false { verdict.problems.append("acknowledged, and not done") }
      return verdict
    }

    // MARK: what is there

    static let passcodes = ["the passcode", "another passcode"]

    private static func description(of home: ScenarioHome, _ key: DeviceKeyID?) throws -> String {
      let found = try look(home, key)
      guard found.problems == [] else { throw ScenarioHome.Failed(text: "\(found.problems)") }
      return found.text
    }

    /// Everything of a vault that a call may change on purpose, as text.
    private static func look(
      _ home: ScenarioHome, _ key: DeviceKeyID?
    ) throws -> (text: String, problems: [String], passcode: String?) {
      let core = try home.open()
      var passcode: String?
      if core.hasPasscode {
        for text in passcodes where passcode == nil {
          do throws(VaultError) {
            try core.unlock(with: Passcode(testing: text))
            passcode = text
          } catch { if error.code != .authenticationFailed { throw error } }
        }
        guard passcode != nil else { return ("", ["no passcode opens the vault"], nil) }
        if core.isRotating { try core.rotateEpoch(passcode: Passcode(testing: passcode!)) }
      } else if core.isRotating {
        try core.rotateEpoch()
      }
      let problems = try core.verify().problems.map { "\($0)" }
      let status = try core.status()
      var lines = [
        "passcode \(passcode ?? "none"), recovery \(status.hasRecoveryCode), generation \(status.generation), "
          + "device key \(status.deviceKey == key ? "the same" : "another")",
        "members \(try core.enrolledMembers().map(\.name))",
      ]
      for item in try core.items(matching: Query()) { lines.append(try describe(item, core)) }
      for item in try core.trash() { lines.append("in the trash: \(item.name ?? "-")") }
      return (lines.joined(separator: "\n"), problems, passcode)
    }

    private static func describe(_ item: Item, _ core: VaultCore) throws -> String {
      let secret: String
      do throws(VaultError) {
        let bytes = try core.secret(of: item.id).bytesForTesting
        // What was generated is another one in each run.
        secret = item.name == "generated" ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self)
      } catch {
        // An item behind the old set no longer opens.
        let reasons: [VaultError.Code] = [
          .interactionNotAllowed, .verificationNeeded, .policy, .itemNotFound, .invalidated,
        ]
        guard reasons.contains(error.code) else { throw error }
        secret = "!" + error.code.rawValue
      }
      let name = item.name ?? ""
      let pin = item.kind == .pin ? try core.pinStatuses(of: item.id).first : nil
      let version = try core.reading { transaction throws(VaultError) in
        item.kind == .pin ? try transaction.materialVersion(of: item.id) : 0
      }
      let answered = item.kind == .transaction ? try core.transactionDetails(of: item.id).transaction : nil
      let state = (try? core.describeOTP(named: name).state) ?? (try? core.describeOCRA(named: name).state)
      return [
        item.name ?? "-", "\(item.kind.rawValue)", item.attributes[.service] ?? "-",
        item.attributes[.account] ?? "-", item.attributes[.label] ?? "-", "\(item.audit)", secret,
        state.map { "\($0.counter) \($0.lastAccepted ?? 0) \($0.needsResync)" } ?? "",
        item.kind == .otp ? "\(try core.state(of: item.id).credentialState())" : "",
        answered?.status.rawValue ?? "", try shownUse(of: item, core),
        // Not the attempts: one is counted in a commit of its own.
        // What an entry keeps, and what it kept.
        try shownContent(of: item, core),
        pin.map { "\(version) \($0.hasPendingChange) \($0.isBlocked) \($0.credentials.count)" } ?? "",
      ].joined(separator: "|")
    }

    private static func shownContent(of item: Item, _ core: VaultCore) throws -> String {
      guard item.kind == .genericPassword else { return "" }
      let versions = try core.history(of: item.id).map(\.version)
      guard item.isEntry, let content = try? core.entry(of: item.id) else { return "\(versions)" }
      let fields = content.fields.map {
        "\($0.name) \($0.isHidden) \(String(decoding: $0.value.bytesForTesting, as: UTF8.self))"
      }
      return "\(versions) \(fields) \(item.attributes.bytes(of: 97) ?? [])"
    }

    /// What a card token or a consent is now. Not the attempts of a consent: one is counted in a commit of its own.
    private static func shownUse(of item: Item, _ core: VaultCore) throws -> String {
      guard item.kind == .cardToken || item.kind == .consent else { return "" }
      let state = try core.state(of: item.id)
      return "\(item.hasSecret) \(state.usesLeft) \(state.resends) \(try state.consentState())"
    }

    private func productProblem(_ product: Scenario.Product) -> String? {
      switch product {
      case .oneKey: return (try? home.keyFiles().count) == 1 ? nil : "an old key is left"
      case .export:
        guard let text = try? String(contentsOfFile: home.folder + "/out/items.jsonl", encoding: .utf8) else {
          return "there is no export"
        }
        return text.hasSuffix("\n") && text.split(separator: "\n").count == 6 ? nil : "the export is cut off"
      case .injected:
        let text = try? String(contentsOfFile: home.folder + "/out/injected", encoding: .utf8)
        let secret = Scenario.secrets["logged"]!
        return text == "a \(secret) b \(secret) c" ? nil : "what was injected is not whole"
      case .backup:
        let place = TemporaryVault(in: Place.fast)
        do throws(VaultError) {
          let restored = try VaultCore.restore(
            from: home.folder + "/out/b.vault", passphrase: Passcode(testing: "a long passphrase"),
            to: place.path, protector: place.protector, environment: place.environment)
          let items = scenario.start == .locked ? 7 : 6
          return restored.report.items == items ? nil : "the backup has \(restored.report.items) items"
        } catch { return "the backup does not open: \(error.code.rawValue)" }
      }
    }
  }
}
