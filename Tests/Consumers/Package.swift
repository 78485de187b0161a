// swift-tools-version: 6.2
import PackageDescription

/// A package that depends on ours, as another project's does. `scripts/consumers` builds it in several ways; with
/// `VAULT_URL` it takes our package from a git repository with a tag.
let vault: Package.Dependency =
  if let url = Context.environment["VAULT_URL"] {
    .package(url: url, from: "0.1.0")
  } else {
    .package(name: "vault", path: "../..")
  }

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "vault") }

let everything = ["VaultKit", "AuthenticatorKit", "OneTimePassword", "VaultTestKit"].map(product)

let cxx: [Target] =
  Context.environment["VAULT_WITHOUT_CXX"] != nil
  ? []
  : [
    .executableTarget(
      name: "with-cxx", dependencies: everything, swiftSettings: [.interoperabilityMode(.Cxx)])
  ]

let package = Package(
  name: "consumers",
  dependencies: [vault],
  targets: [
    // The programs of docs/guides/using-the-library.md, and what runs them.
    .target(name: "Programs", dependencies: everything),
    .executableTarget(name: "run-programs", dependencies: ["Programs", product("LaneThreads")]),
    // One-time passwords alone: neither libargon2 nor SQLite.
    .executableTarget(name: "codes", dependencies: [product("OneTimePassword")]),
    .executableTarget(
      name: "in-swift-5", dependencies: everything, swiftSettings: [.swiftLanguageMode(.v5)]),
  ] + cxx
)
