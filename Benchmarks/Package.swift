// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "vault", path: "..")],
  targets: [
    // The peers, in C: OpenSSL, libargon2 and SQLite, which the product also needs, are linked;
    // liboath, libsodium and LMDB are loaded if they are installed.
    .target(
      name: "CPeers",
      cSettings: [.unsafeFlags(["-O2"])],
      linkerSettings: [
        .linkedLibrary("crypto"), .linkedLibrary("argon2"), .linkedLibrary("sqlite3"), .linkedLibrary("dl"),
      ]),
    .executableTarget(
      name: "vault-bench",
      dependencies: [
        "CPeers",
        .product(name: "VaultBenchmarking", package: "vault"),
        .product(name: "VaultKit", package: "vault"),
        .product(name: "OneTimePassword", package: "vault"),
        .product(name: "SecretMemory", package: "vault"),
      ],
      swiftSettings: strict),
  ]
)
