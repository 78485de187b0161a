/// `vaultctl path`.
func runPath(_ command: Command) throws -> Outcome {
  let path = try command.vaultPath
  return Outcome(json: .object([("path", .string(path))]), lines: [path])
}
