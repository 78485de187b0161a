import CCurl
import SecretMemory

/// Sets the options of one transfer, and notes whether libcurl knows them all: an option that it does not know must not be a check
/// that is left out.
@safe struct ConnectionSettings {
  private let handle: UnsafeMutableRawPointer
  private(set) var isComplete = true

  init(_ handle: UnsafeMutableRawPointer) {
    unsafe self.handle = handle
    // Signals would end a slow look-up of a name, and come from other threads.
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_PROTOCOLS_STR, "https")
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    // A connection that is used again may be one that the server has closed, and libcurl would repeat the request.
    set(CURLOPT_FRESH_CONNECT, 1)
    set(CURLOPT_FORBID_REUSE, 1)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
  }

  mutating func limit(_ all: Duration, connecting: Duration) {
    let connecting = min(all, connecting)
    set(CURLOPT_TIMEOUT_MS, max(1, all.milliseconds))
    set(CURLOPT_CONNECTTIMEOUT_MS, max(1, connecting.milliseconds))
    unsafe note(ccurl_set_size(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(IncomingReply.mostBytes)))
  }

  mutating func trust(_ configuration: Configuration, host: String) {
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, configuration.comparesHostNames ? 2 : 0)
    if let anchors = configuration.anchors {
      // Else the directory of the system would be trusted too.
      unsafe note(ccurl_set_text(handle, CURLOPT_CAPATH, nil))
      set(CURLOPT_CAINFO_BLOB, anchors)
    }
    if let pins = configuration.pins[host] {
      // Of the key, not of the certificate: a certificate is renewed, and its key may stay.
      set(CURLOPT_PINNEDPUBLICKEY, pins.map { "sha256//\($0)" }.joined(separator: ";"))
    }
    if let client = configuration.clientCertificate {
      set(CURLOPT_SSLCERT_BLOB, client)
      set(CURLOPT_SSLKEY_BLOB, client)
      // OpenSSL would ask the terminal for the passphrase of a key that has one.
      set(CURLOPT_KEYPASSWD, "")
    }
    switch configuration.proxy {
    case .none: set(CURLOPT_PROXY, "")
    case .environment: break
    case .address(let address):
      set(CURLOPT_PROXY, address)
      // Else `no_proxy` of the environment would lead around it.
      set(CURLOPT_NOPROXY, "")
    }
  }

  /// Only a certificate whose alternative names have this name is taken (RFC 9110 §4.3.4).
  ///
  /// - Parameter name: Is read during the transfer.
  mutating func requireName(_ name: UnsafePointer<CChar>) {
    unsafe note(ccurl_require_name(handle, name))
  }

  mutating func take(_ incoming: IncomingReply) {
    let context = unsafe Unmanaged.passUnretained(incoming).toOpaque()
    unsafe note(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context))
    unsafe note(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context))
    unsafe note(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context))
    unsafe note(
      ccurl_set_starter(handle, CURLOPT_PREREQFUNCTION) { context, _, _, _, _ in
        unsafe IncomingReply.of(context).beginRequest()
        return CURL_PREREQFUNC_OK
      })
    unsafe note(
      ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        unsafe IncomingReply.of(context).takeBody(bytes, size * count)
      })
    unsafe note(
      ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
        unsafe IncomingReply.of(context).takeHeader(bytes, size * count)
      })
  }

  mutating func ask(_ request: OutgoingRequest, _ address: WebAddress) {
    set(CURLOPT_URL, address.text)
    if request.method == .get, request.body == nil {
      set(CURLOPT_HTTPGET, 1)
    } else {
      set(CURLOPT_POST, 1)
      unsafe note(ccurl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, 0))
      set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }

  private mutating func set(_ option: CURLoption, _ number: Int) {
    unsafe note(ccurl_set_number(handle, option, number))
  }

  private mutating func set(_ option: CURLoption, _ text: String) {
    unsafe note(ccurl_set_text(handle, option, text))
  }

  private mutating func set(_ option: CURLoption, _ secret: SharedSecret) {
    let code = secret.expose { span in
      unsafe span.withUnsafeBytes { unsafe ccurl_set_blob(handle, option, $0.baseAddress, $0.count) }
    }
    note(code)
  }

  private mutating func note(_ code: CURLcode) { if code != CURLE_OK { isComplete = false } }
}

extension Duration {
  fileprivate var milliseconds: Int {
    Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}
