/* Arithmetic in one variable, t: + - * / ^ ( ), pi, sin cos tan sqrt exp log abs min max. */
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

double scree_expression_value(const scree_Expression *expression, double t);

#endif
