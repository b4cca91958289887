/* Inside the checks of scenes: one field at a time, from the tree of the file (`node`) to the
 * normalised tree. Each function returns the normalised node, or null after a message. */
#ifndef SCREE_SCENE_SCENE_CHECK_H
#define SCREE_SCENE_SCENE_CHECK_H

#include "scene/scene_parameters.h"
#include "scene/scene_schema.h"
#include "scree/options.h"

enum {
  SCREE_CHECK_ERRORS = 20,
  SCREE_CHECK_WORDS = 96,
  SCREE_CHECK_VERTICES = 1024,
  SCREE_CHECK_PARTS = 65536,
  SCREE_CHECK_ROWS = 1000000
};

typedef struct scree_Check {
  const char *name; /* of the file */
  const scree_Log *log;
  scree_Tree *tree; /* normalised */
  int dimension;
  int errors;
  bool with_ends; /* the body has `from` and `to`: half_length follows */
  scree_Parameters parameters;
  const char *solver; /* whose options are meant */
  char path[256];     /* "bodies[3].shape" */
} scree_Check;

/* ---- scene_check.c: messages and scalars ---- */

/* A message with the place and the path; at most SCREE_CHECK_ERRORS are written. */
void scree_check_complain(scree_Check *check, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The found value in words, for a message. */
const char *scree_check_found(const scree_Node *node, char *text, size_t size);
/* "found ..., expected `what`" */
void scree_check_expected(scree_Check *check, const scree_Node *node, const char *what);
/* Go into a key, or (index >= 0) into an entry of a list, and back to the length that was returned.
 */
size_t scree_check_push(scree_Check *check, const char *key, int index);
void scree_check_pop(scree_Check *check, size_t length);
/* A word that is not in the null-ended list: the message has the list and the word that is meant.
 */
void scree_check_refuse_word(scree_Check *check, const char *what, const char *word, int line,
                             int column, const char *const *words);
void scree_check_list_words(const char *const *words, char *text, size_t size);
/* The key `kind` of a map; null, with a message that lists the words, where it is not a word. */
const scree_Node *scree_check_kind(scree_Check *check, const scree_Node *map,
                                   const char *const *words);

bool scree_check_is_auto(const scree_Field *field, const scree_Node *node);
scree_Node *scree_check_real(scree_Check *check, const scree_Field *field, const scree_Node *node);
scree_Node *scree_check_int(scree_Check *check, const scree_Field *field, const scree_Node *node);
scree_Node *scree_check_bool(scree_Check *check, const scree_Node *node);
scree_Node *scree_check_text(scree_Check *check, const scree_Node *node);
scree_Node *scree_check_choice(scree_Check *check, const scree_Field *field,
                               const scree_Node *node);

/* ---- scene_check_values.c: vectors, lists, functions of time ---- */

scree_Node *scree_check_vector(scree_Check *check, const scree_Field *field,
                               const scree_Node *node);
scree_Node *scree_check_scalars(scree_Check *check, const scree_Field *field,
                                const scree_Node *node);
scree_Node *scree_check_signals(scree_Check *check, const scree_Field *field,
                                const scree_Node *node);

/* ---- scene_check_tables.c: what tables of other folders describe: shapes, options, laws ---- */

scree_Node *scree_check_shape(scree_Check *check, const scree_Node *node);
scree_Node *scree_check_options(scree_Check *check, const scree_Node *node);
/* A parameter `key` of law `law`, or of any law when that is null; null: none. */
const scree_Option *scree_check_law_option(const char *law, const char *key);
/* Whether the fields have a law, whose parameters are keys beside it. */
bool scree_check_has_law(const scree_Field *fields);
int scree_check_add_law_words(const char **words, int count);
bool scree_check_add_law_parameters(scree_Check *check, const scree_Field *field, const char *law,
                                    const scree_Node *node, scree_Node *result);

/* ---- scene_synonyms.c: words of other programs ---- */

/* The key or kind that is probably meant by a word that is not in the null-ended list: by the table
 * of synonyms, or the nearest spelling; null: no idea. */
const char *scree_check_meant(const char *word, const char *const *words);

/* ---- scene_validate.c: maps ---- */

scree_Node *scree_check_fields(scree_Check *check, const scree_Field *fields, const char *kind,
                               const scree_Node *node);

#endif
