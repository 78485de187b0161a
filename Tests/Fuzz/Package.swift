// swift-tools-version: 6.2
import PackageDescription

/// Fuzz targets, in a package of their own: libFuzzer brings its own `main`, so an ordinary build cannot link them
/// (docs/decisions/0002). `scripts/fuzz` builds and runs them. A target sees only what is a product.
func fuzzed(_ name: String, _ products: String...) -> Target {
  .executableTarget(
    name: name, dependencies: products.map { .product(name: $0, package: "vault") },
    swiftSettings: [
      .swiftLanguageMode(.v6), .strictMemorySafety(), .unsafeFlags(["-parse-as-library"]),
    ])
}

let package = Package(
  name: "vault-fuzz",
  dependencies: [.package(name: "vault", path: "../..")],
  targets: [
    fuzzed("otpauth", "OneTimePassword", "SecretMemory"),
    fuzzed("ocra-suite", "OneTimePassword", "SecretMemory"),
    fuzzed("token-answer", "VaultFuzzing"), fuzzed("json-lines", "VaultFuzzing"),
  ])
