package import Testing

/// The ids of [docs/testing.md](../../docs/testing.md) that a test or a suite shows: `@Test("…", .requirement("R3"))`.
///
/// `scripts/test --requirements` reads the ids in the sources, because the result of a run does not contain traits.
package struct Requirement: TestTrait, SuiteTrait {
  package let ids: [String]
}

extension Trait where Self == Requirement {
  /// - Parameter ids: Each is the first cell of a row in docs/testing.md.
  package static func requirement(_ ids: String...) -> Self { Requirement(ids: ids) }
}
