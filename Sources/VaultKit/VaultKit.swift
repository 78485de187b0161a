// The vault: what a program that keeps secrets imports.
//
// `Vault` is the actor that programs use; `VaultCore` is the same vault as a synchronous object, which the actor and
// `vaultctl` share. Both lend transactions: a `ReadTransaction` is one state of the vault, a `WriteTransaction` is a set
// of changes that become durable together. `Gate` decides inside a transaction whether an item may be opened, and
// `Authentication` asks a person where an item has an access rule.
//
// Read in this order: `Vault.swift`, `Core/VaultCore.swift`, `Transactions/`, `Access/Gate.swift`, then the directory of
// your task: `Verification/`, `Items/`, `Keys/` or `Maintenance/`.
//
// Below VaultKit are four rooms that it exports, so that a program imports VaultKit alone: `VaultFormat` (the bytes of
// the file as values, and `VaultError`), `DeviceKeys` (who keeps the device key), `VaultKeys` (the open keys) and
// `SealedStorage` (rows in, opened values out).

@_exported public import DeviceKeys
@_exported public import SealedStorage
@_exported public import VaultFormat
@_exported public import VaultKeys
