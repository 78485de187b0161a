import AgentMessages
import CommandLineKit
import Glibc
import VaultDoctor
import VaultKit
import VaultWords

/// Where the vault and its device key are: named by an option, by a variable, or at the standard path.
struct Places {
  let invocation: Invocation
  let environment: Environment
  private let patience: Patience
  private let interruption: Interruption
  private let keeper: KeeperPlace
  /// What a request to an agent names. The agent has another working directory.
  private let requested: (any OpenVaults)?

  init(invocation: Invocation, world: World) {
    self.invocation = invocation
    environment = world.environment
    patience = world.patience
    interruption = world.interruption
    requested = world.vaults
    keeper = world.keeper
  }

  /// `--vault`, else `$VAULTCTL_PATH`, else `$XDG_DATA_HOME/vaultctl/default.vault`.
  var vault: String {
    get throws(CommandError) {
      if let path = requested?.path, !path.isEmpty { return path }
      if try isInKeeper { return keeper.vault }
      if let path = named { return path }
      guard let path = try unnamed else {
        throw .usage(
          "neither --vault nor $VAULTCTL_PATH nor $HOME says where the vault is", hint: "give --vault PATH")
      }
      return path
    }
  }

  /// `$XDG_DATA_HOME/vaultctl/default.vault`; nil where no variable says where that is.
  ///
  /// - Throws: Exit 14 if the vault is still in the directory of the former name.
  private var unnamed: String? {
    get throws(CommandError) {
      do throws(VaultError) { return try VaultPath.unnamed { environment[$0] }?.path } catch {
        throw CommandError(error)
      }
    }
  }

  /// Refuses an option that a move does not follow.
  func refuseVaultOption() throws(CommandError) {
    guard let given = invocation[CommonOptions.vault], given != KeeperPlace.word else { return }
    throw .usage("this verb has no --vault", hint: "name the file on your side after the verb: PATH")
  }

  /// The absolute path of a vault on the person's side of a move, whatever `$VAULTCTL_PATH` names.
  func persons(_ path: String?) throws(CommandError) -> String {
    let path: String? = if let path { path } else { try unnamed }
    guard let path, !path.hasPrefix(KeeperPlace.word) else {
      throw .usage("the vault on your side is a file", hint: "name it: a PATH after the verb")
    }
    guard let path = FilePlace.absolute(path) else { throw .io("naming the working directory", errno: errno) }
    return path
  }

  /// `--vault`, else `$VAULTCTL_PATH`.
  private var named: String? {
    invocation[CommonOptions.vault] ?? environment["VAULTCTL_PATH"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the vault in the keeper is meant: `keeper:` in place of a path.
  ///
  /// - Throws: Exit 2 for what only begins so, and beside a device key, which the keeper has of its own.
  var isInKeeper: Bool {
    get throws(CommandError) {
      guard requested == nil, let named, named.hasPrefix(KeeperPlace.word) else { return false }
      guard named == KeeperPlace.word else {
        throw .usage(
          "the keeper has one vault, which is named 'keeper:' and not '\(printable(named))'",
          hint: "for a file with that name write ./\(printable(named))")
      }
      guard namedKey == nil else {
        throw .usage(
          "the keeper has its own device key",
          hint: "leave --device-key out and unset VAULTCTL_DEVICE_KEY")
      }
      return true
    }
  }

  /// `--device-key-fd` or `--device-key`, else `$VAULTCTL_DEVICE_KEY`, else the credential of systemd with that name; nil for the standard path.
  var deviceKey: String? {
    if let requested { return requested.deviceKey }
    return namedKey ?? credential
  }

  /// `vaultctl.device-key` of the unit of systemd that this runs in; nil if it has none.
  private var credential: String? {
    guard let path = environment.credential("vaultctl.device-key") else { return nil }
    // One that cannot be looked at is read, which says why.
    return (try? FilePlace.exists(path)) == false ? nil : path
  }

  private var namedKey: String? {
    if let number = invocation[CommonOptions.deviceKeyDescriptor] { return "/dev/fd/\(number)" }
    if let path = invocation[CommonOptions.deviceKey] { return path }
    guard let path = environment["VAULTCTL_DEVICE_KEY"], !path.isEmpty else { return nil }
    return path
  }

  /// The protector that `--protector` names, or else that of `kind`: a file, named or at the standard path, or the
  /// Secret Service.
  func newProtector(_ named: ProtectorKind?, else kind: ProtectorKind = .file) throws -> any Protector {
    switch named ?? kind {
    case .secretService where deviceKey != nil && named != nil:
      throw CommandError.usage(
        "--protector secret-service and --device-key or $VAULTCTL_DEVICE_KEY contradict each other",
        hint: "leave one of them out")
    case .file: return try keys.files()
    case let other: return try protector(other)
    }
  }

  /// Where device keys can be.
  var keys: KeyPlaces {
    let places = self
    return KeyPlaces(named: deviceKey) { kind throws(VaultError) in try places.protector(kind) }
  }

  /// The protector that a vault's header names. The Secret Service may show its own prompt if prompts are allowed and
  /// there is a screen.
  func protector(_ kind: ProtectorKind) throws(VaultError) -> any Protector {
    guard kind == .secretService else { return try VaultEnvironment.standardProtector(kind) }
    let hasScreen = ["WAYLAND_DISPLAY", "DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
    return SecretServiceProtector.standard(
      prompting: hasScreen && invocation.mayPrompt ? .allowed : .never, patience: patience.secretService)
  }

  /// The vault's world, with the protectors and the signals of this command.
  func world(_ vault: VaultEnvironment) -> VaultEnvironment {
    var world = vault
    let places = self
    world.protector = { kind throws(VaultError) in try places.protector(kind) }
    let interruption = interruption
    world.committing = { _ throws(VaultError) in try interruption.commit() }
    return world
  }

  /// The file that remembers the last commit, beside the device key or in its place; nil where none can be made.
  func witnessPath(of outline: VaultOutline) throws(VaultError) -> String? {
    let protector: any Protector =
      outline.protector == .file ? try keys.files() : try self.protector(outline.protector)
    return protector.pathOfWitness(of: outline.deviceKey, in: outline.vault)
  }

  /// The present file of a vault's device key, for messages: the named file, or the file beside it in which the key
  /// waits.
  func keyPath(of outline: VaultOutline) -> String? {
    guard outline.protector == .file, let protector = try? keys.files() else { return nil }
    return protector.presentPath(of: outline.deviceKey, outline.vault)
  }
}
