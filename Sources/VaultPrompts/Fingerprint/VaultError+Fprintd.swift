import Glibc
import VaultKit

extension VaultError {
  init(fprintd failure: SystemBus.Failure) {
    switch failure {
    case .noLibrary:
      self.init(
        .unsupported, "libsystemd is missing, so fprintd cannot be reached",
        hint: "install it: apt install libsystemd0")
    case .gone(let code) where [ENOENT, ECONNREFUSED, ENOMEDIUM, EACCES].contains(code):
      self.init(
        .unsupported, "there is no system bus, so fprintd cannot be reached",
        hint: "biometry by phrase works without one",
        underlying: code)
    case .gone(let code):
      self.init(
        .verificationUnavailable, "fprintd or the system bus went away", hint: "try again", underlying: code)
    case .silent:
      self.init(
        .verificationUnavailable, "fprintd does not answer", hint: "restart it: systemctl restart fprintd")
    case .malformed:
      self.init(.verificationUnavailable, "fprintd answers in an unknown form")
    case .refused(let name): self.init(fprintd: name)
    }
  }

  private init(fprintd name: String) {
    switch name {
    case FingerVerification.cancelled: self.init(.cancelled, "cancelled at the fingerprint reader")
    case FingerVerification.timedOut:
      self.init(.timedOut, "no finger was put on the reader in time")
    case FingerVerification.signalled:
      self.init(.appCancelled, "a signal ended the prompt", prompt: .signal)
    case "verify-no-match": self.init(.authenticationFailed, "the finger is not enrolled")
    case FingerVerification.tooManyRetries, "verify-retry-scan", "verify-swipe-too-short",
      "verify-finger-not-centered",
      "verify-remove-and-retry":
      self.init(
        .authenticationFailed, "the reader could not read the finger", hint: "clean the reader and try again")
    case "verify-disconnected":
      self.init(
        .verificationUnavailable, "the fingerprint reader was unplugged", hint: "plug it in and try again")
    case FingerprintReader.noPrints:
      self.init(.unsupported, "no finger is enrolled with fprintd", hint: "enroll one: fprintd-enroll")
    case "net.reactivated.Fprint.Error.NoSuchDevice":
      self.init(.unsupported, "there is no fingerprint reader", hint: "biometry by phrase works without one")
    case "net.reactivated.Fprint.Error.AlreadyInUse":
      self.init(
        .busy, "the fingerprint reader is in use by another program",
        hint: "try again when that program has finished")
    case "net.reactivated.Fprint.Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied":
      self.init(
        .verificationUnavailable, "fprintd does not let this user verify fingers",
        hint: "see polkit's rules for fprintd")
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
      self.init(.unsupported, "fprintd is not installed", hint: "install it: apt install fprintd")
    case _ where name.hasPrefix("org.freedesktop.DBus.Error.Spawn"):
      self.init(.verificationUnavailable, "fprintd does not start", hint: "see 'systemctl status fprintd'")
    default:
      self.init(.verificationUnavailable, "fprintd fails (\(PromptText.visible(name, limit: 80)))")
    }
  }
}
