/* `scree view`: serves the page of a run on the loopback interface and sends frames on request. A
 * single thread and poll(2) serve a bounded number of connections, each one request. The resources
 * are a fixed list: the page, meta.json and numbered blocks, all made from the open run. No name in
 * a request ever reaches the file system, so nothing outside the run can be read. The Host header
 * must name this machine, which protects against DNS rebinding. A run that goes on is opened again
 * when its files have grown and the page asks what is new, without reading the telemetry that it
 * has read before; frames keep their numbers. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/memory.h"
#include "view/report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 32, REQUEST_MAX = 8192, RUNS_MAX = 2 };

/* A run whose telemetry was not written to for so many seconds does not go on. It is written at
 * least once a second. */
static const double SILENCE = 20.0;

/* A connection: its request so far, then its answer. */
typedef struct Client {
  int fd; /* -1: free */
  char request[REQUEST_MAX + 1];
  size_t received;
  char *answer; /* head and body; null while the request is incomplete */
  size_t size, sent;
  bool done;       /* the answer is sent; further input is read and discarded */
  double deadline; /* seconds of the clock */
} Client;

/* A served run, and the state of its files when it was opened. */
typedef struct Served {
  const char *directory;
  scree_Replay *replay;
  scree_ReportPlan plan;
  off_t journal, telemetry;
  struct timespec results; /* time of results.h5 */
  double opened, cost;     /* seconds of the clock */
} Served;

typedef struct Server {
  Served runs[RUNS_MAX];
  int run_count;
  const scree_Log *log;
  scree_PageBlock block;
  int listener, port;
  Client clients[CLIENTS];
} Server;

/* ---- answers --------------------------------------------------------------------------------- */

static void answer(Client *client, const char *status, const char *type, const void *body,
                   size_t size, bool with_body) {
  char head[512];
  const int length = snprintf(head, sizeof head,
                              "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                              "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                              "Connection: close\r\n\r\n",
                              status, type, size);
  client->answer = malloc((size_t)length + size);
  client->size = client->sent = 0;
  if (!client->answer) return; /* the connection is closed without an answer */
  memcpy(client->answer, head, (size_t)length);
  client->size = (size_t)length;
  if (with_body && size) {
    memcpy(client->answer + length, body, size);
    client->size += size;
  }
}

static void answer_text(Client *client, const char *status, const char *text) {
  answer(client, status, "text/plain; charset=utf-8", text, strlen(text), true);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool look_at(const char *directory, const char *name, struct stat *info) {
  char *path = cli_join(directory, name);
  const bool there = path && stat(path, info) == 0;
  free(path);
  if (!there) *info = (struct stat){0};
  return there;
}

/* Whether some program still writes to the folder of a run. */
static bool goes_on(const Served *run) {
  struct stat info;
  return !run->replay->finished && look_at(run->directory, "telemetry.jsonl", &info) &&
         difftime(time(NULL), info.st_mtime) < SILENCE;
}

static scree_Status open_run(Served *run, int runs, const scree_Log *log) {
  struct stat results, journal, telemetry;
  scree_Replay *replay = NULL;
  scree_ReportPlan plan;
  run->opened = scree_seconds();
  (void)look_at(run->directory, "results.h5", &results);
  (void)look_at(run->directory, "frames.bin", &journal);
  (void)look_at(run->directory, "telemetry.jsonl", &telemetry);
  scree_Status status = run->replay ? scree_replay_open_again(run->replay, log, &replay)
                                    : scree_replay_open(run->directory, log, &replay);
  if (status != SCREE_OK) return status;
  const scree_ReportSettings settings = scree_report_settings();
  status = scree_report_plan(replay, &settings, INFINITY, &plan);
  if (status != SCREE_OK) {
    scree_replay_close(replay);
    return status;
  }
  if (run->replay) {
    scree_report_plan_fini(&run->plan);
    scree_replay_close(run->replay);
  }
  run->replay = replay;
  run->plan = plan;
  run->plan.runs = runs;
  run->plan.live = runs == 1 && goes_on(run);
  run->results = results.st_mtim;
  run->journal = journal.st_size;
  run->telemetry = telemetry.st_size;
  run->cost = scree_seconds() - run->opened;
  return SCREE_OK;
}

/* Open the run again when it has grown, but spend a fifth of the time on that at most. A run that
 * cannot be opened now, because it is being written, stays as it was. */
static void renew(Server *server, Served *run) {
  struct stat results, journal, telemetry;
  if (!run->plan.live || scree_seconds() - run->opened < 4.0 * run->cost) return;
  const bool there = look_at(run->directory, "results.h5", &results);
  (void)look_at(run->directory, "frames.bin", &journal);
  (void)look_at(run->directory, "telemetry.jsonl", &telemetry);
  const bool grown = journal.st_size != run->journal || telemetry.st_size != run->telemetry ||
                     results.st_mtim.tv_sec != run->results.tv_sec ||
                     results.st_mtim.tv_nsec != run->results.tv_nsec;
  if (there && grown)
    (void)open_run(run, server->run_count, server->log);
  else
    run->plan.live = goes_on(run);
}

/* ---- resources ------------------------------------------------------------------------------- */

static void answer_meta(Server *server, Served *run, Client *client) {
  renew(server, run);
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file) {
    scree_report_meta(run->replay, &run->plan, file);
    fclose(file);
  }
  if (file && text)
    answer(client, "200 OK", "application/json", text, size, true);
  else
    answer_text(client, "500 Internal Server Error", "out of memory\n");
  free(text);
}

/* The number after the letter of a block's name; -1 when it is not a number below `limit`. */
static int block_number(const char *text, int limit) {
  long value = 0;
  if (!*text) return -1;
  for (; *text; ++text) {
    if (*text < '0' || *text > '9') return -1;
    value = 10 * value + (*text - '0');
    if (value >= limit) return -1;
  }
  return (int)value;
}

static void answer_block(Server *server, Served *run, Client *client, const char *name) {
  scree_Status status = SCREE_OK;
  const int number =
      name[0] == 'b' || name[0] == 'c' ? block_number(name + 1, run->plan.count) : -1;
  if (strcmp(name, "static") == 0)
    scree_report_static(run->replay, &server->block);
  else if (strcmp(name, "telemetry") == 0 && run->replay->rows)
    status = scree_report_telemetry(run->replay, &server->block);
  else if (name[0] == 'b' && number >= 0)
    status = scree_report_frames(run->replay, &run->plan, number, &server->block);
  else if (name[0] == 'c' && number >= 0 && run->plan.contacts)
    status = scree_report_contacts(run->replay, &run->plan, number, &server->block);
  else {
    answer_text(client, "404 Not Found", "there is no such block\n");
    return;
  }
  unsigned char *bytes = NULL;
  size_t size = 0;
  if (status == SCREE_OK) status = scree_block_end(&server->block, run->replay->log, &bytes, &size);
  if (status == SCREE_OK)
    answer(client, "200 OK", "application/octet-stream", bytes, size, true);
  else
    answer_text(client, "500 Internal Server Error", "the run cannot be read\n");
  scree_free(bytes);
}

/* Value of the Host header, in place; null when it is missing. */
static char *host_of(char *headers) {
  for (char *line = strstr(headers, "\r\n"); line; line = strstr(line, "\r\n")) {
    line += 2;
    const char name[] = "host:";
    size_t k = 0;
    while (name[k] && (line[k] | 32) == name[k]) ++k;
    if (name[k]) continue;
    char *value = line + k;
    while (*value == ' ') ++value;
    return value;
  }
  return NULL;
}

static bool is_local(char *host, int port) {
  static const char *const names[] = {"127.0.0.1", "localhost"};
  if (!host) return false;
  for (int k = 0; k < 2; ++k) {
    char expected[64];
    const int length = snprintf(expected, sizeof expected, "%s:%d\r\n", names[k], port);
    if (strncmp(host, expected, (size_t)length) == 0) return true;
  }
  return false;
}

static void respond(Server *server, Client *client) {
  char *request = client->request;
  const bool local = is_local(host_of(request), server->port);
  char *path = strchr(request, ' ');
  char *end = path ? strpbrk(path + 1, " \r\n") : NULL;
  if (!end || strncmp(request, "GET ", 4) != 0) {
    answer_text(client, "405 Method Not Allowed", "only GET is answered\n");
    return;
  }
  *end = 0;
  ++path;
  size_t size;
  const char *page = scree_report_page(&size);
  /* Resources of the second run are below "/1". */
  const bool second = server->run_count > 1 && strncmp(path, "/1/", 3) == 0;
  Served *run = &server->runs[second ? 1 : 0];
  const char *resource = second ? path + 2 : path;
  if (!local)
    answer_text(client, "403 Forbidden", "this server answers to 127.0.0.1 alone\n");
  else if (strcmp(path, "/") == 0)
    answer(client, "200 OK", "text/html; charset=utf-8", page, size, true);
  else if (strcmp(resource, "/meta.json") == 0)
    answer_meta(server, run, client);
  else if (strncmp(resource, "/block/", 7) == 0)
    answer_block(server, run, client, resource + 7);
  else
    answer_text(client, "404 Not Found", "there is nothing here\n");
}

/* ---- connections ----------------------------------------------------------------------------- */

static void drop(Client *client) {
  if (client->fd >= 0) close(client->fd);
  free(client->answer);
  client->fd = -1;
  client->answer = NULL;
  client->done = false;
  client->received = client->size = client->sent = 0;
}

static void take_request(Server *server, Client *client) {
  const ssize_t got =
      recv(client->fd, client->request + client->received, REQUEST_MAX - client->received, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    drop(client);
    return;
  }
  client->received += (size_t)got;
  client->request[client->received] = 0;
  if (strstr(client->request, "\r\n\r\n")) {
    respond(server, client);
    client->deadline = scree_seconds() + 60.0;
    if (!client->answer) drop(client);
  } else if (client->received == REQUEST_MAX) {
    answer_text(client, "431 Request Header Fields Too Large", "the request is too long\n");
    client->deadline = scree_seconds() + 10.0;
    if (!client->answer) drop(client);
  }
}

static void send_answer(Client *client) {
  const ssize_t sent =
      send(client->fd, client->answer + client->sent, client->size - client->sent, MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent <= 0) {
    drop(client);
    return;
  }
  client->sent += (size_t)sent;
  if (client->sent < client->size) return;
  /* Closing with unread input would send a reset and may discard the answer: wait until the client
   * closes. */
  shutdown(client->fd, SHUT_WR);
  client->done = true;
  client->deadline = scree_seconds() + 2.0;
}

static void forget_rest(Client *client) {
  char rest[4096];
  const ssize_t got = recv(client->fd, rest, sizeof rest, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) drop(client);
}

static void accept_client(Server *server) {
  const int fd = accept(server->listener, NULL, NULL);
  if (fd < 0) return;
  for (int k = 0; k < CLIENTS; ++k) {
    Client *client = &server->clients[k];
    if (client->fd >= 0) continue;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) break;
    client->fd = fd;
    client->deadline = scree_seconds() + 10.0;
    return;
  }
  close(fd);
}

static bool listen_local(Server *server, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int yes = 1;
  server->listener = socket(AF_INET, SOCK_STREAM, 0);
  if (server->listener < 0 ||
      setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(server->listener, CLIENTS) != 0 || fcntl(server->listener, F_SETFL, O_NONBLOCK) != 0 ||
      getsockname(server->listener, (struct sockaddr *)&address, &size) != 0) {
    cli_error("scree view: cannot listen on 127.0.0.1 port %d: %s", port, strerror(errno));
    return false;
  }
  server->port = ntohs(address.sin_port);
  return true;
}

/* Serve until Ctrl-C, or until there was no request for `idle` seconds. */
static void serve(Server *server, double idle) {
  double last = scree_seconds();
  while (!cli_interrupted()) {
    struct pollfd fds[CLIENTS + 1];
    int owner[CLIENTS + 1], count = 0;
    fds[count++] = (struct pollfd){server->listener, POLLIN, 0};
    for (int k = 0; k < CLIENTS; ++k) {
      Client *client = &server->clients[k];
      if (client->fd >= 0 && scree_seconds() > client->deadline) drop(client);
      if (client->fd < 0) continue;
      owner[count] = k;
      const bool sending = client->answer && !client->done;
      fds[count++] = (struct pollfd){client->fd, sending ? POLLOUT : POLLIN, 0};
    }
    const int ready = poll(fds, (nfds_t)count, 250);
    if (ready > 0) last = scree_seconds();
    if (ready <= 0 && scree_seconds() - last > idle) return;
    for (int k = 1; ready > 0 && k < count; ++k) {
      Client *client = &server->clients[owner[k]];
      if (!fds[k].revents) continue;
      if (client->done)
        forget_rest(client);
      else if (client->answer)
        send_answer(client);
      else
        take_request(server, client);
    }
    if (ready > 0 && fds[0].revents) accept_client(server);
  }
}

/* A run that was started just now has no results yet: wait for them. */
static bool wait_for(const char *directory) {
  struct stat info;
  bool told = false;
  while (!look_at(directory, "results.h5", &info) && look_at(directory, "frames.bin", &info) &&
         !cli_interrupted()) {
    if (!told) fprintf(stderr, "scree view: %s: waiting for the first results\n", directory);
    told = true;
    const struct timespec moment = {.tv_nsec = 200000000};
    (void)nanosleep(&moment, NULL);
  }
  return !cli_interrupted();
}

static int view(const CliList *directories, int port, double idle) {
  CliLog log;
  cli_log_init(&log, false, false);
  Server *server = calloc(1, sizeof *server);
  if (!server) {
    cli_error("scree view: out of memory");
    return 3;
  }
  for (int k = 0; k < CLIENTS; ++k) server->clients[k].fd = -1;
  server->listener = -1;
  size_t size;
  scree_Status status = SCREE_OK;
  if (!scree_report_page(&size)) {
    cli_error(
        "scree view: this scree was built without its page: build it with \"npm ci && npm run "
        "build\" in viewer/, then build scree again");
    status = SCREE_BAD_INPUT;
  }
  server->log = &log.log;
  server->run_count = directories->count;
  cli_catch_interrupt();
  for (int k = 0; status == SCREE_OK && k < server->run_count; ++k) {
    Served *run = &server->runs[k];
    run->directory = directories->items[k];
    if (wait_for(run->directory))
      status = open_run(run, server->run_count, server->log);
    else
      status = SCREE_INTERRUPTED;
  }
  if (status == SCREE_OK && server->run_count > 1 &&
      server->runs[0].replay->dimension != server->runs[1].replay->dimension) {
    cli_error("scree view: a run of %d dimensions cannot be compared with one of %d",
              server->runs[1].replay->dimension, server->runs[0].replay->dimension);
    status = SCREE_BAD_INPUT;
  }
  if (status == SCREE_OK && !listen_local(server, port)) status = SCREE_MACHINE;
  if (status == SCREE_OK) {
    signal(SIGPIPE, SIG_IGN);
    printf("http://127.0.0.1:%d/\n", server->port);
    fflush(stdout);
    if (isatty(STDOUT_FILENO)) printf("open it in a browser; Ctrl-C ends\n");
    serve(server, idle);
  }
  for (int k = 0; k < CLIENTS; ++k) drop(&server->clients[k]);
  if (server->listener >= 0) close(server->listener);
  scree_block_fini(&server->block);
  for (int k = 0; k < server->run_count; ++k)
    if (server->runs[k].replay) {
      scree_report_plan_fini(&server->runs[k].plan);
      scree_replay_close(server->runs[k].replay);
    }
  free(server);
  return status == SCREE_INTERRUPTED ? 0 : (int)status;
}

static int run(const CliCommand *command, int argc, char **argv) {
  int port = 0;
  double idle = INFINITY;
  const CliOption options[] = {
      {"port", 0, CLI_INT, &port, "N", "port on 127.0.0.1 (default: any free port)", 1, 65535,
       NULL},
      {"idle", 0, CLI_REAL, &idle, "S", "end after S seconds without a request", 0, 1e9, NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 && (arguments.count < 1 || arguments.count > RUNS_MAX)) {
    cli_error("scree view: expected the folder of a run, or of two to compare, found %d (scree "
              "view --help explains)",
              arguments.count);
    status = 2;
  }
  if (status < 0) status = cli_finish(view(&arguments, port, idle));
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_view = {
    .name = "view",
    .usage = "DIR [DIR2] [--port N] [--idle S]",
    .summary = "show a run in a browser, also while it is running",
    .help = "Serves the page of scree report on 127.0.0.1 with all frames at full precision,\nfor "
            "runs that are too large for one page. Only this run is served. A run that\nis still "
            "running is shown live. With two folders both runs are shown side by\nside.",
    .examples = "  scree view drum-run\n"
                "  scree view drum-run --port 8080",
    .run = run,
};
