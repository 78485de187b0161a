import Testing

/// The start of the program that `scripts/build-tests` makes of all tests, in place of SwiftPM's own, which also looks for
/// tests of XCTest. Its arguments are those that `swift test` passes: `--filter`, `--skip`, `--no-parallel`.
@main
private struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
