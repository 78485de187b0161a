import Glibc

/// The variables of the environment. Some program has set them, and they do not say whom to trust.
enum Environment {
  /// Removes all variables but those of proxies, which a configuration can ask for. By others, OpenSSL would load a
  /// configuration and modules (`OPENSSL_CONF`, `OPENSSL_MODULES`), trust other certificates (`SSL_CERT_FILE`), or write the keys of
  /// the connection into a file (`SSLKEYLOGFILE`), and a name would lead elsewhere (`HOSTALIASES`).
  ///
  /// - Precondition: Nothing else runs in this process, and no library has looked at a variable.
  static func keepProxies() {
    let kept = proxies.compactMap { name in
      unsafe getenv(name).map { unsafe (name, String(cString: $0)) }
    }
    clearenv()
    for (name, value) in kept { unsafe setenv(name, value, 1) }
  }

  /// Those that libcurl reads for https.
  private static let proxies = [
    "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]
}
