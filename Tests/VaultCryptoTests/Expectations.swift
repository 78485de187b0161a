import Testing
import VaultCrypto

/// Expects `body` to throw `expected`. `#expect(throws:)` cannot hold a result that is not copyable.
func expectError<Result: ~Copyable>(
  _ expected: CryptoError, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(CryptoError) -> Result
) {
  do throws(CryptoError) {
    _ = try body()
    Issue.record("nothing was thrown instead of \(expected)", sourceLocation: sourceLocation)
  } catch {
    #expect(error == expected, sourceLocation: sourceLocation)
  }
}
