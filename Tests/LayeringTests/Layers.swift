/// The rooms, and what each may import of ours, as Package.swift says it: the one table of the layers.
struct Layers {
  struct Room {
    let name: String
    /// Its directory, from the root.
    let path: String
    let mayImport: Set<String>
  }

  let rooms: [Room]

  init(_ manifest: Manifest) {
    rooms = manifest.targets
      .filter { target in Repository.placesOfRooms.contains { target.path.hasPrefix($0 + "/") } }
      .map { Room(name: $0.name, path: $0.path, mayImport: $0.dependencies) }
  }

  static func read() throws -> Layers { try Layers(Manifest.read()) }

  /// What any room may import from outside: no Foundation, it costs start-up time and copies secrets.
  static let system: Set<String> = ["Glibc", "Dispatch", "Synchronization"]

  /// Our own C code; every other `C…` room is a library that exactly one module may import.
  static let ownC: Set<String> = ["CLinux", "COTPKernels", "CLaneThreads"]

  /// Edges that no manifest lists: a room refers to what a room that it imports exports (`@_exported import`). Each is named here.
  /// A new one fails, and so does one that is gone. `scripts/structure --edges` prints what each refers to.
  static let byReexport: [String: Set<String>] = [
    "AuthenticatorKit": ["ErrorRecovery", "VaultFormat", "VaultKeys"],
    "ToolTestKit": ["VaultFormat", "VaultKeys"],
    "TransportPrograms": ["VaultFormat"],
    "VaultAgent": ["VaultFormat", "VaultKeys"],
    "VaultCommands": ["DeviceKeys", "SealedStorage", "VaultFormat", "VaultKeys"],
    "VaultDoctor": ["DeviceKeys", "VaultFormat", "VaultKeys"],
    "VaultFuzzing": ["ErrorRecovery", "VaultFormat"],
    "VaultPrompts": ["DeviceKeys", "VaultFormat", "VaultKeys"],
    "VaultTestKit": ["DeviceKeys", "VaultFormat", "VaultKeys"],
    "VaultWords": ["VaultFormat", "VaultKeys"],
    "vault-bench": ["DeviceKeys", "VaultFormat", "VaultKeys"],
    "vault-torture": ["DeviceKeys", "VaultFormat", "VaultKeys"],
    "vault-unlinked": ["DeviceKeys", "VaultFormat", "VaultKeys"],
    "vaultctl-testing": ["VaultFormat"],
  ]

  /// The rooms that a room imports, and those that they import.
  func below(_ name: String) -> Set<String> {
    var found: Set<String> = []
    var next = room(name)?.mayImport ?? []
    while let one = next.popFirst() {
      if found.insert(one).inserted { next.formUnion(room(one)?.mayImport ?? []) }
    }
    return found
  }

  func room(_ name: String) -> Room? {
    rooms.first { $0.name == name }
  }

  func room(ofFile file: String) -> Room? {
    rooms.first { file.hasPrefix($0.path + "/") }
  }

  /// One sentence for each import in `source` that a file of `name` may not have.
  func violations(ofSource source: String, in name: String) -> [String] {
    let allowed = (room(name)?.mayImport ?? []).union(Self.system)
    return Imports(of: source).modules.subtracting(allowed).sorted().map { "\(name) must not import \($0)" }
  }
}
