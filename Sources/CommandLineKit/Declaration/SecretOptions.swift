/// The two options through which a secret comes in: `--NAME-fd N` and `--NAME-file PATH`.
package struct SecretOptions: Sendable {
  /// Reads the secret from a descriptor to its end.
  package let descriptor: Setting<Int32>
  /// Reads the secret from a private file.
  package let file: Setting<String>

  /// - Parameter title: What the help calls the secret.
  package init(name: String, title: String) {
    descriptor = Setting(
      name + "-fd", .descriptor, "N",
      "Read the \(title) from descriptor N to its end; one final newline is dropped.")
    file = Setting(
      name + "-file", .path, "PATH",
      "Read the \(title) from PATH: your own file, mode 0600 or 0400, links not followed.")
  }

  /// `--NAME-fd N or --NAME-file PATH`
  package var advice: String { "\(descriptor.option.usage) or \(file.option.usage)" }

  package var options: [any OptionKey] { [descriptor, file] }
}
