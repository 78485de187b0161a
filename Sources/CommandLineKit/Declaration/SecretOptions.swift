/// The options through which a secret comes in: `--NAME-fd N`, and as a rule `--NAME-file PATH`.
package struct SecretOptions: Sendable {
  /// What the help calls the secret.
  package let title: String
  /// Reads the secret from a descriptor to its end.
  package let descriptor: Setting<Int32>
  /// Reads the secret from a private file; `nil` where a file cannot have it yet when the command begins.
  package let file: Setting<String>?

  /// - Parameters:
  ///   - title: What the help calls the secret.
  ///   - hasFile: Whether a file can bring it.
  package init(name: String, title: String, hasFile: Bool = true) {
    self.title = title
    descriptor = Setting(
      name + "-fd", .descriptor, "N",
      "Read the \(title) from descriptor N to its end; one final newline is dropped.")
    file =
      hasFile
      ? Setting(
        name + "-file", .path, "PATH",
        "Read the \(title) from PATH: your own file with mode 0600 or 0400, or one of root.") : nil
  }

  package init(title: String, descriptor: Setting<Int32>, file: Setting<String>) {
    (self.title, self.descriptor, self.file) = (title, descriptor, file)
  }

  /// `--NAME-fd N or --NAME-file PATH`
  package var advice: String { options.map(\.option.usage).joined(separator: " or ") }

  package var options: [any OptionKey] { [descriptor] + (file.map { [$0] } ?? []) }
}
