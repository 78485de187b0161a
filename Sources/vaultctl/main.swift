import VaultCommands

VaultControl.main(in: .real)
