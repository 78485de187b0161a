import CommandLineKit

/// What `--help` was asked about.
package enum HelpTopic: Sendable {
  case overview
  case family(VerbFamily)
  case verb(Verb)

  /// The help as it is printed, with a final newline.
  package var text: String {
    switch self {
    case .overview: Help.overview
    case .family(let family): Help.family(family)
    case .verb(let verb): Help.verb(verb)
    }
  }
}
