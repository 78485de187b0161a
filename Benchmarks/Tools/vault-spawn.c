// Starts commands in turn, each alone, and times them from start to end.
//   vault-spawn ROUNDS CMD... -- CMD... -- ...     a line of JSON for each command
// An argument `<FILE` before a command is its standard input. `%r` in an argument becomes the number of the round.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static char **for_round(char **words, int round) {
  int n = 0;
  while (words[n]) n++;
  char **out = calloc(n + 1, sizeof *out);
  for (int i = 0; i < n; i++) {
    char *at = strstr(words[i], "%r");
    if (!at) { out[i] = words[i]; continue; }
    if (asprintf(&out[i], "%.*s%d%s", (int)(at - words[i]), words[i], round, at + 2) < 0) abort();
  }
  return out;
}

// VmHWM of one more run, read when the process ends.
static long high_water(char **words, const char *input) {
  pid_t child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY), in = open(input, O_RDONLY);
    dup2(in, 0);
    dup2(null, 1);
    dup2(null, 2);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execvp(words[0], words);
    _exit(127);
  }
  int status;
  long kib = -1;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return -1;
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACEEXIT);
  ptrace(PTRACE_CONT, child, 0, 0);
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXIT) {
      char path[64], line[256];
      snprintf(path, sizeof path, "/proc/%d/status", child);
      FILE *file = fopen(path, "r");
      while (file && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld", &kib);
      if (file) fclose(file);
      signal = 0;
    }
    ptrace(PTRACE_CONT, child, 0, signal == SIGTRAP ? 0 : signal);
  }
  return kib;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  int rounds = atoi(words[1]), n = 0;
  char ***commands = calloc(count, sizeof *commands);
  const char **inputs = calloc(count, sizeof *inputs);
  for (int i = 2; i < count;) {
    inputs[n] = "/dev/null";
    if (words[i][0] == '<') inputs[n] = words[i++] + 1;
    commands[n++] = &words[i];
    while (i < count && strcmp(words[i], "--") != 0) i++;
    if (i < count) words[i++] = NULL;
  }
  double *wall = calloc((size_t)n * rounds, sizeof *wall), *cpu = calloc((size_t)n * rounds, sizeof *cpu);
  int *code = calloc(n, sizeof *code);
  for (int r = -2; r < rounds; r++)
    for (int k = 0; k < n; k++) {
      int i = (k + r + 2) % n; // another command begins each round
      char **line = for_round(commands[i], r + 2);
      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      posix_spawn_file_actions_addopen(&actions, 0, inputs[i], O_RDONLY, 0);
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
      pid_t child;
      struct rusage use;
      int status;
      double t = now();
      if (posix_spawnp(&child, line[0], &actions, NULL, line, environ)) { code[i] = 127; continue; }
      wait4(child, &status, 0, &use);
      t = now() - t;
      posix_spawn_file_actions_destroy(&actions);
      int ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (ended) code[i] = ended;
      if (r < 0) continue;
      wall[(size_t)i * rounds + r] = t;
      cpu[(size_t)i * rounds + r] = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e9 + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e3;
    }
  for (int i = 0; i < n; i++) {
    printf("{\"exit\":%d,\"hwmKiB\":%ld,\"wall\":[", code[i], high_water(for_round(commands[i], rounds + 2), inputs[i]));
    for (int r = 0; r < rounds; r++) printf("%s%.0f", r ? "," : "", wall[(size_t)i * rounds + r]);
    printf("],\"cpu\":[");
    for (int r = 0; r < rounds; r++) printf("%s%.0f", r ? "," : "", cpu[(size_t)i * rounds + r]);
    printf("]}\n");
  }
}
