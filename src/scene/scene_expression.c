/* Expressions (see scene_expression.h): recursive descent, precedence  + -  <  * /  <  sign  <  ^
 * (to the right), compiled to postfix. Depth and length are bounded; there is no way to write a
 * loop, so that evaluation always ends. */
#include "scene/scene_expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of VARIABLE is its number: t or x 0, y 1. */
enum { NUMBER, VARIABLE, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, FUNCTION };
enum { DEPTH_MAX = 32 };

static const struct {
  const char *name;
  int arguments;
} functions[] = {{"sin", 1}, {"cos", 1}, {"tan", 1}, {"sqrt", 1}, {"exp", 1},
                 {"log", 1}, {"abs", 1}, {"min", 2}, {"max", 2}};

typedef struct Parser {
  scree_Expression *expression;
  const char *text, *p, *reason;
  int depth;
  bool place; /* x and y are known instead of t */
} Parser;

static void emit(Parser *parser, int code, double value) {
  scree_Expression *e = parser->expression;
  if (e->count == SCREE_EXPRESSION_MAX) {
    if (!parser->reason) parser->reason = "the expression is too long";
    return;
  }
  e->operations[e->count].code = (unsigned char)code;
  e->operations[e->count++].value = value;
}

static char peek(Parser *parser) {
  while (isspace((unsigned char)*parser->p)) ++parser->p;
  return *parser->p;
}

static bool accept(Parser *parser, char c) {
  if (parser->reason || peek(parser) != c) return false;
  ++parser->p;
  return true;
}

static void parse_sum(Parser *parser);

/* The closing bracket of a sum or call. The message for a comparison says how else a signal may
 * jump. */
static void take_end(Parser *parser) {
  if (parser->reason || accept(parser, ')')) return;
  const char c = peek(parser);
  parser->reason = c && strchr("<>=?!&|", c)
                       ? "there are no comparisons: use min and max, or a table { times, values }"
                       : "expected )";
}

static void parse_call(Parser *parser, const char *name, size_t length) {
  const int count = (int)(sizeof functions / sizeof *functions);
  int f = 0;
  while (f < count &&
         (strlen(functions[f].name) != length || memcmp(functions[f].name, name, length) != 0))
    ++f;
  if (f == count) {
    parser->p = name;
    parser->reason = "unknown name, expected t, pi, deg, a name of `parameters`, sin, cos, tan, "
                     "sqrt, exp, log, abs, "
                     "min or max";
    return;
  }
  if (!accept(parser, '(')) {
    parser->reason = "expected ( after the name of a function";
    return;
  }
  for (int k = 0; k < functions[f].arguments && !parser->reason; ++k) {
    if (k && !accept(parser, ',')) parser->reason = "expected , and a second argument";
    if (!parser->reason) parse_sum(parser);
  }
  take_end(parser);
  emit(parser, FUNCTION + f, 0);
}

static void parse_atom(Parser *parser) {
  const char c = peek(parser);
  if (accept(parser, '(')) {
    parse_sum(parser);
    take_end(parser);
  } else if (isdigit((unsigned char)c) || c == '.') {
    /* strtod would also accept hexadecimal numbers */
    if (c == '0' && (parser->p[1] == 'x' || parser->p[1] == 'X')) {
      parser->reason = "expected a decimal number";
      return;
    }
    char *end;
    const double value = strtod(parser->p, &end);
    if (end == parser->p)
      parser->reason = "expected a number";
    else
      parser->p = end;
    emit(parser, NUMBER, value);
  } else if (isalpha((unsigned char)c)) {
    const char *name = parser->p;
    while (isalnum((unsigned char)*parser->p) || *parser->p == '_') ++parser->p;
    const size_t length = (size_t)(parser->p - name);
    if (length == 1 && *name == 't' && !parser->place) {
      parser->expression->uses_time = true;
      emit(parser, VARIABLE, 0);
    } else if (length == 1 && (*name == 'x' || *name == 'y') && parser->place) {
      emit(parser, VARIABLE, *name == 'y');
    } else if (length == 2 && memcmp(name, "pi", 2) == 0) {
      emit(parser, NUMBER, 3.14159265358979323846);
    } else if (length == 3 && memcmp(name, "deg", 3) == 0) { /* 90*deg: a degree in radians */
      emit(parser, NUMBER, 3.14159265358979323846 / 180);
    } else {
      parse_call(parser, name, length);
    }
  } else {
    parser->reason = "expected a number, t, pi, deg, a function or (";
  }
}

static void parse_sign(Parser *parser);

static void parse_power(Parser *parser) {
  parse_atom(parser);
  if (accept(parser, '^')) {
    parse_sign(parser);
    emit(parser, POWER, 0);
  }
}

static void parse_sign(Parser *parser) {
  if (++parser->depth > DEPTH_MAX && !parser->reason) parser->reason = "nested too deeply";
  if (accept(parser, '-')) {
    parse_sign(parser);
    emit(parser, NEGATE, 0);
  } else if (accept(parser, '+')) {
    parse_sign(parser);
  } else if (!parser->reason) {
    parse_power(parser);
  }
  --parser->depth;
}

static void parse_product(Parser *parser) {
  parse_sign(parser);
  while (!parser->reason) {
    const int code = accept(parser, '*') ? MULTIPLY : accept(parser, '/') ? DIVIDE : NUMBER;
    if (code == NUMBER) return;
    parse_sign(parser);
    emit(parser, code, 0);
  }
}

static void parse_sum(Parser *parser) {
  parse_product(parser);
  while (!parser->reason) {
    const int code = accept(parser, '+') ? ADD : accept(parser, '-') ? SUBTRACT : NUMBER;
    if (code == NUMBER) return;
    parse_product(parser);
    emit(parser, code, 0);
  }
}

static const char *parse(scree_Expression *expression, const char *text, bool place, int *at) {
  memset(expression, 0, sizeof *expression);
  Parser parser = {.expression = expression, .text = text, .p = text, .place = place};
  parse_sum(&parser);
  if (!parser.reason && peek(&parser)) parser.reason = "expected an operator or the end";
  *at = (int)(parser.p - text);
  return parser.reason;
}

const char *scree_expression_parse(scree_Expression *expression, const char *text, int *at) {
  return parse(expression, text, false, at);
}

const char *scree_expression_parse_place(scree_Expression *expression, const char *text, int *at) {
  return parse(expression, text, true, at);
}

static double call(int f, double a, double b) {
  switch (f) {
  case 0: return sin(a);
  case 1: return cos(a);
  case 2: return tan(a);
  case 3: return sqrt(a);
  case 4: return exp(a);
  case 5: return log(a);
  case 6: return fabs(a);
  case 7: return fmin(a, b);
  default: return fmax(a, b);
  }
}

double scree_expression_at(const scree_Expression *expression, double x, double y) {
  double stack[SCREE_EXPRESSION_MAX] = {0};
  int top = -1;
  for (int k = 0; k < expression->count; ++k) {
    const int code = expression->operations[k].code;
    if (code == NUMBER || code == VARIABLE) {
      const double value = expression->operations[k].value;
      stack[++top] = code == NUMBER ? value : value == 0 ? x : y;
    } else if (code == NEGATE) {
      stack[top] = -stack[top];
    } else if (code >= FUNCTION && functions[code - FUNCTION].arguments == 1) {
      stack[top] = call(code - FUNCTION, stack[top], 0);
    } else {
      const double b = stack[top--], a = stack[top];
      stack[top] = code == ADD        ? a + b
                   : code == SUBTRACT ? a - b
                   : code == MULTIPLY ? a * b
                   : code == DIVIDE   ? a / b
                   : code == POWER    ? pow(a, b)
                                      : call(code - FUNCTION, a, b);
    }
  }
  return top == 0 ? stack[0] : 0.0;
}

double scree_expression_value(const scree_Expression *expression, double t) {
  return scree_expression_at(expression, t, 0);
}
