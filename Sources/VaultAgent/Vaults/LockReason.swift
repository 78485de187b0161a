/// Why the agent locked a vault, as the log of the vault says it.
package enum LockReason: String, Sendable, CaseIterable {
  case command = "a command locked it"
  case idle = "no secret was used for the idle time"
  case leaseEnded = "the time of the unlock was over"
  case ending = "the agent ended"
  case sleep = "the machine went to sleep"
  case sessionLocked = "the session of the user was locked"
  case sessionsEnded = "the last session of the user ended"
  case fileReplaced = "another file took the place of the vault file"
  case moved = "it was about to be moved out of the keeper"
  case descriptors = "too many commands had its file as input or output"
}
