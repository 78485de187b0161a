import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

extension Command {
  /// The values of names and references, all of one state of the vault. If one is not given, none is.
  ///
  /// Where there are references, the names and fields are told on standard error before: they may come from a file that the person has not
  /// read.
  ///
  /// - Parameters:
  ///   - wanted: Each with what an error calls the place where it was typed.
  ///   - areTold: Whether they are told: not where a person typed the one that there is.
  func values(
    of wanted: [(origin: String, value: WantedValue)], areTold: Bool = true
  ) throws -> [FieldValue] {
    guard !wanted.isEmpty else { return [] }
    _ = try vault.opened()
    if areTold { noteReferences(in: wanted.map(\.value)) }
    let given: [GivenValue]
    do {
      given = try vault.unlocking { core in
        try core.values(of: wanted.map(\.value)) { item in try vault.context(for: item) }
      }
    } catch let failure as WantedFailure {
      throw failure.error(at: wanted[failure.index])
    }
    var warned: Set<ItemID> = []
    for value in given where value.isSealed && warned.insert(value.item.id).inserted {
      _ = try warnIfExpired(value.item)
    }
    return given.map(\.value)
  }

  private func noteReferences(in wanted: [WantedValue]) {
    guard wanted.contains(where: \.isReference) else { return }
    let names = Set(wanted.map { "\($0.name)/\($0.field)" })
    messages.note("resolving " + names.sorted().map(printable).joined(separator: ", "))
  }
}

extension WantedFailure {
  /// The error for whoever typed it.
  fileprivate func error(at place: (origin: String, value: WantedValue)) -> CommandError {
    if error.code == .expired, let item { return item.expiredError }
    let error = CommandError(error)
    switch place.value {
    case .field(let reference):
      return error.located(at: "\(place.origin), \(printable(reference.name))/\(printable(reference.field))")
    case .secret(let name) where self.error.code == .itemNotFound && item == nil:
      let isForeign = VaultReference.hasScheme(name)
      return CommandError(
        .notFound, "there is no item with the name in \(place.origin)",
        hint: isForeign ? "a reference begins with vaultctl://, like vaultctl://NAME/FIELD" : error.hint)
    case .secret: return error
    }
  }
}

extension VaultReference {
  /// Reads a reference that was typed.
  ///
  /// - Parameter origin: What an error calls the place where it was typed.
  static func read(_ text: String, in origin: String) throws(CommandError) -> VaultReference {
    do throws(VaultError) { return try VaultReference(text) } catch {
      throw CommandError(error).located(at: origin)
    }
  }
}
