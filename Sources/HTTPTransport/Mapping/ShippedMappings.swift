import SecretMemory
import TextFormats

/// The mappings that come with the program, by name. They are read as those of a configuration are.
package enum ShippedMappings {
  private static let texts = ["oauth": oauth, "striga": striga, "transport": transport]

  package static var names: String { texts.keys.sorted().joined(separator: ", ") }

  /// As `--print-mapping` prints it.
  package static func text(of name: String) -> String? { texts[name].map { $0 + "\n" } }

  static func mapping(_ name: String) throws(TextError) -> Mapping? {
    guard let text = texts[name] else { return nil }
    let bytes = SecretBytes(copying: Array(text.utf8))
    let count = bytes.byteCount
    return try Mapping(JSONReader(ByteReader(bytes, count: count), spansLines: true))
  }

  private static let oauth = """
    {
      "oauthMetadata": {"method": "GET", "send": "raw"},
      "oauthRegister": {"method": "POST", "send": "raw", "type": "application/json"},
      "oauthDevice": {"method": "POST", "send": "raw", "type": "application/x-www-form-urlencoded"},
      "oauthToken": {"method": "POST", "send": "raw", "type": "application/x-www-form-urlencoded"},
      "oauthRevoke": {
        "method": "POST", "send": "raw", "type": "application/x-www-form-urlencoded", "idempotent": true
      }
    }
    """

  private static let striga = """
    {
      "consentRequest": {
        "method": "POST",
        "path": "/striga/request-consent",
        "send": "json",
        "fields": {"userId": "{user}", "cardId": "{card}", "channel": "{channel}"},
        "answer": {"challenge": "challengeId"},
        "errors": \(strigaErrors)
      },
      "consentConfirm": {
        "method": "POST",
        "path": "/striga/confirm-consent",
        "send": "json",
        "fields": {"userId": "{user}", "challengeId": "{challenge}", "verificationCode": "{codeBase64}"},
        "answer": {"tokenBase64": "cardAuthToken"},
        "errors": \(strigaErrors)
      },
      "consentResend": {
        "method": "POST",
        "path": "/striga/resend-consent",
        "send": "json",
        "fields": {"userId": "{user}", "challengeId": "{challenge}"},
        "errors": \(strigaErrors)
      }
    }
    """

  /// The last two rules are for refusals such as "multi-factor authentication is not enabled": the person reads them as they are.
  private static let strigaErrors = """
    [
          {"status": "4xx", "member": "errorCode", "equals": "30031", "code": "CODE",
            "message": "the code is wrong"},
          {"status": "4xx", "member": "errorCode", "equals": "30003", "code": "FORBIDDEN",
            "message": "too many wrong codes", "hint": "request a new challenge"},
          {"status": "4xx", "member": "errorCode", "equals": "31008", "code": "FORBIDDEN",
            "message": "no more codes are sent today", "hint": "try again tomorrow"},
          {"status": "4xx", "member": "errorDetails", "code": "FORBIDDEN", "messageMember": "errorDetails"},
          {"status": "4xx", "member": "message", "code": "FORBIDDEN", "messageMember": "message"}
        ]
    """

  private static let transport = """
    {
    \(transportOperations.map { "  \"\($0)\": \(posted)" }.joined(separator: ",\n"))
    }
    """

  private static let posted =
    #"{"method": "POST", "path": "/authenticator", "send": "request", "answer": "body"}"#

  /// docs/guides/transport.md, but those of OAuth, which are HTTP.
  private static let transportOperations = [
    "activationStart", "activationFinish", "unlockStart", "unlockFinish", "disable", "synchronize",
    "onlineStart", "onlineFinish", "transactionNext", "transactionAnswer", "login", "consentRequest",
    "consentConfirm", "consentResend",
  ]
}
