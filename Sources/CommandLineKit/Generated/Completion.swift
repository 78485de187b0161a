/// The completion script of a shell, made from the declarations of the verbs.
package struct Completion {
  package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
  }

  let program: Program

  package init(of program: Program) { self.program = program }

  package func script(for shell: Shell) -> String {
    switch shell {
    case .bash: bashScript
    case .zsh: zshScript
    case .fish: fishScript
    }
  }
}
