package import SecretMemory
import TextFormats

/// Which server a request goes to, whom to trust, and how long to wait: the file that docs/guides/http.md describes.
package struct Configuration: Sendable {
  /// The first is where the paths of the mapping lead.
  package var origins: [Origin] = []
  package var mapping = Mapping()
  /// The certificates that are trusted, as PEM; `nil` for those of the system.
  package var anchors: SharedSecret?
  /// By host name in lower case: base64 of the SHA-256 of each key.
  package var pins: [String: [String]] = [:]
  package var proxy = Proxy.none
  /// How long everything together may take.
  package var limit = Duration.seconds(58)
  package var connectLimit = Duration.seconds(5)
  package var comparesHostNames = true
  /// The key and the certificates of this client, as PEM.
  package var clientCertificate: SharedSecret?

  package enum Proxy: Equatable, Sendable {
    case none
    /// As the variables of the environment say.
    case environment
    case address(String)
  }

  package init() {}

  /// Reads the file that the arguments name, and the files and descriptors that belong to it.
  package init(_ arguments: Arguments) throws(Refusal) {
    let path = arguments.configuration
    let text = try TrustedFile.read(path, "the configuration", limit: Self.longest)
    var reader = ConfigurationReader(text)
    do throws(TextError) { try reader.read() } catch {
      throw .other("the configuration \(TrustedFile.shown(path)) is malformed: \(error.words)")
    }
    self = reader.configuration
    if let anchors = reader.anchors {
      self.anchors = SharedSecret(
        try TrustedFile.read(anchors, "the file of trust anchors", limit: Self.longestAnchors))
    }
    if let descriptor = arguments.clientCertificate {
      clientCertificate = try ClientCertificate.read(descriptor)
    }
    if arguments.skipsHostCheck { try skipHostCheck() }
  }

  /// Without the name, the pin is what tells one server from another.
  private mutating func skipHostCheck() throws(Refusal) {
    for origin in origins where pins[origin.host] == nil {
      throw .other(
        "host names are compared unless each host has a pin, and \(origin.host) has none",
        hint: "add the pin of its key to the configuration, or take --no-host-check away")
    }
    comparesHostNames = false
  }

  private static let longest = 256 << 10
  private static let longestAnchors = 4 << 20
}
