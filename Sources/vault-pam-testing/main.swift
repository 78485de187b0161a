import PAMHelper

// `vault-pam` with the services of a folder, which is its one word.
let words = CommandLine.arguments
PAMHelper.main(PAMSession.Place(startedBy: "pam_start_confdir", folder: words.count == 2 ? words[1] : ""))
