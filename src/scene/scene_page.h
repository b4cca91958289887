/* A growing text buffer for the pages that follow from the tables of the scene format: the
 * reference (scene_document.c) and the JSON Schema (scene_json.c). */
#ifndef SCREE_SCENE_PAGE_H
#define SCREE_SCENE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scree_ReferencePage {
  char *text;
  size_t length, capacity;
  bool failed;
} scree_ReferencePage;

void scree_page_say(scree_ReferencePage *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text, which scree_scene_free_text frees; null when memory ran out. */
char *scree_page_finish(scree_ReferencePage *page);

extern const char scree_page_beginning[], scree_page_values[]; /* scene_page_texts.c */
/* YAML lines for the section with this heading, or null. */
const char *scree_page_example(const char *heading);
/* the section about defaults, in two parts */
extern const char scree_page_defaults[], scree_page_limits[];

#endif
