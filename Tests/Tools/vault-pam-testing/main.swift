import PAMHelper

// `vault-pam` with the services of a folder, which is its first word.
let words = CommandLine.arguments
PAMHelper.main(
  PAMSession.Place(startedBy: "pam_start_confdir", folder: words.count > 1 ? words[1] : ""),
  Array(words.dropFirst(2)))
