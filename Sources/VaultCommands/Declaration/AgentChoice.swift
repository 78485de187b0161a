import CommandLineKit

/// Whether a command asks the agent to run its verb: the option values of `--agent`, and those of its variable.
enum AgentChoice: String {
  /// If one runs.
  case auto
  case never
  case required

  /// `--agent`, else `$VAULTCTL_AGENT`, else ``auto``.
  ///
  /// - Throws: Exit 2 if the variable has another word.
  init(_ invocation: Invocation, in environment: Environment) throws(CommandError) {
    if let choice = invocation[CommonOptions.agent] {
      self = choice
      return
    }
    guard let word = environment["VAULTCTL_AGENT"], !word.isEmpty else {
      self = .auto
      return
    }
    guard let choice = AgentChoice(rawValue: word) else {
      throw .usage(
        "$VAULTCTL_AGENT takes one of auto, never, required",
        hint: "unset it, or give --agent, which is read first")
    }
    self = choice
  }
}
