/* The page without data, viewer/dist/page.html, as part of the library. The assembler includes the
 * file unchanged. SCREE_PAGE_FILE is its path, which the build sets if the file exists. */
#include "view/report.h"

#ifdef SCREE_PAGE_FILE

__asm__(".section .rodata\n"
        ".hidden scree_page_begin\n"
        ".hidden scree_page_end\n"
        ".global scree_page_begin\n"
        ".global scree_page_end\n"
        "scree_page_begin:\n"
        ".incbin \"" SCREE_PAGE_FILE "\"\n"
        "scree_page_end:\n"
        ".byte 0\n"
        ".text\n");

extern const char scree_page_begin[] __attribute__((visibility("hidden")));
extern const char scree_page_end[] __attribute__((visibility("hidden")));

const char *scree_report_page(size_t *size) {
  *size = (size_t)(scree_page_end - scree_page_begin);
  return scree_page_begin;
}

#else

const char *scree_report_page(size_t *size) {
  *size = 0;
  return NULL;
}

#endif
