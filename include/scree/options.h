/* scree/options.h — option tables: how an algorithm's parameters are named, checked and explained.
 *
 * An algorithm keeps its options in a struct of its own and describes the fields in one table. The
 * help of the program, the scene reader and the documentation all read that table. */
#ifndef SCREE_OPTIONS_H
#define SCREE_OPTIONS_H

#include "scree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scree_OptionType {
  SCREE_OPTION_REAL,   /* double */
  SCREE_OPTION_INT,    /* int */
  SCREE_OPTION_BOOL,   /* bool: yes/no, true/false, on/off, 1/0 */
  SCREE_OPTION_CHOICE, /* int: the index into `choices` */
  SCREE_OPTION_NAME    /* char[SCREE_OPTION_NAME_SIZE]: the name of another algorithm */
} scree_OptionType;

enum { SCREE_OPTION_NAME_SIZE = 32 };

typedef struct scree_Option {
  const char *name;
  scree_OptionType type;
  size_t offset;              /* of the field in the options struct */
  double preset;              /* default of a real, int, bool or choice */
  double min, max;            /* allowed range of a real or int, both included */
  bool automatic;             /* the word `auto` is allowed and stored as 0 (real, int) */
  const char *const *choices; /* null-ended list of words (choice), or the default (name) */
  const char *help;           /* one line, no full stop */
} scree_Option;

typedef struct scree_OptionTable {
  const scree_Option *options;
  int count;
  size_t size; /* of the options struct */
} scree_OptionTable;

/* Fill `values` (table->size bytes) with the defaults. */
SCREE_API void scree_options_init(const scree_OptionTable *table, void *values);

/* Set one option from text. `owner` names the algorithm in messages ("solver nlgs"). */
SCREE_API scree_Status scree_options_set(const scree_OptionTable *table, const char *owner,
                                         void *values, const char *name, const char *text,
                                         const scree_Log *log);

/* Write the current value of option `index` as text that scree_options_set reads back. */
SCREE_API void scree_options_get(const scree_OptionTable *table, const void *values, int index,
                                 char *text, size_t size);

/* The entry of `words` (null-ended) nearest to `word`, or null when none is near: "did you mean".
 */
SCREE_API const char *scree_nearest_word(const char *word, const char *const *words);

#ifdef __cplusplus
}
#endif

#endif
