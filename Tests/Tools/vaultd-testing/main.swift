import ToolTestKit
import VaultAgent
import VaultCommands

VaultAgent.main(in: .testing)
