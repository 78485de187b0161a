import Foundation
import TestSupport
import Testing
import VaultKit
import VaultPrompts
import VaultTestKit

/// Services of a test's own: files in a folder that libpam looks into, and modules that do what a test wants.
final class PAMWorld {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("pam-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("pam.d"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  static let user = NSUserName()

  /// The shipped helper looks into the system's folder only: this one is never installed.
  var helper: PAMPresence.Helper {
    PAMPresence.Helper(at: Self.helperPath, services: folder.appendingPathComponent("pam.d").path)
  }

  static let helperPath = Built.path("vault-pam-testing")

  /// A service made of lines.
  func service(_ name: String = "vaultctl", _ lines: String...) throws {
    let text = lines.joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: folder.appendingPathComponent("pam.d/\(name)"))
  }

  /// A service whose password pam_matrix compares.
  func matrix(password: String) throws {
    let module = try Self.matrixModule()
    try Data("\(Self.user):\(password):vaultctl\n".utf8).write(to: folder.appendingPathComponent("passdb"))
    let line = "required \(module) passdb=\(folder.path)/passdb"
    try service("vaultctl", "auth \(line)", "account \(line)")
  }

  /// A service whose both steps are our own module: `auth` and `account` are its words.
  func module(auth: String, account: String = "return 0") throws {
    let path = try Self.module.get()
    try service("vaultctl", "auth required \(path) \(auth)", "account required \(path) \(account)")
  }

  func verify(_ prompt: any Prompt, service: String = "vaultctl") throws -> Answer {
    try begin(prompt, service: service).wait()
  }

  /// - Parameter limits: Without them, no limit passes: the result does not depend on how busy the machine is.
  func begin(
    _ prompt: any Prompt, service: String = "vaultctl",
    limits: PAMPresence.Limits = .init(by: HeldClock().now)
  ) -> Answer {
    let presence = PAMPresence(service: service, helper: helper, limits: limits)
    return Answer.doing { () throws(VaultError) in
      try presence.verifyPresence(
        PromptRequest(.presence, operation: "use the key", label: "mail"), asking: prompt)
    }
  }

  /// The number of the process that a module has written down.
  func processID(_ path: String) throws -> pid_t {
    var pid: pid_t?
    try waitUntil("a module that notes \(path)") {
      pid = (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { pid_t($0) }
      return pid != nil
    }
    return try #require(pid)
  }

  static func matrixModule() throws -> String {
    let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib")
    let found = folders.map { "/usr/lib/\($0)/pam_wrapper/pam_matrix.so" }
      .first { FileManager.default.fileExists(atPath: $0) }
    return try #require(found, "pam_matrix is not installed: scripts/install-deps")
  }

  /// Built once: what it does is told by its words.
  private static let module = Result { try SharedLibrary.compile(moduleSource, ["-l:libpam.so.0"]) }

  private static let moduleSource = """
    #include <fcntl.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/stat.h>
    #include <sys/sysmacros.h>
    #include <sys/wait.h>
    #include <unistd.h>
    struct message { int style; const char *text; };
    struct response { char *text; int code; };
    struct conversation { int (*f)(int, const struct message **, struct response **, void *); void *context; };
    extern int pam_get_item(const void *, int, const void **);
    extern int pam_set_item(void *, int, const void *);
    extern int pam_set_data(void *, const char *, void *, void (*)(void *, void *, int));
    static int say(void *h, int count, int style, const char *text, char **answer) {
      const struct conversation *c = 0;
      struct message one = {style, text};
      const struct message *all[64];
      struct response *r = 0;
      for (int i = 0; i < 64; i++) all[i] = text ? &one : 0;
      pam_get_item(h, 5, (const void **)&c);
      int result = c->f(count, all, &r, c->context);
      if (answer) *answer = result == 0 && r ? r[0].text : 0;
      return result;
    }
    // Says success afterwards, as a cleanup has no result.
    static void ask_at_end(void *h, void *data, int status) { say(h, 1, *(int *)data, "x", 0); }
    static int has_name(const char *name) {
      char own[32] = "";
      prctl(PR_GET_NAME, own, 0, 0, 0);
      return !strcmp(own, name);
    }
    // A verdict of success that repeats no nonce.
    static void forge(int from, int to) {
      for (int fd = from; fd < to; fd++) (void)!write(fd, "V\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0", 22);
    }
    // How many of 0, 1 and 2 are not /dev/null, and how many others a program that is started from here would get.
    static int descriptors(void) {
      int wrong = 0;
      for (int fd = 0; fd < 1024; fd++) {
        struct stat s;
        int flags = fcntl(fd, F_GETFD);
        if (fd < 3) wrong += fstat(fd, &s) != 0 || s.st_rdev != makedev(1, 3);
        else wrong += flags >= 0 && !(flags & FD_CLOEXEC);
      }
      return wrong;
    }
    // How many signals are blocked or ignored.
    static int held_signals(void) {
      sigset_t blocked;
      int held = 0;
      sigprocmask(SIG_SETMASK, 0, &blocked);
      for (int number = 1; number < 32; number++) {
        struct sigaction now;
        held += sigismember(&blocked, number) || (sigaction(number, 0, &now) == 0 && now.sa_handler == SIG_IGN);
      }
      return held;
    }
    static void block_all(void) {
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_SETMASK, &all, 0);
    }
    static void note(const char *path) {
      char other[4096];
      snprintf(other, sizeof other, "%s.new", path);
      FILE *file = fopen(other, "w");
      fprintf(file, "%d", getpid());
      fclose(file);
      rename(other, path);
    }
    // A child that goes on as if it were the module, and a parent that waits for it.
    static int is_parent(void) {
      int child = fork();
      if (child > 0) waitpid(child, 0, 0);
      return child != 0;
    }
    static int act(void *h, int argc, const char **argv) {
      int result = 0;
      for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "return")) return atoi(argv[i + 1]);
        if (!strcmp(word, "exit")) _exit(0);
        if (!strcmp(word, "leave")) exit(0);
        if (!strcmp(word, "crash")) abort();
        if (!strcmp(word, "print")) forge(0, 3);
        if (!strcmp(word, "print-everywhere")) forge(0, 64);
        if (!strcmp(word, "fork") && !is_parent()) return 0;
        if (!strcmp(word, "block")) block_all();
        if (!strncmp(word, "note=", 5)) note(word + 5);
        if (!strcmp(word, "dumpable")) return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) ? 7 : 0;
        if (!strcmp(word, "descriptors")) return descriptors() ? 7 : 0;
        if (!strcmp(word, "name")) return has_name("vault-pam") ? 0 : 7;
        if (!strcmp(word, "signals")) return held_signals() ? 7 : 0;
        if (!strcmp(word, "variable")) return getenv("VAULT_PAM_TEST") ? 0 : 7;
        if (!strcmp(word, "hang")) for (;;) pause();
        if (!strncmp(word, "until=", 6)) close(open(word + 6, O_RDONLY));
        if (!strcmp(word, "ask")) say(h, 1, 1, "Secret \\033[2Jword: ", 0);
        if (!strcmp(word, "ask-aloud")) say(h, 1, 2, "Name: ", 0);
        if (!strcmp(word, "text")) say(h, 1, 4, "touch the key", 0);
        if (!strcmp(word, "error")) say(h, 1, 3, "that was wrong", 0);
        if (!strcmp(word, "binary")) say(h, 1, 7, "x", 0);
        if (!strcmp(word, "style")) say(h, 1, 1234567, "x", 0);
        if (!strcmp(word, "binary-at-end")) { static int style = 7; pam_set_data(h, "end", &style, ask_at_end); }
        if (!strcmp(word, "ask-at-end")) { static int style = 1; pam_set_data(h, "end", &style, ask_at_end); }
        if (!strcmp(word, "null")) say(h, 1, 1, 0, 0);
        if (!strcmp(word, "none")) say(h, 0, 1, "x", 0);
        if (!strcmp(word, "minus")) say(h, -1, 1, "x", 0);
        if (!strcmp(word, "many")) say(h, 33, 1, "x", 0);
        if (!strcmp(word, "two")) say(h, 2, 1, "Twice: ", 0);
        if (!strcmp(word, "endless")) for (int n = 0; n < 1000; n++) say(h, 1, 4, "la", 0);
        if (!strcmp(word, "nobody")) pam_set_item(h, 2, "nobody");
        if (!strcmp(word, "long")) {
          char *text = malloc(100001);
          memset(text, 'x', 100000); text[100000] = 0;
          say(h, 1, 4, text, 0);
        }
      }
      return result;
    }
    int pam_sm_authenticate(void *h, int flags, int argc, const char **argv) {
      // An account without a password must be refused: the flag says so.
      return flags & 1 ? act(h, argc, argv) : 4;
    }
    int pam_sm_setcred(void *h, int flags, int argc, const char **argv) { return 0; }
    int pam_sm_acct_mgmt(void *h, int flags, int argc, const char **argv) { return act(h, argc, argv); }
    """
}
