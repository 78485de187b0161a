// Clients of the agent, without the start of a process for each:
//   agent-load SOCKET VERSION VAULT DEVICE_KEY CLIENTS REQUESTS WORD...
// CLIENTS threads make REQUESTS requests of the same command line together, each on a connection of its own
// (docs/decisions/0047). Prints a line of JSON: rate, and the time of one request from `connect` to its end.
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { run = 1, standard = 4, ended = 69, begun = 70, longest = 64 << 10, none = -1 };

static struct sockaddr_un place = {.sun_family = AF_UNIX};
static unsigned char packet[longest], *at = packet;
static int null, requests, clients;
static double *times;
static int failures;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void put(const void *bytes, size_t count) {
  if (count > (size_t)(packet + longest - at)) abort();
  memcpy(at, bytes, count);
  at += count;
}

static void count_of(size_t count) {
  uint32_t number = htonl((uint32_t)count);
  put(&number, 4);
}

static void field(unsigned char tag, const void *bytes, size_t count) {
  put(&tag, 1);
  count_of(count);
  put(bytes, count);
}

static void number(unsigned char tag, uint64_t value) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = value >> (56 - 8 * i);
  field(tag, bytes, 8);
}

static void list(unsigned char tag, char **texts) {
  size_t all = 0;
  for (char **text = texts; *text; text++) all += 4 + strlen(*text);
  put(&tag, 1);
  count_of(all);
  for (char **text = texts; *text; text++) { count_of(strlen(*text)); put(*text, strlen(*text)); }
}

// By these the agent sees that the command looks for device keys where it does.
static char **variables(void) {
  static char *found[7];
  char *names[] = {"HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"};
  int count = 0;
  for (int i = 0; i < 3; i++)
    if (getenv(names[i])) found[count++] = names[i], found[count++] = getenv(names[i]);
  return found;
}

// The fields of AgentRun.
static void request(const char *version, const char *vault, const char *key, char **words) {
  const unsigned char head[] = {run, 3};
  struct stat file;
  if (stat(vault, &file)) { perror(vault); exit(2); }
  put(head, 2);
  number(1, 3);
  field(2, version, strlen(version));
  list(3, words);
  list(4, variables());
  field(5, vault, strlen(vault));
  number(6, file.st_dev);
  number(7, file.st_ino);
  if (*key) field(8, key, strlen(key));
}

// Sends one packet with standard input, output and error, which lead to /dev/null.
static int sent(int socket_of, const void *bytes, size_t count) {
  union { struct cmsghdr head; char room[CMSG_SPACE(3 * sizeof(int))]; } control = {0};
  struct iovec all = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &all, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  const int descriptors[] = {null, null, null};
  *rights = (struct cmsghdr){CMSG_LEN(sizeof descriptors), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(rights), descriptors, sizeof descriptors);
  return sendmsg(socket_of, &message, MSG_NOSIGNAL) > 0;
}

// The exit code of one request; `none` for another end.
static int once(void) {
  int exit_code = none, socket_of = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const unsigned char own[] = {standard, 3};
  unsigned char answer[longest];
  if (connect(socket_of, (struct sockaddr *)&place, sizeof place) == 0 && sent(socket_of, packet, (size_t)(at - packet)) &&
      recv(socket_of, answer, sizeof answer, 0) == 2 && answer[0] == begun && sent(socket_of, own, sizeof own)) {
    ssize_t count = recv(socket_of, answer, sizeof answer, 0);
    // Its type, no descriptors, one field of eight bytes: the exit code.
    if (count == 15 && answer[0] == ended && answer[2] == 1) exit_code = answer[14];
  }
  close(socket_of);
  return exit_code;
}

static void *client(void *first) {
  for (int i = (int)(long)first; i < requests; i += clients) {
    double start = now();
    if (once() != 0) __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    times[i] = now() - start;
  }
  return NULL;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **words) {
  if (count < 8) return 2;
  snprintf(place.sun_path, sizeof place.sun_path, "%s", words[1]);
  request(words[2], words[3], words[4], words + 7);
  clients = atoi(words[5]), requests = atoi(words[6]), null = open("/dev/null", O_RDWR | O_CLOEXEC);
  times = calloc((size_t)requests, sizeof *times);
  pthread_t *threads = calloc((size_t)clients, sizeof *threads);
  if (clients < 1 || requests < 1 || !times || !threads) return 2;
  double start = now();
  for (int i = 0; i < clients; i++)
    if (pthread_create(&threads[i], NULL, client, (void *)(long)i)) return 2;
  for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
  double all = now() - start;
  qsort(times, (size_t)requests, sizeof *times, compare);
  printf("{\"clients\":%d,\"requests\":%d,\"failures\":%d,\"perSecond\":%.1f,\"p50\":%.0f,\"p99\":%.0f,\"most\":%.0f}\n", clients,
         requests, failures, requests / (all / 1e9), times[requests / 2], times[(int)(requests * 0.99)], times[requests - 1]);
  return failures != 0;
}
