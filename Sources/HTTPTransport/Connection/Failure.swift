import CCurl

extension Connection.Failure {
  /// The failure in words that name no more than the host.
  ///
  /// - Parameter verified: What OpenSSL found in the chain of certificates, or 0.
  init(_ code: CURLcode, verified: Int, host: String) {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      self.init(refusal: .network("the address of \(host) is not known"), isOfTheConnection: true)
    case CURLE_COULDNT_CONNECT:
      self.init(refusal: .network("\(host) cannot be reached"), isOfTheConnection: true)
    case CURLE_OPERATION_TIMEDOUT:
      self.init(refusal: .network("\(host) did not answer in time", hint: "try again later"))
    case _ where Self.isCut(code):
      self.init(refusal: .network("the answer of \(host) was cut"), isOfTheConnection: true)
    case CURLE_FILESIZE_EXCEEDED:
      self.init(refusal: .network("the server's answer has more than \(IncomingReply.mostBytes) bytes"))
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(refusal: Self.untrusted(verified, host))
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      self.init(
        refusal: .network(
          "the key of \(host) is none of its pins",
          hint: "if the server has a new key, add its pin to the configuration"))
    case CURLE_SSL_CONNECT_ERROR:
      self.init(refusal: .network("\(host) and this program agree on no TLS connection"))
    case CURLE_SSL_CERTPROBLEM:
      self.init(refusal: .other("the client certificate is not a key with its certificates as PEM"))
    case CURLE_SSL_CACERT_BADFILE:
      self.init(
        refusal: .other(
          "there are no trust anchors: neither in 'anchors' of the configuration nor on this machine",
          hint: "install ca-certificates, or name a file with certificates in 'anchors'"))
    default:
      self.init(refusal: .network("the request to \(host) failed with code \(code.rawValue) of libcurl"))
    }
  }

  /// Whether the other side closed the connection before the end.
  static func isCut(_ code: CURLcode) -> Bool {
    [CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(code)
  }

  private static func untrusted(_ verified: Int, _ host: String) -> Refusal {
    switch verified {
    // libcurl compares the name itself, and leaves the result unspecified: 1.
    case 0, 1, 62, 64:
      .network(
        "the certificate of \(host) is for another host",
        hint: "nothing was sent; compare the origin in the configuration")
    case 9: .network("the certificate of \(host) is not valid yet", hint: "compare the clock of this machine")
    case 10: .network("the certificate of \(host) has expired")
    case 26: .network("the certificate of \(host) is not for servers", hint: "nothing was sent")
    case 66, 67, 68:
      .network("the certificate of \(host) has a key or a hash that is too weak", hint: "nothing was sent")
    default:
      .network(
        "the certificate of \(host) comes from no trusted anchor",
        hint: "nothing was sent; if the server has its own, name them in 'anchors'")
    }
  }
}
