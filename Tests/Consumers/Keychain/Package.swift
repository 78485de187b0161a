// swift-tools-version: 6.2
import PackageDescription

/// A program for Linux and for Apple's systems. Only on Linux does it use a vault.
let package = Package(
  name: "keychain",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "vault", path: "../../..")],
  targets: [
    .target(
      name: "Keychain",
      dependencies: [.product(name: "VaultKit", package: "vault", condition: .when(platforms: [.linux]))]),
    // What `scripts/consumers keychain` runs.
    .executableTarget(name: "keychain-check", dependencies: ["Keychain"]),
  ]
)
