/* Arithmetic in one variable, t, or in x and y: + - * / ^ ( ), pi, sin cos tan sqrt exp log abs min
 * max. */
#ifndef SCREE_SCENE_EXPRESSION_H
#define SCREE_SCENE_EXPRESSION_H

#include "scree/base.h"

enum { SCREE_EXPRESSION_MAX = 64 };

/* Compiled to a list of operations on a stack; a plain value, no memory of its own. */
typedef struct scree_Expression {
  int count;
  bool uses_time;
  struct {
    unsigned char code;
    double value;
  } operations[SCREE_EXPRESSION_MAX];
} scree_Expression;

/* Null on success, else the reason in words, with the column of the mistake (from 0) in *at. */
const char *scree_expression_parse(scree_Expression *expression, const char *text, int *at);

/* The same for an expression in x and y instead of t. */
const char *scree_expression_parse_place(scree_Expression *expression, const char *text, int *at);

double scree_expression_at(const scree_Expression *expression, double x, double y);
double scree_expression_value(const scree_Expression *expression, double t);

#endif
