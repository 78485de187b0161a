package import Testing
package import VaultKit

/// Expects an error with this code.
package func expect(
  _ code: VaultError.Code, at location: SourceLocation = #_sourceLocation,
  _ body: () throws(VaultError) -> Void
) {
  #expect(thrown(body)?.code == code, sourceLocation: location)
}

/// Expects an error with this code.
package func expect(
  _ code: VaultError.Code, at location: SourceLocation = #_sourceLocation,
  awaiting body: () async throws -> Void
) async {
  do {
    try await body()
    Issue.record("expected \(code.rawValue)", sourceLocation: location)
  } catch { #expect((error as? VaultError)?.code == code, "\(error)", sourceLocation: location) }
}

/// The error that `body` throws; `nil` when it throws none.
package func thrown(_ body: () throws(VaultError) -> Void) -> VaultError? {
  do throws(VaultError) { try body() } catch { return error }
  return nil
}

/// The error that `body` throws; `nil` when it throws none.
package func thrown(awaiting body: () async throws(VaultError) -> Void) async -> VaultError? {
  do throws(VaultError) { try await body() } catch { return error }
  return nil
}
