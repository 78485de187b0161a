// VaultKit is the vault: items with secrets, sealed in one file, and access to them.
//
// The modules below hold the bytes (VaultFormat), the device key (DeviceKeys), the open keys (VaultKeys) and the rows
// with their seals (SealedStorage). VaultKit re-exports them, so users import only VaultKit. Read in this order:
//
// - `Vault.swift`: ``Vault``, the actor that users of the library call. `Vault+Places.swift`: open or create, restore,
//   recover. `Vault+LifeCycle.swift`: backup, new keys, purge. `Vault+Transactions.swift`: its transactions.
//   `SecretBytes+Sources.swift`: secrets from files and descriptors. `VaultPath.swift`: the path of the file.
// - `Core/`: ``VaultCore``, the synchronous vault behind the actor. It lends transactions.
// - `Transactions/`: ``ReadTransaction`` and ``WriteTransaction``, a state of the vault and the changes of one commit.
// - `Access/`: ``Gate``, the only place that decides whether an item may be used, and ``ItemRule``, what every call
//   keeps of the items of a component. A component shows its right as a ``Component``.
// - `Verification/`: ``AuthenticationContext``, ``Prompt`` and ``Authentication``, which verify a person for the gate.
// - `Items/`: the operations on items, each a transaction and, if needed, a verification.
// - `Keys/`: unlock, passcode, recovery code, members, device keys.
// - `Maintenance/`: create, open, backup, restore, recovery, rotation, `verify`.

@_exported public import DeviceKeys
@_exported public import SealedStorage
@_exported public import VaultFormat
@_exported public import VaultKeys
@_exported public import VaultLogging
