/* Expressions of scenes: any text is compiled or refused with a reason and a column inside it, and
 * what was compiled has a value, the same each time. */
#include "fuzz.h"

#include "scene/scene_expression.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  demand(text != NULL, "memory for a copy of the input");
  memcpy(text, data, size);
  text[size] = 0;
  scree_Expression expression;
  int at = -1;
  const char *reason = scree_expression_parse(&expression, text, &at);
  if (reason) {
    demand(reason[0] && at >= 0 && (size_t)at <= strlen(text),
           "a mistake has a reason and a column in the text");
  } else {
    demand(expression.count > 0 && expression.count <= SCREE_EXPRESSION_MAX,
           "the number of operations is in its limits");
    static const double times[] = {0.0, 1.0, -3.5, 1e300, INFINITY, NAN};
    for (size_t k = 0; k < sizeof times / sizeof *times; ++k) {
      const double value = scree_expression_value(&expression, times[k]);
      const double same = scree_expression_value(&expression, times[k]);
      demand(value == same || (isnan(value) && isnan(same)), "a value is the same each time");
    }
  }
  free(text);
  return 0;
}
