/* `scree new` and `scree examples`: scenes to start from, which are part of the program. */
#include "cli/args.h"
#include "cli/embedded.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "scree/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MAX = 64 };

void cli_file_summary(const CliFile *file, char *text, unsigned size) {
  const char *line = file->begin;
  while (line < file->end && (*line == '#' || *line == ' ')) ++line;
  const size_t length = strcspn(line, "\n");
  snprintf(text, size, "%.*s", (int)length, line);
}

/* "new/heap.yaml" of the folder "new" -> "heap"; false when the file is elsewhere or no scene. */
static bool name_of(const CliFile *file, const char *folder, char *name, size_t size) {
  const size_t length = strlen(folder);
  if (strncmp(file->name, folder, length) != 0 || file->name[length] != '/') return false;
  const char *base = file->name + length + 1, *dot = strstr(base, ".yaml");
  if (!dot || strchr(base, '/')) return false;
  snprintf(name, size, "%.*s", (int)(dot - base), base);
  return true;
}

static bool word_of(const char *folder, int k, char *text, unsigned size) {
  for (const CliFile *file = cli_files; file->name; ++file)
    if (name_of(file, folder, text, size) && k-- == 0) return true;
  return false;
}

static bool new_word(int k, char *text, unsigned size) {
  return word_of("new", k, text, size);
}

static bool example_word(int k, char *text, unsigned size) {
  return word_of("examples", k, text, size);
}

static const CliFile *find(const char *folder, const char *wanted) {
  char name[64];
  for (const CliFile *file = cli_files; file->name; ++file)
    if (name_of(file, folder, name, sizeof name) && strcmp(name, wanted) == 0) return file;
  return NULL;
}

static int refuse(const char *command, const char *folder, const char *wanted) {
  static char names[NAMES_MAX][64];
  const char *words[NAMES_MAX + 1] = {NULL};
  int count = 0;
  for (const CliFile *file = cli_files; file->name && count < NAMES_MAX; ++file)
    if (name_of(file, folder, names[count], sizeof names[count])) {
      words[count] = names[count];
      ++count;
    }
  const char *near = scree_nearest_word(wanted, words);
  cli_error("scree %s: unknown scene \"%s\"%s%s%s (scree %s lists them)", command, wanted,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "", command);
  return 2;
}

static void list(const char *folder) {
  const CliColours colour = cli_colours();
  char name[64], summary[160];
  for (const CliFile *file = cli_files; file->name; ++file) {
    if (!name_of(file, folder, name, sizeof name)) continue;
    cli_file_summary(file, summary, sizeof summary);
    printf("%s%-14s%s %s\n", colour.bold, name, colour.off, summary);
  }
}

/* Write a file that is not there yet, unless `force`. */
static int write_file(const char *command, const CliFile *file, const char *path, bool force) {
  if (!force && access(path, F_OK) == 0) {
    cli_error("scree %s: %s is there already: replace it with --force, or choose another name (-o)",
              command, path);
    return 2;
  }
  FILE *out = fopen(path, "w");
  const size_t size = (size_t)(file->end - file->begin);
  bool good = out && fwrite(file->begin, 1, size, out) == size;
  if (out) good = fclose(out) == 0 && good;
  if (!good) cli_error("scree %s: %s cannot be written: %s", command, path, strerror(errno));
  return good ? 0 : 3;
}

/* ---- new ------------------------------------------------------------------------------------- */

static int make_new(const char *kind, const char *output, bool force) {
  const CliFile *file = find("new", kind);
  if (!file) return refuse("new", "new", kind);
  char path[128];
  snprintf(path, sizeof path, "%.100s.yaml", kind);
  if (output && strcmp(output, "-") == 0) {
    fwrite(file->begin, 1, (size_t)(file->end - file->begin), stdout);
    return 0;
  }
  if (!output) output = path;
  const int status = write_file("new", file, output, force);
  if (status == 0) printf("%s: try scree check %s, then scree run %s\n", output, output, output);
  return status;
}

static int run_new(const CliCommand *command, int argc, char **argv) {
  const char *output = NULL;
  bool force = false;
  CliList kinds = {0};
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &output, "FILE.yaml",
       "file of the scene (default KIND.yaml; - prints it)", 0, 0, NULL},
      {"force", 'f', CLI_FLAG, &force, NULL, "replace an existing file", 0, 0, NULL},
      {0},
  };
  int status = cli_parse(command, options, argc, argv, &kinds);
  if (status < 0 && kinds.count == 0) {
    list("new");
    status = cli_finish(0);
  } else if (status < 0 && kinds.count > 1) {
    cli_error("scree new: found %d kinds, expected one (scree new --help explains)", kinds.count);
    status = 2;
  } else if (status < 0) {
    status = cli_finish(make_new(kinds.items[0], output, force));
  }
  cli_list_free(&kinds);
  return status;
}

const CliCommand cli_command_new = {
    .name = "new",
    .usage = "[KIND] [-o FILE.yaml]",
    .summary = "write a commented scene as a template",
    .help = "Writes a short scene with comments, as a template: heap, hopper, drum, wall,\ncell or "
            "mechanism. Without a kind it lists them.",
    .examples = "  scree new\n"
                "  scree new hopper && scree run hopper.yaml\n"
                "  scree new wall -o -",
    .run = run_new,
    .word = new_word,
};

/* ---- examples -------------------------------------------------------------------------------- */

/* All files of the examples into a folder, with those that scenes include. */
static int copy_all(const char *folder, bool force) {
  int status = 0;
  for (const CliFile *file = cli_files; file->name && status == 0; ++file) {
    if (strncmp(file->name, "examples/", 9) != 0) continue;
    char *path = cli_join(folder, file->name + 9), *slash = path ? strrchr(path, '/') : NULL;
    if (!path) return 3;
    if (slash) {
      *slash = '\0';
      if (!cli_need_folder(path)) status = 3;
      *slash = '/';
    }
    if (status == 0) status = write_file("examples", file, path, force);
    free(path);
  }
  if (status == 0) printf("%s: the scenes of `scree examples`, ready to run\n", folder);
  return status;
}

static int run_examples(const CliCommand *command, int argc, char **argv) {
  const char *output = NULL;
  bool force = false;
  CliList names = {0};
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &output, "DIR", "copy all examples to a folder", 0, 0, NULL},
      {"force", 'f', CLI_FLAG, &force, NULL, "replace existing files", 0, 0, NULL},
      {0},
  };
  int status = cli_parse(command, options, argc, argv, &names);
  if (status < 0 && output) {
    status = cli_finish(copy_all(output, force));
  } else if (status < 0 && names.count == 0) {
    list("examples");
    printf("\nscree examples NAME prints one, scree examples -o DIR copies all.\n");
    status = cli_finish(0);
  } else if (status < 0) {
    status = 0;
    for (int k = 0; k < names.count && status == 0; ++k) {
      const CliFile *file = find("examples", names.items[k]);
      if (file)
        fwrite(file->begin, 1, (size_t)(file->end - file->begin), stdout);
      else
        status = refuse("examples", "examples", names.items[k]);
    }
    status = cli_finish(status);
  }
  cli_list_free(&names);
  return status;
}

const CliCommand cli_command_examples = {
    .name = "examples",
    .usage = "[NAME...] [-o DIR]",
    .summary = "list, print or copy the example scenes",
    .help =
        "Without a name: lists the example scenes with one line each. With names: prints\nthese "
        "scenes. With -o: copies all examples, and the files that they include, to\na folder.",
    .examples = "  scree examples\n"
                "  scree examples dominoes > dominoes.yaml\n"
                "  scree examples -o examples && scree run examples/drum.yaml",
    .run = run_examples,
    .word = example_word,
};
