/* Chooses the tests that are named after threads, in a program that has others too
 * (ThreadSanitizer). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose(void) {
  cmocka_set_test_filter("*threads*");
}
