// What `scripts/test --sanitize address` links into every program that it builds: the options of the sanitizer. Most tests
// give the programs that they start an environment of their own, so the environment cannot carry the options.
// REPORTS and SYMBOLIZER come from the command that compiles this file.
const char *__asan_default_options(void) {
  return "detect_leaks=0:exitcode=86:log_path='" REPORTS "/address':external_symbolizer_path='" SYMBOLIZER "'";
}
