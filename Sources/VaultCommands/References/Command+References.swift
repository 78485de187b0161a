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
  ///   - wanted: What is wanted.
  ///   - areTold: Whether they are told: not where a person typed the one that there is.
  ///   - origin: What an error calls the place where the one with this index was typed. Called for that one alone: to find a place in a
  ///     template takes as long as to read it.
  func values(
    of wanted: [WantedValue], areTold: Bool = true, origin: (Int) -> String
  ) throws -> [FieldValue] {
    guard !wanted.isEmpty else { return [] }
    _ = try vault.opened()
    if areTold { noteReferences(in: wanted) }
    let given: [GivenValue]
    do {
      given = try vault.unlocking { core in
        try core.values(of: wanted) { item in try vault.context(for: item) }
      }
    } catch let failure as WantedFailure {
      var error = failure.error(of: wanted[failure.index], at: origin(failure.index))
      if failure.item == nil, failure.error.code == .itemNotFound,
        let hint = trashHint(for: wanted[failure.index].name)
      {
        error.hint = hint
      }
      throw error
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
  fileprivate func error(of wanted: WantedValue, at origin: String) -> CommandError {
    if error.code == .expired, let item { return item.expiredError }
    let error = CommandError(error)
    switch wanted {
    case .field(let reference):
      return error.located(at: "\(origin), \(printable(reference.name))/\(printable(reference.field))")
    case .secret(let name) where self.error.code == .itemNotFound && item == nil:
      let isForeign = VaultReference.hasScheme(name)
      return CommandError(
        .notFound, "there is no item with the name in \(origin)",
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
