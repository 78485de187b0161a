// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors where our scripts build, by `VAULT_WARNINGS=errors` (docs/decisions/0025). Where another package
/// builds ours they are not: SwiftPM suppresses the warnings of dependencies, and the compiler refuses both at once.
let isOurBuild = Context.environment["VAULT_WARNINGS"] == "errors"
let warnings: [SwiftSetting] = isOurBuild ? [.treatAllWarnings(as: .error)] : []

/// The settings every target of ours is built with: nothing is switched off anywhere.
let strict: [SwiftSetting] =
  warnings + [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]

func room(_ name: String, on dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A target of C. The C library checks the sizes of buffers that the compiler knows, in optimized code alone.
func native(
  _ name: String, on dependencies: [Target.Dependency] = [], linking libraries: [LinkerSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/CSystem/\(name)",
    cSettings: [.define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release))],
    linkerSettings: libraries)
}

/// Tests are compiled without being optimized: what they test is, and to optimize them takes half of a build. Where a test
/// looks for what is left of secrets in memory, or computes much, it is optimized like all else.
func tests(
  of name: String, isOptimized: Bool = false, isSplit: Bool = false, on dependencies: [Target.Dependency]
) -> Target {
  // Their modules are not imported, so they need no pass of their own. The last large module is split between several
  // compilers, so that it keeps no core waiting; together they take a little longer than one.
  let quick =
    isSplit
    ? [
      "-no-whole-module-optimization", "-num-threads", "0", "-enable-batch-mode",
      "-no-emit-module-separately",
    ]
    : ["-no-emit-module-separately-wmo"]
  // The compiler need not check itself, nor list what the modules of the system declare.
  let unchecked = [
    "-Xfrontend", "-disable-llvm-verify", "-Xfrontend", "-sil-verify-none", "-index-ignore-system-modules",
    "-index-ignore-clang-modules",
  ]
  let speed: [SwiftSetting] =
    isOptimized ? [] : [.unsafeFlags(["-Onone"] + quick + unchecked, .when(configuration: .release))]
  return .testTarget(name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: strict + speed)
}

/// What no test measures is not optimized either, where our scripts build it for tests.
let unoptimized: [SwiftSetting] = isOurBuild ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : []

/// How our scripts link a tool of the tests, so that it starts in half of the time: with the runtimes of Swift and C++ in it,
/// at a fixed address, without names for others. What is installed gets no fixed address. The sanitizer of threads takes the
/// place of functions of Swift's runtime, which is a library of its own then.
let quickStart: [LinkerSetting] =
  isOurBuild && Context.environment["VAULT_SANITIZER"] == nil
  ? [
    .unsafeFlags(
      [
        "-static-stdlib", "-use-ld=lld", "-L\(Context.packageDirectory)/.build/link", "-Xlinker",
        "--no-export-dynamic",
        "-Xclang-linker", "-static-libgcc", "-Xclang-linker", "-no-pie",
      ], .when(configuration: .release))
  ] : []

/// A tool that tests start thousands of times and that is never installed. No target may depend on it, or its way of linking
/// would hold for the tests as well; all are built with the tests anyway.
func testTool(_ name: String, on dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/Tools/\(name)", swiftSettings: strict,
    linkerSettings: quickStart)
}

/// What only tests import.
func testRoom(_ name: String, on dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, path: "Tests/Tools/\(name)", swiftSettings: strict)
}

/// The program of scripts/fuzz. libFuzzer brings its own `main`, so an ordinary build cannot link it and leaves it out.
let fuzzer: [Target] =
  Context.environment["VAULT_FUZZER"] == nil
  ? []
  : [
    .executableTarget(
      name: "vault-fuzz", dependencies: ["VaultFuzzing"], path: "Tests/Fuzz/vault-fuzz",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
  ]

let package = Package(
  name: "vault",
  products: [
    // What a program takes as one, each with all modules that it imports (docs/decisions/0074).
    .library(name: "VaultKit", targets: ["VaultKit", "SecretMemory", "VaultPrompts"]),
    .library(name: "AuthenticatorKit", targets: ["AuthenticatorKit", "TransportPrograms"]),
    .library(name: "OneTimePassword", targets: ["OneTimePassword", "SecretMemory"]),
    .library(name: "VaultTestKit", targets: ["VaultTestKit"]),
    // For a program that is to derive keys on several threads: it replaces the program's `pthread_create`.
    .library(name: "LaneThreads", targets: ["CLaneThreads"]),
    .executable(name: "vaultctl", targets: ["vaultctl"]),
    .executable(name: "vaultd", targets: ["vaultd"]),
    .executable(name: "vault-keeper", targets: ["vault-keeper"]),
    .executable(name: "vault-pam", targets: ["vault-pam"]),
    .executable(name: "vault-http", targets: ["vault-http"]),
  ],
  targets: [
    // C, each imported by exactly one Swift module (CLinux, our own, by those that need the kernel).
    native("CLinux"),
    native("COTPKernels"),
    // libpam, linked by the helper alone: by its file, since the build needs no headers of PAM.
    native("CPAM", linking: [.linkedLibrary(":libpam.so.0")]),
    // One derivation by libargon2 that cannot fail for lack of threads.
    native("CArgon2", linking: [.linkedLibrary("argon2")]),
    // Its lanes on threads, in the programs that link this.
    native("CLaneThreads", on: ["CArgon2"]),
    // sd-bus by dlopen, when it is first needed.
    native("CSystemd"),
    // The tables of libunistring by dlopen, when text needs them.
    native("CUnistring"),
    native("CSecretService"),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/CSystem/COpenSSL", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", path: "Sources/CSystem/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    // Linked by vault-http alone; with libcrypto, whose buffers it has wiped.
    .systemLibrary(
      name: "CCurl", path: "Sources/CSystem/CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),

    // What a program can do after an error; the same for all public errors.
    room("ErrorRecovery"),
    // Log lines that hide what is private.
    room("VaultLogging", on: ["CLinux"]),
    // Whether only root and this user decide which file a path names.
    room("TrustedPaths"),
    // Secrets in memory: one owner, locked, wiped.
    room("SecretMemory", on: ["CLinux", "TrustedPaths"]),
    // Text from people and files: Unicode forms, lines, codes, in secret memory.
    room("TextPreparation", on: ["SecretMemory", "CUnistring"]),
    // Ciphers, hashes and signatures of OpenSSL, and the two seals made of them.
    room("VaultCrypto", on: ["SecretMemory", "CLinux", "COpenSSL"]),
    // Argon2id: the key that is made from what a person types.
    room("PasswordDerivation", on: ["SecretMemory", "CArgon2"]),
    // HOTP, TOTP, Steam, Base32, otpauth URIs, verification windows: pure values, no vault.
    room(
      "OneTimePassword",
      on: ["ErrorRecovery", "SecretMemory", "TextPreparation", "VaultCrypto", "COTPKernels"]),
    // The SQLite file: connection, schema, records. Knows bytes, no keys.
    room("VaultStorage", on: ["CLinux", "CSQLite"]),
    // JSON, base64 and UTF-8, written and read without letting a secret out of secret memory.
    room("TextFormats", on: ["SecretMemory"]),
    // The bytes of a vault file as values: one file per section of docs/format/vault-file.md.
    room(
      "VaultFormat",
      on: [
        "ErrorRecovery", "VaultLogging", "SecretMemory", "TextPreparation", "TextFormats", "VaultCrypto",
        "PasswordDerivation", "VaultStorage",
      ]),
    // Who keeps the device key: a file or the Secret Service; the one owner of device keys.
    room(
      "DeviceKeys",
      on: ["SecretMemory", "TextFormats", "VaultCrypto", "VaultStorage", "VaultFormat", "CSecretService"]),
    // The open keys of a vault and their changes: ring, slots, passcode, recovery code.
    room(
      "VaultKeys",
      on: [
        "SecretMemory", "TextPreparation", "VaultCrypto", "PasswordDerivation", "OneTimePassword",
        "VaultStorage", "VaultFormat", "DeviceKeys",
        "CLinux",
      ]),
    // Store and keys together: rows in, opened values out.
    room(
      "SealedStorage",
      on: [
        "SecretMemory", "TextPreparation", "VaultCrypto", "VaultStorage", "VaultFormat", "DeviceKeys",
        "VaultKeys",
      ]),
    // The vault: transactions, access, passcode, backup, rotation, verification.
    room(
      "VaultKit",
      on: [
        "VaultLogging", "SecretMemory", "TextPreparation", "VaultCrypto", "PasswordDerivation",
        "VaultStorage", "VaultFormat",
        "DeviceKeys", "VaultKeys", "SealedStorage", "CLinux",
      ]),
    // What a program that asks PAM and its helper say to each other.
    room("PAMMessages", on: ["SecretMemory"]),
    // The helper, in which PAM's modules run.
    room("PAMHelper", on: ["SecretMemory", "CLinux", "PAMMessages", "CPAM"]),
    // What a command and the agent, in which its verb runs, say to each other.
    room("AgentMessages", on: ["SecretMemory", "CLinux"]),
    // What only root can do for the keeper, `vaultd` under a user id of its own: directories, socket, rights.
    room("KeeperPlacement", on: ["SecretMemory", "TrustedPaths", "AgentMessages", "PAMMessages", "CLinux"]),
    // Signed tokens: JWS, JWT, JWK, proofs of possession, assertions of clients: pure values, no vault.
    room("JOSE", on: ["SecretMemory", "VaultCrypto", "TextFormats"]),
    // People: terminal, pinentry, PAM, fprintd.
    room(
      "VaultPrompts",
      on: [
        "SecretMemory", "TextPreparation", "TrustedPaths", "VaultKit", "CLinux", "PAMMessages", "CSystemd",
      ]),
    // Authenticator components on top of the vault.
    room(
      "AuthenticatorKit",
      on: [
        "VaultLogging", "SecretMemory", "TextPreparation", "VaultCrypto", "OneTimePassword", "TextFormats",
        "JOSE", "VaultKit",
      ]),
    // What tests of ours and of our users need: fixed clock and randomness, temporary vaults, tampering.
    room("VaultTestKit", on: ["SecretMemory", "VaultCrypto", "PasswordDerivation", "VaultKit"]),
    // The way to a server through a program.
    room(
      "TransportPrograms",
      on: [
        "VaultLogging", "SecretMemory", "TrustedPaths", "VaultKit", "AuthenticatorKit", "TextFormats",
        "CLinux",
      ]),
    // The program that takes requests to a server over HTTPS: configuration, mapping, libcurl. It knows no vault.
    room("HTTPTransport", on: ["SecretMemory", "TextFormats", "TrustedPaths", "CLinux", "CCurl"]),
    // What a command-line tool that handles secrets is made of; it knows no vault.
    room(
      "CommandLineKit", on: ["ErrorRecovery", "SecretMemory", "TextPreparation", "TextFormats", "CLinux"]),
    // What vaultctl calls the values and errors of the library: exit codes, sentences, words of options.
    room(
      "VaultWords",
      on: [
        "ErrorRecovery", "TextFormats", "CommandLineKit", "OneTimePassword", "VaultKit", "AuthenticatorKit",
      ]),
    // What the doctor finds about a vault and its machine.
    room(
      "VaultDoctor",
      on: [
        "SecretMemory", "TextFormats", "CommandLineKit", "VaultKit", "VaultPrompts", "VaultWords", "CLinux",
      ]),
    // The verbs of vaultctl. Its world (clock, randomness, derivation, prompts) is one value.
    room(
      "VaultCommands",
      on: [
        "VaultLogging", "SecretMemory", "TextPreparation", "TextFormats", "CommandLineKit",
        "OneTimePassword", "VaultKit",
        "VaultPrompts",
        "AuthenticatorKit", "TransportPrograms", "TrustedPaths", "VaultWords", "VaultDoctor", "AgentMessages",
        "CLinux",
      ]),
    // The agent: open vaults with their leases, and the verbs of commands that run in it.
    room(
      "VaultAgent",
      on: [
        "SecretMemory", "CommandLineKit", "VaultKit", "VaultPrompts", "VaultWords", "AgentMessages",
        "TrustedPaths", "VaultCommands", "CLinux",
      ]),
    .executableTarget(
      name: "vaultctl", dependencies: ["VaultCommands", "CLaneThreads"], swiftSettings: strict),
    .executableTarget(
      name: "vaultd", dependencies: ["VaultAgent", "VaultCommands", "CLaneThreads"], swiftSettings: strict),
    .executableTarget(name: "vault-keeper", dependencies: ["KeeperPlacement"], swiftSettings: strict),
    .executableTarget(name: "vault-pam", dependencies: ["PAMHelper"], swiftSettings: strict),
    .executableTarget(name: "vault-http", dependencies: ["HTTPTransport"], swiftSettings: strict),

    // What tests start and import, and nobody installs.
    // The world of the tool and of the agent in tests.
    testRoom(
      "ToolTestKit",
      on: ["TrustedPaths", "CommandLineKit", "VaultCommands", "VaultPrompts", "VaultKit", "VaultTestKit"]),
    // The same helper with the services of a folder.
    .executableTarget(
      name: "vault-pam-testing", dependencies: ["PAMHelper"], path: "Tests/Tools/vault-pam-testing",
      swiftSettings: strict),
    // The same tool in a test world.
    testTool(
      "vaultctl-testing",
      on: [
        "CommandLineKit", "VaultCommands", "VaultPrompts", "VaultKit", "VaultTestKit", "ToolTestKit",
        "CLaneThreads",
      ]),
    // The same agent in that world.
    testTool("vaultd-testing", on: ["VaultAgent", "VaultCommands", "ToolTestKit", "CLaneThreads"]),
    // What the torture tests start, kill and race.
    testTool(
      "vault-torture",
      on: [
        "SecretMemory", "VaultCrypto", "PasswordDerivation", "OneTimePassword", "VaultKit",
        "AuthenticatorKit", "VaultTestKit", "CLaneThreads",
      ]),
    // A program without any component, for what it may do to their items.
    testTool("vault-unlinked", on: ["SecretMemory", "VaultKit", "VaultTestKit"]),
    // What the fuzzer and the tests hand any text to.
    testRoom(
      "VaultFuzzing",
      on: [
        "SecretMemory", "OneTimePassword", "VaultKit", "AuthenticatorKit", "CommandLineKit", "VaultCommands",
      ]),
    // What a user could choose instead, in C. Libraries that the package does not need are loaded, if they are installed.
    .target(
      name: "CPeers", path: "Benchmarks/CPeers",
      linkerSettings: ["crypto", "argon2", "sqlite3", "dl"].map { .linkedLibrary($0) }),
    // What scripts/bench runs.
    .executableTarget(
      name: "vault-bench",
      dependencies: [
        "SecretMemory", "VaultCrypto", "PasswordDerivation", "OneTimePassword", "VaultKit",
        "AuthenticatorKit", "VaultTestKit", "CLaneThreads", "CPeers",
      ],
      path: "Benchmarks/vault-bench", swiftSettings: strict + unoptimized),

    // What all test targets share: the ids of requirements, programs, a pseudo-terminal.
    .target(name: "TestSupport", dependencies: ["CLinux"], path: "Tests/TestSupport", swiftSettings: strict),
    // What tests expect of a vault: thrown codes, the table of constraints.
    .target(
      name: "VaultExpectations", dependencies: ["VaultKit"], path: "Tests/VaultExpectations",
      swiftSettings: strict),
    // The programs of docs/guides/using-the-library.md, with what runs them. They see what is public, as in the package
    // in Tests/Consumers, to which they belong.
    .target(
      name: "GuidePrograms",
      dependencies: ["SecretMemory", "OneTimePassword", "VaultKit", "AuthenticatorKit", "VaultTestKit"],
      path: "Tests/Consumers/Sources/Programs", packageAccess: false,
      swiftSettings: warnings + [.swiftLanguageMode(.v6)] + unoptimized),

    tests(of: "VaultLoggingTests", on: ["VaultLogging", "VaultKit", "SecretMemory"]),
    tests(of: "SecretMemoryTests", isOptimized: true, on: ["SecretMemory", "CLinux"]),
    tests(of: "VaultCryptoTests", on: ["VaultCrypto", "VaultTestKit", "SecretMemory"]),
    tests(
      of: "PasswordDerivationTests", isOptimized: true,
      on: ["PasswordDerivation", "SecretMemory", "CLaneThreads"]),
    tests(
      of: "OneTimePasswordTests",
      on: ["OneTimePassword", "SecretMemory", "VaultCrypto"]),
    tests(of: "ErrorRecoveryTests", on: ["ErrorRecovery"]),
    tests(of: "VaultStorageTests", on: ["VaultStorage", "VaultTestKit", "CSQLite"]),
    tests(
      of: "VaultFormatTests",
      on: ["VaultFormat", "VaultTestKit", "VaultExpectations", "VaultCrypto", "VaultStorage", "SecretMemory"]),
    tests(
      of: "DeviceKeysTests",
      on: ["DeviceKeys", "VaultFormat", "VaultTestKit", "VaultExpectations", "SecretMemory"]),
    tests(of: "VaultKeysTests", on: ["VaultKeys", "VaultFormat", "VaultTestKit", "SecretMemory"]),
    tests(
      of: "SealedStorageTests",
      on: [
        "SealedStorage", "VaultFormat", "VaultStorage", "VaultTestKit", "VaultExpectations", "SecretMemory",
      ]),
    tests(
      of: "VaultKitTests",
      on: [
        "VaultKit", "AuthenticatorKit", "VaultTestKit", "VaultStorage", "VaultCrypto", "PasswordDerivation",
        "SecretMemory",
        "VaultExpectations",
      ]),
    tests(
      of: "VaultPromptsTests",
      on: [
        "VaultPrompts", "PAMMessages", "CLinux", "VaultKit", "VaultTestKit", "SecretMemory",
        "VaultExpectations",
      ]),
    tests(of: "PAMHelperTests", on: ["PAMHelper", "PAMMessages", "SecretMemory"]),
    tests(of: "KeeperPlacementTests", on: ["KeeperPlacement"]),
    tests(
      of: "AuthenticatorKitTests",
      on: [
        "AuthenticatorKit", "JOSE", "VaultCrypto", "OneTimePassword", "VaultKit", "VaultTestKit",
        "VaultStorage", "SecretMemory", "VaultExpectations",
      ]),
    tests(of: "TextPreparationTests", on: ["TextPreparation", "SecretMemory"]),
    tests(of: "TextFormatsTests", on: ["TextFormats", "SecretMemory"]),
    tests(of: "JOSETests", on: ["JOSE", "TextFormats", "VaultCrypto", "VaultTestKit", "SecretMemory"]),
    tests(
      of: "TransportProgramsTests",
      on: [
        "TransportPrograms", "TrustedPaths", "AuthenticatorKit", "VaultKit", "VaultTestKit", "SecretMemory",
      ]),
    tests(
      of: "HTTPTransportTests",
      on: [
        "HTTPTransport", "TransportPrograms", "AuthenticatorKit", "VaultKit", "SecretMemory", "CLinux",
        "vault-http", "vaultctl",
      ]),
    tests(of: "AgentMessagesTests", on: ["AgentMessages", "SecretMemory", "CLinux"]),
    tests(of: "CommandLineKitTests", on: ["CommandLineKit", "TextFormats", "SecretMemory"]),
    tests(
      of: "VaultCommandsTests", isSplit: true,
      on: [
        "VaultCommands", "VaultWords", "VaultDoctor", "CommandLineKit", "TextFormats", "VaultPrompts",
        "VaultKit",
        "VaultTestKit",
        "VaultStorage", "AuthenticatorKit", "TransportPrograms", "AgentMessages", "SecretMemory", "CLinux",
      ]),
    tests(
      of: "VaultAgentTests",
      on: [
        "VaultAgent", "AgentMessages", "VaultCommands", "CommandLineKit", "VaultKit", "VaultTestKit",
        "SecretMemory", "CLinux",
      ]),
    // A real Secret Service on a bus of its own, and its faults.
    tests(
      of: "SecretServiceTests",
      on: ["VaultKit", "VaultTestKit", "SecretMemory", "VaultExpectations"]),
    tests(of: "LayeringTests", on: []),
    // What the README, the guides and the transcripts show, run as it stands there.
    tests(
      of: "ReadmeTests",
      on: [
        "VaultKit", "AuthenticatorKit", "VaultPrompts", "TransportPrograms", "VaultTestKit", "SecretMemory",
        "GuidePrograms",
      ]),
    tests(
      of: "TortureTests",
      on: [
        "AuthenticatorKit", "OneTimePassword", "VaultKit", "VaultTestKit", "VaultStorage", "VaultCrypto",
        "SecretMemory", "VaultCommands", "CommandLineKit", "VaultFuzzing",
      ]),
  ] + fuzzer
)
