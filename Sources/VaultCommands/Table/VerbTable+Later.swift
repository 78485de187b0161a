import CommandLineKit

/// The verbs of later versions: known to the parser and the manual, answered with exit code 15.
extension VerbTable {
  static var pin: [Verb] {
    let summaries = [
      ("set", "Make a PIN item."), ("verify", "Check a PIN."), ("change", "Exchange a PIN."),
      ("undo", "Drop a change that was not confirmed."), ("status", "Show attempts and blocks."),
      ("unlock", "End a block."),
    ]
    return summaries.map { word, summary in
      Verb(
        words: ["pin", word], summary: summary,
        arguments: [Argument(name: "PINITEM", summary: "The PIN item.", kind: .name, isRequired: false)],
        channels: word == "status"
          ? [] : ["set", "change", "unlock"].contains(word) ? [.pin, .newPIN] : [.pin],
        audited: word == "status" ? .never : .always, ownExits: [.notFound, .refused],
        example: "vaultctl pin \(word)")
    }
  }

  static var biokey: [Verb] {
    [
      later(
        ["biokey", "register"], "Register a biokey.", [.name()], [.pin, .phrase], "biokey register phone"),
      later(["biokey", "list"], "List the biokeys.", [], [], "biokey list"),
      later(["biokey", "reset"], "Remove all biokeys.", [], [.pin], "biokey reset"),
    ]
  }

  static var transaction: [Verb] {
    let id = Argument(name: "ID", summary: "The id of a transaction.", kind: .text)
    let transport = Option("transport", .program, "PROGRAM", "The program that talks to the server.")
    var sign = later(
      ["transaction", "sign"], "Make a code over data.",
      [Argument(name: "CREDENTIAL", summary: "The credential.", kind: .name)], [.pin], "transaction sign bank"
    )
    sign.standardInput = .data("data to sign")
    sign.ownOptions = [
      Option("suite", .text, "OCRA-SUITE", "The suite (RFC 6287)."),
      Option("question", .text, "Q", "The question in place of data."),
      Option("session", .text, "S", "The session information."),
      Option("at", .instant, "T", "The moment of a suite with time."),
    ]
    let verbs = [
      later(["transaction", "list"], "List pending transactions.", [], [], "transaction list"),
      later(["transaction", "show"], "Show a transaction.", [id], [], "transaction show 42"),
      later(
        ["transaction", "accept"], "Accept a transaction.", [id], [.pin, .phrase], "transaction accept 42"),
      later(["transaction", "reject"], "Reject a transaction.", [id], [], "transaction reject 42"),
      later(["transaction", "cancel"], "Cancel a transaction.", [id], [], "transaction cancel 42"),
    ]
    return verbs.map { with([transport], $0) } + [sign]
  }

  static var token: [Verb] {
    var put = with(
      [
        Option("ttl", .duration, "D", "How long it lives."),
        Option("uses", .number(1...1_000_000), "N", "How often it can be read."),
        Option("session", .text, "ID", "The session it belongs to."), accessOption,
      ],
      later(["token", "put"], "Store a token.", [.name()], [.applicationPassword], "token put card --ttl 5m"))
    put.standardInput = .data("token")
    return [
      put, later(["token", "get"], "Use a token.", [.name()], [.applicationPassword], "token get card"),
      later(["token", "list"], "List tokens.", [], [], "token list"),
      later(["token", "revoke"], "Make a token useless.", [.name()], [], "token revoke card"),
      later(["token", "refresh"], "Replace a token.", [.name()], [], "token refresh card"),
      later(["token", "purge"], "Delete what has expired.", [], [], "token purge"),
    ]
  }

  static var sessions: [Verb] {
    [
      later(["session", "open"], "Open a session.", [], [], "session open"),
      later(
        ["session", "close"], "Close a session.",
        [Argument(name: "ID", summary: "The session.", kind: .text)], [],
        "session close 42"),
    ]
  }

  static var consent: [Verb] {
    let transport = Option("transport", .program, "PROGRAM", "The program that talks to the server.")
    return [
      later(["consent", "request"], "Ask for a challenge.", [.name()], [], "consent request card"),
      later(["consent", "confirm"], "Answer a challenge.", [.name()], [], "consent confirm card"),
      later(["consent", "resend"], "Have the code sent again.", [.name()], [], "consent resend card"),
      later(["consent", "list"], "List consents.", [], [], "consent list"),
    ].map { with([transport], $0) }
  }

  static var key: [Verb] {
    [
      with(
        [
          Option("type", .choice(["p256", "ed25519", "rsa2048", "rsa3072"]), "", "The kind of key."),
          .flag("exportable", "Let it be exported."),
        ], later(["key", "generate"], "Make a key.", [.name()], [], "key generate client --type p256")),
      later(["key", "import"], "Store a key from PKCS#12.", [.name()], [.passphrase], "key import client"),
      later(["key", "list"], "List keys.", [], [], "key list"),
      with(
        [Option("format", .choice(["pem", "jwk", "ssh", "pin"]), "", "The form.")],
        later(["key", "public"], "Print a public key.", [.name()], [], "key public client --format ssh")),
      with(
        [Option("format", .choice(["raw", "der", "base64"]), "", "The form.")],
        later(["key", "sign"], "Sign standard input.", [.name()], [], "key sign client")),
      with(
        [Option("signature-file", .path, "F", "The signature.")],
        later(["key", "verify"], "Check a signature.", [.name()], [], "key verify client --signature-file s")),
      later(["key", "rm"], "Delete a key.", [.name()], [], "key rm client"),
    ]
  }

  static var jwt: [Verb] {
    let key = Argument(name: "KEY", summary: "The key.", kind: .name)
    return [
      later(["jwt", "sign"], "Sign claims from standard input.", [key], [], "jwt sign client"),
      later(["jwt", "verify"], "Check a token from standard input.", [key], [], "jwt verify client"),
    ]
  }

  static var dpop: Verb {
    with(
      [
        Option("method", .text, "M", "The method of the request."), Option("url", .text, "U", "Its address."),
        Option("nonce", .text, "N", "The server's nonce."),
        Option("token-fd", .descriptor, "N", "Read the access token from descriptor N."),
        Option("token-file", .path, "PATH", "Read the access token from PATH."),
      ],
      later(
        ["dpop"], "Make a proof of possession (RFC 9449).",
        [Argument(name: "KEY", summary: "The key.", kind: .name)],
        [], "dpop client --method GET --url https://example.org/"))
  }

  private static func later(
    _ words: [String], _ summary: String, _ arguments: [Argument], _ channels: [SecretChannel],
    _ example: String
  ) -> Verb {
    let isRead = ["list", "show", "status"].contains(words.last)
    return Verb(
      words: words, summary: summary, arguments: arguments, channels: channels,
      session: isRead ? .vault : .unlocked, asksByFlags: !isRead, audited: isRead ? .never : .always,
      ownExits: arguments.isEmpty ? [] : [.notFound], example: "vaultctl \(example)")
  }

  private static func with(_ options: [Option], _ verb: Verb) -> Verb {
    var verb = verb
    verb.ownOptions += options
    return verb
  }
}
