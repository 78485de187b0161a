import CommandLineKit
import Glibc
import VaultWords

/// The editor of a person, and how it is kept from writing the text anywhere but into its file.
///
/// Editors that are known get options against backups, swap files, undo files and histories; vim, nano and emacs load no configuration.
/// Any other editor finds HOME in the directory of the file, so that what it writes there is removed with it.
struct EditorProgram {
  /// The command for `sh -c`, whose first argument is the file.
  let command: String
  /// Variables that it has in place of ours: `nil` for one that it does not have.
  let variables: [(name: String, value: String?)]

  /// - Parameter folder: The directory of the file.
  /// - Throws: Exit 9 for an editor that has another process open the file.
  init(_ environment: Environment, in folder: String) throws(CommandError) {
    let given = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
    let words = given.drop { $0 == " " }
    let program = words.prefix { $0 != " " && $0 != "\t" }
    let rest = words.dropFirst(program.count)
    let known = Self.name(of: String(program), path: environment["PATH"])
    guard known?.hasPrefix("emacsclient") != true else {
      throw CommandError(
        .refused, "emacsclient has another process open the file, which can keep copies of it",
        hint: "set VISUAL to 'emacs -nw', or to another editor", code: "editorRefused")
    }
    let options = known.flatMap(Self.options)
    command = options.map { "exec \(program) \($0) \(rest) \"$1\"" } ?? "\(given) \"$1\""
    let temporary = ["TMPDIR", "TMP", "TEMP"].map { ($0, Optional(folder)) }
    let homes = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"].map {
      ($0, String?.none)
    }
    variables = options == nil ? temporary + [("HOME", folder)] + homes : temporary
  }

  /// The name of the file that a command starts, behind all links: `vi` is `vim.basic` on many machines.
  ///
  /// - Returns: `nil` for what only a shell understands, and for what is not there.
  private static func name(of program: String, path: String?) -> String? {
    let isPlain = program.utf8.allSatisfy { byte in
      0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || "._/+-".utf8.contains(byte)
    }
    guard isPlain, !program.isEmpty else { return nil }
    let folders = (path ?? "/usr/bin:/bin").split(separator: ":" as Character).map(String.init)
    let candidates = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
    guard let found = candidates.first(where: { unsafe access($0, X_OK) == 0 }),
      let real = unsafe realpath(found, nil)
    else { return nil }
    defer { unsafe free(real) }
    return unsafe String(validatingCString: real)?.split(separator: "/" as Character).last.map(String.init)
  }

  /// The options against what an editor writes besides its file; `nil` for an editor that is not known.
  private static func options(of name: String) -> String? {
    switch name {
    case "vim", "nvim": vim
    case _ where name.hasPrefix("vim."): vim
    case "nano": "--ignorercfiles"
    case _ where name == "emacs" || name.hasPrefix("emacs-"): emacs
    default: nil
    }
  }

  /// No swap file, no memory of the text, and no configuration and plugins, which could write it elsewhere. A line of the text sets nothing.
  private static let vim =
    "-f -N -u NONE -n -i NONE --cmd 'set \(vimSettings)' -c 'set \(vimSettings)'"
  private static let vimSettings = "nobackup nowritebackup noundofile noswapfile viminfo= nomodeline"
  private static let emacs =
    "-Q --eval '(setq make-backup-files nil auto-save-default nil create-lockfiles nil auto-save-list-file-prefix nil)'"
}
