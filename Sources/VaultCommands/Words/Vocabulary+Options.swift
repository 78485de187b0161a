import CommandLineKit

extension Vocabulary {
  /// Options of others, and what to do here. The words of an option are no secret, its value may be one.
  static let optionAdvice = [
    OptionAdvice("password", onInput), OptionAdvice("pass", onInput), OptionAdvice("secret", onInput),
    OptionAdvice("passphrase", onInput), OptionAdvice("passcode", viaDescriptor),
    OptionAdvice("pin", of: "code otp run", viaDescriptor),
    OptionAdvice("password-stdin", "standard input is read without an option"),
    OptionAdvice("stdin", "standard input is read without an option"),
    OptionAdvice("note", ofNotes), OptionAdvice("notes", ofNotes), OptionAdvice("multiline", ofNotes),
    OptionAdvice("m", ofNotes),
    OptionAdvice("website", of: "add edit", "an address is given with --url"),
    OptionAdvice("uri", of: "add edit", "an address is given with --url"),
    OptionAdvice("site", of: "add edit", "an address is given with --url"),
    OptionAdvice("title", "the name is given without an option"),
    OptionAdvice("name", "the name is given without an option"),
    OptionAdvice("n", "a password of letters and digits alone: -g 24:alnum"),
    OptionAdvice("no-symbols", "a password of letters and digits alone: -g 24:alnum"),
    OptionAdvice("length", "the length is the value of -g: -g 20"),
    OptionAdvice("L", "the length is the value of -g: -g 20"),
    OptionAdvice("words", "-g 6:words makes a password of six words"),
    OptionAdvice("in-place", "'vaultctl edit NAME -g' makes a new password for an entry"),
    OptionAdvice("i", "'vaultctl edit NAME -g' makes a new password for an entry"),
    OptionAdvice("generate", of: "get show", "'vaultctl edit NAME -g' makes a new password"),
    OptionAdvice("c", "'vaultctl get NAME -c' copies the password"),
    OptionAdvice("copy", "'vaultctl get NAME -c' copies the password"),
    OptionAdvice("clip", "'vaultctl get NAME -c' copies the password"),
    OptionAdvice("reveal", of: "get", "'vaultctl get NAME' prints the password as it is"),
    OptionAdvice("raw", "what is printed has nothing around it; --json prints an object"),
    OptionAdvice("otp", "'vaultctl code NAME' prints a one-time code"),
    OptionAdvice("totp", "'vaultctl code NAME' prints a one-time code"),
    OptionAdvice("t", of: "get show", "'vaultctl code NAME' prints a one-time code"),
    OptionAdvice("fields", of: "get", "'vaultctl get NAME FIELD' prints one part"),
    OptionAdvice("field", of: "show", "'vaultctl get NAME FIELD' prints one part"),
    OptionAdvice("format", "--json prints an object"), OptionAdvice("output", "--json prints an object"),
    OptionAdvice("verbose", toLog), OptionAdvice("v", toLog), OptionAdvice("debug", toLog),
    OptionAdvice("quiet", "nothing but the result goes to standard output; --no-input never asks"),
    OptionAdvice("silent", "nothing but the result goes to standard output; --no-input never asks"),
    OptionAdvice("force", "--yes does not ask, where something is asked"),
    OptionAdvice("f", "--yes does not ask, where something is asked"),
    OptionAdvice("recursive", of: "rm", "each entry is removed by its name"),
    OptionAdvice("r", of: "rm", "each entry is removed by its name"),
    OptionAdvice("folder", "a name may have a slash, as work/mail"),
    OptionAdvice("group", "a name may have a slash, as work/mail"),
    OptionAdvice("file", "--vault names a vault"), OptionAdvice("database", "--vault names a vault"),
    OptionAdvice("db", "--vault names a vault"),
    OptionAdvice("key-file", "--device-key names the device key"),
    OptionAdvice("timeout", of: "get code", "the time is the value of --copy: --copy 30s"),
    OptionAdvice(
      "session", of: "get show ls find code", "'vaultctl unlock' unlocks the vault for later commands"),
    OptionAdvice("verify", of: "audit", "--check checks the log"),
  ]

  private static let onInput = "give a secret on standard input, never as an argument; -g makes a password"
  private static let viaDescriptor =
    "'vaultctl help secrets' says how a secret is given; never as an argument"
  private static let ofNotes = "notes are lines: --notes-file PATH, or 'vaultctl edit NAME -e'"
  private static let toLog = "--log AUTH,VAULT logs what is done to standard error"
}
