/* Files that are part of the program: the scenes of examples/ and of cli/new/. The build writes the
 * table (cmake/Embedded.cmake). */
#ifndef CLI_EMBEDDED_H
#define CLI_EMBEDDED_H

typedef struct CliFile {
  const char *name; /* "examples/drum.yaml", "new/heap.yaml"; null ends the table */
  const char *begin, *end;
} CliFile;

extern const CliFile cli_files[];

/* The first line of a file without its leading "# "; `size` bytes at most. */
void cli_file_summary(const CliFile *file, char *text, unsigned size);

#endif
