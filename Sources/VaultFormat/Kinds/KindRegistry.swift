/// The rules of every kind that this program knows: those of the vault's own kinds, and those of each library of components
/// that is linked into it.
///
/// A library of components registers when it is loaded, before `main`, so that its rules hold in every program that links it,
/// also in one that never calls it:
///
/// ```swift
/// @section(".init_array") @used
/// private let registration: @convention(c) () -> Void = { KindRegistry.register { KindRegistry.add([.pin, .biokey]) } }
/// ```
///
/// Nothing else runs then: the list itself is made at the first question for a kind.
package enum KindRegistry {
  @safe private struct Source {
    let addKinds: @convention(c) () -> Void
    let next: UnsafePointer<Source>?
  }

  // Written only before `main`, by one thread.
  nonisolated(unsafe) private static var sources: UnsafePointer<Source>?
  // Written only while `table` is made, which happens once.
  nonisolated(unsafe) private static var added: [KindRules] = []

  /// Notes who adds the kinds of a library. Called while the library is loaded, when no more than this is safe.
  package static func register(_ addKinds: @escaping @convention(c) () -> Void) {
    // Lives as long as the process.
    let source = UnsafeMutablePointer<Source>.allocate(capacity: 1)
    unsafe source.initialize(to: Source(addKinds: addKinds, next: sources))
    unsafe sources = UnsafePointer(source)
  }

  /// Adds the kinds of a library. Called by the function that it registered, and by nothing else.
  package static func add(_ rules: [KindRules]) { unsafe added += rules }

  /// The rules of all kinds that this program knows, by number, without those that programs define.
  package static var all: [KindRules] { table.all }

  static func rules(of kind: ItemKind) -> KindRules {
    let table = table
    if kind.rawValue < Table.smallCount { return table.small[Int(kind.rawValue)] }
    return table.other[kind.rawValue] ?? .unregistered(kind)
  }

  /// What the audit says by an operation.
  static func meaning(of operation: AuditOperation) -> AuditOperation.Meaning? {
    table.operations[operation.rawValue]
  }

  private static let table: Table = {
    var next = unsafe sources
    while let source = unsafe next {
      unsafe source.pointee.addKinds()
      unsafe next = source.pointee.next
    }
    return unsafe Table(KindRules.ofVault + added)
  }()

  private struct Table: Sendable {
    static let smallCount: UInt32 = 64
    let all: [KindRules]
    /// By number: most kinds have a small one, and each row of the vault is looked up.
    let small: [KindRules]
    let other: [UInt32: KindRules]
    let operations: [UInt16: AuditOperation.Meaning]

    init(_ rules: [KindRules]) {
      all = rules.sorted { $0.kind.rawValue < $1.kind.rawValue }
      let byNumber = Dictionary(rules.map { ($0.kind.rawValue, $0) }) { one, _ in
        preconditionFailure("KindRegistry: two kinds have the number \(one.kind.rawValue)")
      }
      precondition(
        byNumber.keys.allSatisfy { !ItemKind(rawValue: $0).isOfPrograms },
        "KindRegistry: the numbers of programs have no component")
      small = (0..<Self.smallCount).map { byNumber[$0] ?? .unregistered(ItemKind(rawValue: $0)) }
      other = byNumber.filter { $0.key >= Self.smallCount }
      operations = Dictionary(
        (AuditOperation.ofVault + all.flatMap(\.operations)).map { ($0.operation.rawValue, $0) }
      ) { one, _ in
        preconditionFailure("KindRegistry: two operations have the number \(one.operation.rawValue)")
      }
    }
  }
}

extension ItemKind {
  /// What holds for the items of this kind.
  package var rules: KindRules { KindRegistry.rules(of: self) }
}
