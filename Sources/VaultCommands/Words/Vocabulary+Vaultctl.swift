package import CommandLineKit

extension Vocabulary {
  /// What people type for the words of `vaultctl` (docs/decisions/0080).
  package static var vaultctl: Vocabulary {
    Vocabulary(
      synonyms: synonyms, redirects: formerWords + peersWords, optionSynonyms: optionSynonyms,
      optionAdvice: optionAdvice, familyVerbs: familyVerbs, familyNames: familyNames,
      prefix: Prefix(
        "item", before: "get show add edit ls find rm mv cp code gen history undo trash help read"),
      bareWord: "show")
  }

  /// Words of other password managers and of the shell that mean one verb and nothing else.
  private static let synonyms = [
    Synonym("list", "ls"), Synonym("list items", "ls"),
    Synonym("search", "find"), Synonym("grep", "find"),
    Synonym("delete", "rm"), Synonym("remove", "rm"), Synonym("del", "rm"), Synonym("delete item", "rm"),
    Synonym("rename", "mv"), Synonym("move", "mv"), Synonym("copy", "cp"),
    Synonym("new", "add"), Synonym("create", "add"), Synonym("insert", "add"), Synonym("create item", "add"),
    Synonym("generate", "gen"), Synonym("exec", "run"),
    Synonym("totp", "code"), Synonym("otp code", "code"), Synonym("otp get", "code"),
    Synonym("otp generate", "code"),
    Synonym("passwd", "passcode change"), Synonym("change-password", "passcode change"),
    Synonym("doctor", "vault doctor"), Synonym("version", "vault version"), Synonym("man", "help"),
  ]

  private static let optionSynonyms: [(typed: String, name: String)] = [
    ("user", "account"), ("username", "account"), ("login", "account"), ("clip", "copy"),
  ]

  /// What reads and cannot hurt.
  private static let familyVerbs: [(family: String, verb: String)] = [
    ("item", "ls"), ("trash", "trash list"), ("agent", "agent status"), ("otp", "otp list"),
    ("key", "key list"), ("keeper", "keeper status"), ("pin", "pin status"), ("biometry", "biometry list"),
    ("card", "card list"),
  ]

  private static let familyNames: [(family: String, command: String)] = [
    ("otp", "code NAME"), ("key", "key public NAME"), ("card", "card get NAME"),
    ("pin", "pin status NAME"), ("trash", "trash restore NAME"), ("jwt", "jwt sign NAME"),
    ("vault", "show NAME"), ("passcode", "show NAME"),
  ]

  /// The words of before the first release.
  private static let formerWords = [
    Redirect("verify", "vault check", "opens and compares every part of the vault"),
    Redirect("recovery-code check", "recovery-code verify"),
    Redirect("token purge", "card clear"), Redirect("token put", "card put NAME"),
    Redirect("token get", "card get NAME"), Redirect("token list", "card list"),
    Redirect("token revoke", "card revoke NAME"), Redirect("token", "card list", "lists card tokens"),
    Redirect("session open", "card session open"), Redirect("session close", "card session close"),
    Redirect("session", "card session open"),
    Redirect("consent request", "card consent request NAME"),
    Redirect("consent confirm", "card consent confirm NAME"),
    Redirect("consent resend", "card consent resend NAME"), Redirect("consent list", "card consent list"),
    Redirect("consent", "card consent list"),
    Redirect("dpop", "jwt dpop NAME"),
    Redirect("biokey register", "biometry biokey register"), Redirect("biokey list", "biometry biokey list"),
    Redirect("biokey reset", "biometry biokey reset"), Redirect("biokey", "biometry biokey list"),
    Redirect("grant list", "agent grants"), Redirect("grant revoke", "agent revoke"),
    Redirect("grant", "agent grants"),
    Redirect("path", "vault path"), Redirect("clock", "vault clock"), Redirect("purge", "vault purge"),
    Redirect("batch", "vault batch"),
    Redirect("rotate device-key", "vault rotate device-key"),
    Redirect("rotate epoch", "vault rotate epoch"), Redirect("rotate parameters", "vault rotate parameters"),
    Redirect("item restore", "undo NAME", "takes back the last change; a number after it is a version"),
    Redirect("item update", "edit NAME --password", "sets a new password, and -g makes one"),
  ]

  /// What others call it: pass, gopass, op, bw, rbw, KeePassXC, secret-tool, keyring, and the shell.
  private static let peersWords = reading + changing + moving + unlocking + others

  private static let reading = [
    Redirect("open", "show NAME", "shows an entry; 'vaultctl unlock' unlocks the vault"),
    Redirect("view", "show NAME"), Redirect("print", "get NAME"), Redirect("cat", "get NAME"),
    Redirect("lookup", "get NAME"), Redirect("fetch", "get NAME"),
    Redirect("reveal", "show NAME --reveal"), Redirect("display", "show NAME"),
    Redirect("details", "show NAME"),
    Redirect("password", "get NAME"), Redirect("pw", "get NAME"), Redirect("secret", "get NAME"),
    Redirect("username", "get NAME account"), Redirect("user", "get NAME account"),
    Redirect("url", "get NAME url"), Redirect("uri", "get NAME url"), Redirect("notes", "get NAME notes"),
    Redirect("note", "get NAME notes"), Redirect("field", "get NAME FIELD"),
    Redirect("clip", "get NAME -c", "copies the password"),
    Redirect("clipboard", "get NAME -c", "copies the password"),
    Redirect("yank", "get NAME -c", "copies the password"),
    Redirect("tree", "ls"), Redirect("dir", "ls"), Redirect("ll", "ls"), Redirect("items", "ls"),
    Redirect("entries", "ls"), Redirect("logins", "ls"),
    Redirect("folder", "ls", "lists names such as work/mail"),
    Redirect("folders", "ls", "lists names such as work/mail"), Redirect("expired", "ls --expired"),
    Redirect("tag", "ls --tag NAME"), Redirect("tags", "ls --tag NAME"),
    Redirect("query", "find NAME"), Redirect("locate", "find NAME"), Redirect("lookfor", "find NAME"),
    Redirect("hotp", "code NAME"), Redirect("2fa", "code NAME"), Redirect("mfa", "code NAME"),
    Redirect("codes", "otp list"),
    Redirect("otp uri", "otp export NAME"), Redirect("otp show-uri", "otp export NAME"),
    Redirect(
      "otp qr", "otp export NAME", "prints the URI; a program such as qrencode makes the picture of it"),
    Redirect("qr", "otp export NAME", "prints the URI; a program such as qrencode makes the picture of it"),
    Redirect("otp validate", "otp verify NAME"),
    Redirect("log", "audit"), Redirect("logs", "audit"), Redirect("events", "audit"),
    Redirect("versions", "history NAME"), Redirect("diff", "history NAME"),
  ]

  private static let changing = [
    Redirect("store", "add NAME"), Redirect("put", "add NAME"), Redirect("save", "add NAME"),
    Redirect("touch", "add NAME"), Redirect("document", "add NAME", "stores what standard input has"),
    Redirect("attach", "add NAME", "stores what standard input has"),
    Redirect("update", "edit NAME"), Redirect("modify", "edit NAME"), Redirect("change", "edit NAME"),
    Redirect("set", "edit NAME"), Redirect("vi", "edit NAME"), Redirect("vim", "edit NAME"),
    Redirect("nano", "edit NAME"),
    Redirect("rotate", "edit NAME -g", "makes a new password; 'vaultctl vault rotate -h' shows the keys"),
    Redirect("regenerate", "edit NAME -g", "makes a new password"),
    Redirect("renew", "edit NAME -g", "makes a new password"),
    Redirect("mkdir", "add NAME", "makes an entry; a name such as work/mail needs no folder"),
    Redirect("rmdir", "rm NAME"), Redirect("erase", "rm NAME"), Redirect("clear", "rm NAME"),
    Redirect("unlink", "rm NAME"), Redirect("drop", "rm NAME"), Redirect("trash-item", "rm NAME"),
    Redirect("duplicate", "cp NAME NEW"), Redirect("clone", "cp NAME NEW"),
    Redirect("pwgen", "gen"), Redirect("diceware", "gen -g 6:words"), Redirect("random", "gen"),
    Redirect("undelete", "trash restore NAME"), Redirect("recover", "trash restore NAME"),
    Redirect("bin", "trash list"), Redirect("recycle", "trash list"),
    Redirect("revert", "undo NAME"), Redirect("rollback", "undo NAME"),
    Redirect("otp insert", "otp add NAME"), Redirect("otp append", "otp add NAME"),
    Redirect("otp new", "otp add NAME"), Redirect("otp create", "otp add NAME"),
    Redirect("otp set", "otp add NAME"), Redirect("otp delete", "otp rm NAME"),
    Redirect("otp remove", "otp rm NAME"), Redirect("otp ls", "otp list"),
    Redirect(
      "otp scan", "otp add ENTRY",
      "takes the URI on standard input, as 'zbarimg --nodbus -q --raw FILE' prints it"),
    Redirect(
      "scan", "otp add ENTRY",
      "takes the URI on standard input, as 'zbarimg --nodbus -q --raw FILE' prints it"),
    Redirect("key ls", "key list"), Redirect("key new", "key generate NAME"),
    Redirect("key add", "key import NAME"), Redirect("key create", "key generate NAME"),
    Redirect("key delete", "key rm NAME"), Redirect("key remove", "key rm NAME"),
    Redirect("key show", "key public NAME"), Redirect("key get", "key public NAME"),
    Redirect("key export", "key public NAME"),
    Redirect("key ssh", "key public NAME --format ssh"),
    Redirect("keygen", "key generate NAME"), Redirect("ssh-keygen", "key generate NAME"),
    Redirect("trash ls", "trash list"), Redirect("trash rm", "trash empty"),
    Redirect("trash clear", "trash empty"), Redirect("trash undo", "trash restore NAME"),
  ]

  private static let moving = [
    Redirect("git", "backup FILE", "writes a copy that a passphrase opens; there is no git behind the vault"),
    Redirect("sync", "backup FILE", "writes a copy that a passphrase opens; nothing is sent anywhere"),
    Redirect("push", "backup FILE", "writes a copy that a passphrase opens"),
    Redirect("pull", "restore FILE", "reads a backup"),
    Redirect("merge", "import jsonl FILE", "adds the entries of another vault"),
    Redirect("dump", "export jsonl FILE"), Redirect("migrate", "import jsonl FILE"),
    Redirect("share", "get NAME", "prints what you can pass on; nothing is shared by itself"),
    Redirect("send", "get NAME", "prints what you can pass on; nothing is shared by itself"),
    Redirect("env", "run --env VAR=NAME -- PROGRAM", "gives a program a secret in its environment"),
    Redirect("shell", "run --env VAR=NAME -- sh", "gives a shell a secret in its environment"),
    Redirect("template", "inject", "fills a template from standard input"),
    Redirect("render", "inject", "fills a template from standard input"),
    Redirect("ssh-agent", "key public NAME --format ssh", "prints a key for ssh"),
    Redirect("ssh-add", "key public NAME --format ssh", "prints a key for ssh"),
    Redirect("ssh", "key public NAME --format ssh", "prints a key for ssh"),
  ]

  private static let unlocking = [
    Redirect("login", "unlock", "unlocks the vault for later commands"),
    Redirect("signin", "unlock", "unlocks the vault for later commands"),
    Redirect("sign-in", "unlock", "unlocks the vault for later commands"),
    Redirect("auth", "unlock", "unlocks the vault for later commands"),
    Redirect("logout", "lock"), Redirect("signout", "lock"), Redirect("sign-out", "lock"),
    Redirect("logoff", "lock"), Redirect("close", "lock"), Redirect("exit", "lock"), Redirect("quit", "lock"),
    Redirect("unlocked", "status"), Redirect("stop-agent", "agent stop"), Redirect("daemon", "agent start"),
    Redirect("serve", "agent start"), Redirect("start", "agent start"), Redirect("stop", "agent stop"),
    Redirect("grants", "agent grants"),
    Redirect("passphrase", "passcode change"), Redirect("master-password", "passcode change"),
    Redirect("chpasswd", "passcode change"),
    Redirect("recovery", "recovery-code new", "makes a code that opens the vault without the passcode"),
    Redirect("recovery-key", "recovery-code new"), Redirect("emergency", "recovery-code new"),
    Redirect("reset", "recovery-code -h", "shows what a recovery code does"),
    Redirect("fingerprint", "biometry enroll NAME"), Redirect("touchid", "biometry enroll NAME"),
  ]

  private static let others = [
    Redirect("setup", "init"), Redirect("setup", "status", "shows the vault that is there"),
    Redirect("signup", "init"), Redirect("signup", "status", "shows the vault that is there"),
    Redirect("register", "init"), Redirect("register", "status", "shows the vault that is there"),
    Redirect("db-create", "init"), Redirect("db-create", "status", "shows the vault that is there"),
    Redirect("vault create", "init"), Redirect("vault create", "status", "shows the vault that is there"),
    Redirect("vault new", "init"), Redirect("vault new", "status", "shows the vault that is there"),
    Redirect("vault list", "status", "shows the vault; --vault names another one"),
    Redirect("vault get", "status"), Redirect("vault show", "status"), Redirect("vault status", "status"),
    Redirect("vault lock", "lock"), Redirect("vault unlock", "unlock"),
    Redirect("vault verify", "vault check"), Redirect("vault backup", "backup FILE"),
    Redirect("vaults", "status"), Redirect("db-info", "status"), Redirect("info", "status"),
    Redirect("whoami", "status"), Redirect("account", "status"), Redirect("accounts", "ls"),
    Redirect("me", "status"), Redirect("users", "ls"),
    Redirect("config", "help options", "lists the options of every command; there is no file of settings"),
    Redirect("settings", "help options", "lists the options of every command; there is no file of settings"),
    Redirect("options", "help options"), Redirect("exit-codes", "help exit-codes"),
    Redirect("secrets", "help secrets", "says how secrets are given; 'vaultctl ls' lists entries"),
    Redirect("commands", "help"), Redirect("usage", "help"), Redirect("info-help", "help"),
    Redirect("analyze", "vault doctor"), Redirect("health", "vault doctor"),
    Redirect("watchtower", "vault doctor"),
    Redirect("fsck", "vault check"), Redirect("check", "vault check"), Redirect("pwd", "vault path"),
    Redirect("where", "vault path"), Redirect("which", "vault path"),
    Redirect("autocomplete", "completion bash"), Redirect("completions", "completion bash"),
  ]
}
