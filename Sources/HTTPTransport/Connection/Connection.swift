import CCurl
import Glibc
import SecretMemory

/// A handle of libcurl that is allowed nothing but what docs/guides/http.md says.
@safe struct Connection: ~Copyable {
  private let handle: UnsafeMutableRawPointer
  private let configuration: Configuration

  /// Why there is no reply.
  struct Failure: Error {
    let refusal: Refusal
    /// Whether the server could not be reached, or the connection broke: then another try may help.
    var isOfTheConnection = false
    /// Whether no byte of the request was sent.
    var isUnsent = false
  }

  init(_ configuration: Configuration) throws(Refusal) {
    guard ccurl_start() == CURLE_OK, let handle = unsafe curl_easy_init() else {
      throw .other("libcurl does not start")
    }
    unsafe self.handle = handle
    self.configuration = configuration
  }

  deinit { unsafe curl_easy_cleanup(handle) }

  /// Sends a request, and follows redirections within its origin.
  func send(_ request: OutgoingRequest, until deadline: ContinuousClock.Instant) throws(Failure) -> Reply {
    var address = request.address
    for hop in 0...Self.mostRedirections {
      let reply: Reply
      do throws(Failure) { reply = try transfer(request, to: address, until: deadline) } catch {
        var failure = error
        failure.isUnsent = failure.isUnsent && hop == 0
        throw failure
      }
      guard request.followsRedirections, (301...308).contains(reply.status), let next = reply.redirection
      else { return reply }
      guard let following = WebAddress(next), following.origin == request.address.origin else {
        throw Failure(
          refusal: .network(
            "the server redirected to another origin, which is not followed",
            hint: "if the server has moved, change the origin in the configuration"))
      }
      guard request.method == .get || [307, 308].contains(reply.status) else {
        throw Failure(
          refusal: .network(
            "the server redirected a request that must not be sent as another one",
            hint: "change the path in the mapping"))
      }
      address = following
    }
    throw Failure(refusal: .network("the server redirects in a circle"))
  }

  private func transfer(
    _ request: OutgoingRequest, to address: WebAddress, until deadline: ContinuousClock.Instant
  ) throws(Failure) -> Reply {
    let left = deadline - .now
    guard left > .zero else {
      throw Failure(
        refusal: .network("the server did not answer in time", hint: "try again later"), isUnsent: true)
    }
    unsafe curl_easy_reset(handle)
    let incoming = IncomingReply()
    var settings = unsafe ConnectionSettings(handle)
    settings.limit(left, connecting: configuration.connectLimit)
    settings.trust(configuration, host: address.origin.host)
    settings.take(incoming)
    settings.ask(request, address)
    let code: CURLcode? = unsafe address.origin.certifiedName.withCString { name in
      if configuration.comparesHostNames { unsafe settings.requireName(name) }
      guard settings.isComplete else { return nil }
      return withExtendedLifetime(incoming) { perform(request) }
    }
    guard let code else {
      throw Failure(
        refusal: .other("libcurl lacks what this program needs: version 7.85 or newer, with OpenSSL"),
        isUnsent: true)
    }
    if let flaw = incoming.flaw { throw Failure(refusal: .network(flaw)) }
    guard code == CURLE_OK else {
      let proxy = unsafe ccurl_number(handle, CURLINFO_HTTP_CONNECTCODE)
      guard proxy == 0 || proxy == 200 else {
        throw Failure(
          refusal: .network("the proxy answered with status \(proxy) of HTTP"), isUnsent: !incoming.isAskedFor
        )
      }
      if proxy == 0, configuration.proxy != .none, !incoming.isAskedFor, Failure.isCut(code) {
        throw Failure(
          refusal: .network("the proxy closed the connection to \(address.origin.host)"), isUnsent: true)
      }
      let verified = unsafe ccurl_number(handle, CURLINFO_SSL_VERIFYRESULT)
      var failure = Failure(code, verified: verified, host: address.origin.host)
      failure.isUnsent = !incoming.isAskedFor
      throw failure
    }
    guard incoming.hasAllHeaders else {
      throw Failure(
        refusal: .network("the answer of \(address.origin.host) was cut"), isOfTheConnection: true)
    }
    return Reply(
      status: unsafe ccurl_number(handle, CURLINFO_RESPONSE_CODE), headers: incoming.headers,
      body: incoming.body, hasLength: incoming.hasLength,
      redirection: unsafe ccurl_text(handle, CURLINFO_REDIRECT_URL).flatMap {
        unsafe String(validatingCString: $0)
      })
  }

  /// Hands libcurl headers and body, which it reads during the call.
  private func perform(_ request: OutgoingRequest) -> CURLcode {
    var list: UnsafeMutablePointer<curl_slist>?
    defer { unsafe curl_slist_free_all(list) }
    // Without an empty value, libcurl would wait for "100 Continue" before a large body.
    for line in request.headers + [SharedSecret(SecretBytes(copying: Array("Expect:".utf8)))] {
      // The list copies up to the zero.
      let ended = SecretBytes.joining(line.bytes, SecretBytes(zeroes: 1))
      let longer = unsafe ended.expose { span in
        unsafe span.withUnsafeBytes {
          unsafe curl_slist_append(list, $0.assumingMemoryBound(to: CChar.self).baseAddress)
        }
      }
      guard let longer = unsafe longer else { return CURLE_OUT_OF_MEMORY }
      unsafe list = longer
    }
    unsafe ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
    guard let body = request.body else { return unsafe curl_easy_perform(handle) }
    return body.expose { span in
      unsafe span.withUnsafeBytes { bytes in
        unsafe ccurl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
        unsafe ccurl_set_pointer(
          handle, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        return unsafe curl_easy_perform(handle)
      }
    }
  }

  private static let mostRedirections = 5
}
