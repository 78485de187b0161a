import ToolTestKit
import VaultCommands

switch CommandLine.arguments.dropFirst().first {
case "generate-man": writeManualPages()
case "verify-presence": verifyPresence()
case "verify-finger": verifyFinger()
default: VaultControl.main(in: .testing)
}
