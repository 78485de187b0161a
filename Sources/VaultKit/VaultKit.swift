@_exported public import DeviceKeys
@_exported public import SealedStorage
@_exported public import VaultFormat
@_exported public import VaultKeys
