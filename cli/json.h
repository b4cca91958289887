/* JSON, one object per line on standard output. Text is made valid UTF-8, numbers read back to the
 * same bits, and numbers that are not finite become null. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct CliJson {
  FILE *file;
  bool first;
} CliJson;

/* Start and end of an object or array; `key` is null for the outermost and inside arrays. */
void cli_json_begin(CliJson *json, FILE *file);
void cli_json_open(CliJson *json, const char *key, char bracket); /* '{' or '[' */
void cli_json_close(CliJson *json, char bracket);                 /* '}' or ']' */
void cli_json_end(CliJson *json); /* closes the object, ends the line */

void cli_json_text(CliJson *json, const char *key, const char *text); /* null text: null */
void cli_json_real(CliJson *json, const char *key, double value);
void cli_json_int(CliJson *json, const char *key, long long value);
void cli_json_bool(CliJson *json, const char *key, bool value);
void cli_json_null(CliJson *json, const char *key);

#endif
