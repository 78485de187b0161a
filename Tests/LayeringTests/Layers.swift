/// The rooms in the order in which they stand on each other, and what each may import of ours.
///
/// `docs/map.md` says the same to people. A new edge is a decision: it changes both.
enum Layers {
  struct Room {
    let name: String
    let mayImport: Set<String>

    init(_ name: String, on mayImport: Set<String> = []) {
      self.name = name
      self.mayImport = mayImport
    }
  }

  static let rooms = [
    Room("CLinux"),
    Room("COTPKernels"),
    Room("CPAM"),
    Room("CSystemd"),
    Room("CUnistring"),
    Room("CSecretService"),
    Room("COpenSSL"),
    Room("CArgon2"),
    Room("CLaneThreads", on: ["CArgon2"]),
    Room("CSQLite"),
    Room("CCurl"),
    Room("ErrorRecovery"),
    Room("VaultLogging", on: ["CLinux"]),
    Room("SecretMemory", on: ["CLinux"]),
    Room("TextPreparation", on: ["SecretMemory", "CUnistring"]),
    Room("VaultCrypto", on: ["SecretMemory", "CLinux", "COpenSSL"]),
    Room("PasswordDerivation", on: ["SecretMemory", "CArgon2"]),
    Room(
      "OneTimePassword",
      on: ["ErrorRecovery", "SecretMemory", "TextPreparation", "VaultCrypto", "COTPKernels"]),
    Room("VaultStorage", on: ["CLinux", "CSQLite"]),
    Room("TrustedPaths"),
    Room("TextFormats", on: ["SecretMemory"]),
    Room(
      "VaultFormat",
      on: [
        "ErrorRecovery", "VaultLogging", "SecretMemory", "TextPreparation", "TextFormats", "VaultCrypto",
        "PasswordDerivation", "VaultStorage",
      ]),
    Room("DeviceKeys", on: ["SecretMemory", "VaultCrypto", "VaultStorage", "VaultFormat", "CSecretService"]),
    Room(
      "VaultKeys",
      on: [
        "SecretMemory", "TextPreparation", "VaultCrypto", "PasswordDerivation", "OneTimePassword",
        "VaultStorage", "VaultFormat", "DeviceKeys",
        "CLinux",
      ]),
    Room(
      "SealedStorage",
      on: [
        "SecretMemory", "TextPreparation", "VaultCrypto", "VaultStorage", "VaultFormat", "DeviceKeys",
        "VaultKeys",
      ]),
    Room(
      "VaultKit",
      on: [
        "VaultLogging", "SecretMemory", "TextPreparation", "VaultCrypto", "PasswordDerivation",
        "VaultStorage", "VaultFormat",
        "DeviceKeys", "VaultKeys", "SealedStorage", "CLinux",
      ]),
    Room("PAMMessages", on: ["SecretMemory"]),
    Room("PAMHelper", on: ["SecretMemory", "CLinux", "PAMMessages", "CPAM"]),
    Room("AgentMessages", on: ["SecretMemory", "CLinux"]),
    Room("JOSE", on: ["SecretMemory", "VaultCrypto", "TextFormats"]),
    Room(
      "VaultPrompts",
      on: [
        "SecretMemory", "TextPreparation", "TrustedPaths", "VaultKit", "CLinux", "PAMMessages", "CSystemd",
      ]),
    Room(
      "AuthenticatorKit",
      on: [
        "VaultLogging", "SecretMemory", "TextPreparation", "VaultCrypto", "OneTimePassword", "TextFormats",
        "JOSE", "VaultKit",
      ]),
    Room("VaultTestKit", on: ["SecretMemory", "VaultCrypto", "PasswordDerivation", "VaultKit"]),
    Room(
      "TransportPrograms",
      on: [
        "VaultLogging", "SecretMemory", "TrustedPaths", "VaultKit", "AuthenticatorKit", "TextFormats",
        "CLinux",
      ]),
    Room("HTTPTransport", on: ["SecretMemory", "TextFormats", "TrustedPaths", "CLinux", "CCurl"]),
    Room(
      "CommandLineKit", on: ["ErrorRecovery", "SecretMemory", "TextPreparation", "TextFormats", "CLinux"]),
    Room(
      "VaultWords",
      on: [
        "ErrorRecovery", "TextFormats", "CommandLineKit", "OneTimePassword", "VaultKit", "AuthenticatorKit",
      ]),
    Room(
      "VaultDoctor",
      on: [
        "SecretMemory", "TextFormats", "CommandLineKit", "VaultKit", "VaultPrompts", "VaultWords", "CLinux",
      ]),
    Room(
      "VaultCommands",
      on: [
        "VaultLogging", "SecretMemory", "TextPreparation", "TextFormats", "CommandLineKit",
        "OneTimePassword", "VaultKit",
        "VaultPrompts",
        "AuthenticatorKit", "TransportPrograms", "TrustedPaths", "VaultWords", "VaultDoctor", "AgentMessages",
        "CLinux",
      ]),
    Room(
      "VaultAgent",
      on: [
        "SecretMemory", "CommandLineKit", "VaultKit", "VaultPrompts", "VaultWords", "AgentMessages",
        "VaultCommands", "CLinux",
      ]),
    Room(
      "ToolTestKit",
      on: ["TrustedPaths", "CommandLineKit", "VaultCommands", "VaultPrompts", "VaultKit", "VaultTestKit"]),
    Room("vaultctl", on: ["VaultCommands", "CLaneThreads"]),
    Room("vaultd", on: ["VaultAgent", "VaultCommands", "CLaneThreads"]),
    Room("vaultd-testing", on: ["VaultAgent", "VaultCommands", "ToolTestKit", "CLaneThreads"]),
    Room("KeeperPlacement", on: ["SecretMemory", "TrustedPaths", "AgentMessages", "PAMMessages", "CLinux"]),
    Room("vault-keeper", on: ["KeeperPlacement"]),
    Room("vault-pam", on: ["PAMHelper"]),
    Room("vault-pam-testing", on: ["PAMHelper"]),
    Room("vault-http", on: ["HTTPTransport"]),
    Room(
      "vaultctl-testing",
      on: [
        "CommandLineKit", "VaultCommands", "VaultPrompts", "VaultKit", "VaultTestKit", "ToolTestKit",
        "CLaneThreads",
      ]),
    Room(
      "vault-torture",
      on: [
        "SecretMemory", "VaultCrypto", "PasswordDerivation", "OneTimePassword", "VaultKit",
        "AuthenticatorKit", "VaultTestKit", "CLaneThreads",
      ]),
    Room(
      "VaultBenchmarking",
      on: [
        "SecretMemory", "VaultCrypto", "PasswordDerivation", "OneTimePassword", "VaultKit",
        "AuthenticatorKit",
        "VaultTestKit", "CLaneThreads",
      ]),
    Room(
      "VaultFuzzing",
      on: ["SecretMemory", "VaultKit", "AuthenticatorKit", "CommandLineKit", "VaultCommands"]),
  ]

  /// What any room may import from outside: no Foundation, it costs start-up time and copies secrets.
  static let system: Set<String> = ["Glibc", "Dispatch", "Synchronization"]

  /// Our own C code; every other `C…` room is a library that exactly one module may import.
  static let ownC: Set<String> = ["CLinux", "COTPKernels", "CLaneThreads"]

  /// Below `Tests` and for tests alone; no room may import them.
  static let testSupport: Set<String> = ["TestSupport", "VaultExpectations", "GuidePrograms"]

  /// The rooms that a room imports, and those that they import.
  static func below(_ name: String) -> Set<String> {
    var found: Set<String> = []
    var next = room(name)?.mayImport ?? []
    while let one = next.popFirst() {
      if found.insert(one).inserted { next.formUnion(room(one)?.mayImport ?? []) }
    }
    return found
  }

  static func room(_ name: String) -> Room? {
    rooms.first { $0.name == name }
  }

  /// One sentence for each edge of `dependencies` that `rooms` does not allow.
  static func violations(ofTargets dependencies: [String: Set<String>]) -> [String] {
    dependencies.sorted { $0.key < $1.key }.flatMap { name, edges -> [String] in
      guard let room = room(name) else { return ["\(name) is in the manifest but in no row of Layers.rooms"] }
      return edges.subtracting(room.mayImport).sorted().map { "\(name) must not depend on \($0)" }
    }
  }

  /// One sentence for each import in `source` that a file of `name` may not have.
  static func violations(ofSource source: String, in name: String) -> [String] {
    let allowed = (room(name)?.mayImport ?? []).union(system)
    return Imports(of: source).modules.subtracting(allowed).sorted().map { "\(name) must not import \($0)" }
  }
}
