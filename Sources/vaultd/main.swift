import VaultAgent
import VaultCommands

VaultAgent.main(in: .real)
