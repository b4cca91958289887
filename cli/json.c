/* JSON on a stream (see json.h; the grammar is RFC 8259). */
#include "cli/json.h"

#include <math.h>
#include <stdlib.h>

/* Length of the valid UTF-8 sequence at s, or 0. */
static int utf8_length(const unsigned char *s) {
  if (s[0] < 0x80) return 1;
  const int length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                     : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                     : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                    : 0;
  for (int k = 1; k < length; ++k)
    if ((s[k] & 0xc0) != 0x80) return 0;
  if (s[0] == 0xe0 && s[1] < 0xa0) return 0; /* overlong */
  if (s[0] == 0xed && s[1] > 0x9f) return 0; /* surrogates */
  if (s[0] == 0xf0 && s[1] < 0x90) return 0; /* overlong */
  if (s[0] == 0xf4 && s[1] > 0x8f) return 0; /* beyond Unicode */
  return length;
}

static void write_string(FILE *file, const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  fputc('"', file);
  while (*s) {
    const int length = utf8_length(s);
    if (length == 0) {
      fputs("\\ufffd", file); /* a byte that is not UTF-8, as in some file names */
      ++s;
    } else if (*s == '"' || *s == '\\') {
      fputc('\\', file);
      fputc(*s++, file);
    } else if (*s < 0x20 || *s == 0x7f) {
      fprintf(file, "\\u%04x", *s++);
    } else {
      for (int k = 0; k < length; ++k) fputc(*s++, file);
    }
  }
  fputc('"', file);
}

/* Write the comma and the key before a value. */
static void lead(CliJson *json, const char *key) {
  if (!json->first) fputs(", ", json->file);
  json->first = false;
  if (!key) return;
  write_string(json->file, key);
  fputs(": ", json->file);
}

void cli_json_begin(CliJson *json, FILE *file) {
  *json = (CliJson){.file = file, .first = true};
  fputc('{', file);
}

void cli_json_open(CliJson *json, const char *key, char bracket) {
  lead(json, key);
  fputc(bracket, json->file);
  json->first = true;
}

void cli_json_close(CliJson *json, char bracket) {
  fputc(bracket, json->file);
  json->first = false;
}

void cli_json_end(CliJson *json) {
  fputs("}\n", json->file);
}

void cli_json_text(CliJson *json, const char *key, const char *text) {
  lead(json, key);
  if (text)
    write_string(json->file, text);
  else
    fputs("null", json->file);
}

void cli_json_real(CliJson *json, const char *key, double value) {
  lead(json, key);
  if (!isfinite(value)) {
    fputs("null", json->file);
    return;
  }
  /* The shorter of two that reads back to the same bits. */
  char text[40];
  snprintf(text, sizeof text, "%.15g", value);
  if (strtod(text, NULL) != value) snprintf(text, sizeof text, "%.17g", value);
  fputs(text, json->file);
}

void cli_json_int(CliJson *json, const char *key, long long value) {
  lead(json, key);
  fprintf(json->file, "%lld", value);
}

void cli_json_bool(CliJson *json, const char *key, bool value) {
  lead(json, key);
  fputs(value ? "true" : "false", json->file);
}

void cli_json_null(CliJson *json, const char *key) {
  lead(json, key);
  fputs("null", json->file);
}
