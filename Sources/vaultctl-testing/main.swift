import VaultCommands

if CommandLine.arguments.dropFirst().first == "generate-man" { writeManualPages() }
VaultControl.main(in: .testing)
