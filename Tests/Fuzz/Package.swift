// swift-tools-version: 6.2
import PackageDescription

/// Fuzz targets, in a package of their own: libFuzzer brings its own `main`, so an ordinary build cannot link them
/// (docs/decisions/0002). `scripts/fuzz` builds and runs them. A target sees only what is public.
func fuzzed(_ name: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: [
      .product(name: "OneTimePassword", package: "vault"), .product(name: "SecretMemory", package: "vault"),
    ],
    swiftSettings: [
      .swiftLanguageMode(.v6), .strictMemorySafety(), .unsafeFlags(["-parse-as-library"]),
    ])
}

let package = Package(
  name: "vault-fuzz",
  dependencies: [.package(name: "vault", path: "../..")],
  targets: [fuzzed("otpauth"), fuzzed("ocra-suite")])
