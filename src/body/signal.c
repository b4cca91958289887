/* Twists as functions of time (see signal.h). A table is searched by bisection: the value depends
 * on the time alone and not on earlier calls, so a resumed run gets the same values. */
#include "body/signal.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool scree_twist_is_finite(const scree_Twist *twist) {
  return isfinite(twist->linear.x) && isfinite(twist->linear.y) && isfinite(twist->linear.z) &&
         isfinite(twist->angular.x) && isfinite(twist->angular.y) && isfinite(twist->angular.z);
}

scree_Twist scree_twist_planar(scree_Twist twist) {
  twist.linear.z = 0;
  twist.angular.x = twist.angular.y = 0;
  return twist;
}

static scree_Status check_table(const scree_Signal *s, const char *owner, const scree_Log *log) {
  if (s->count < 1 || !s->times || !s->values)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: table of %d entries, expected at least 1", owner,
                      s->count);
  for (int k = 0; k < s->count; ++k) {
    if (!isfinite(s->times[k]) || !scree_twist_is_finite(&s->values[k]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: entry %d of the table is not finite, expected finite numbers", owner,
                        k);
    if (k > 0 && !(s->times[k] > s->times[k - 1]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: time %g of entry %d comes after %g, expected ascending times", owner,
                        s->times[k], k, s->times[k - 1]);
  }
  return SCREE_OK;
}

scree_Status scree_signal_copy(const scree_Signal *from, const char *owner, scree_Signal *to,
                               const scree_Log *log) {
  *to = (scree_Signal){.kind = from->kind, .names = from->names};
  switch (from->kind) {
  case SCREE_SIGNAL_ZERO: return SCREE_OK;
  case SCREE_SIGNAL_CONSTANT:
    if (!scree_twist_is_finite(&from->constant))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: the constant value is not finite, expected finite numbers", owner);
    to->constant = from->constant;
    return SCREE_OK;
  case SCREE_SIGNAL_CALLBACK:
    if (!from->callback)
      return scree_fail(log, SCREE_BAD_INPUT, "%s: the callback is null, expected a function",
                        owner);
    to->callback = from->callback;
    to->user = from->user;
    return SCREE_OK;
  case SCREE_SIGNAL_TABLE: break;
  default:
    return scree_fail(log, SCREE_BAD_INPUT, "%s: signal kind %d, expected one of scree_SignalKind",
                      owner, (int)from->kind);
  }
  scree_Status status = check_table(from, owner, log);
  if (status) return status;
  const size_t n = (size_t)from->count;
  double *times = SCREE_ALLOC(double, n);
  scree_Twist *values = SCREE_ALLOC(scree_Twist, n);
  if (!times || !values) {
    scree_free(times);
    scree_free(values);
    *to = (scree_Signal){0};
    return scree_fail_memory(log, "the table of a signal");
  }
  memcpy(times, from->times, n * sizeof *times);
  memcpy(values, from->values, n * sizeof *values);
  to->count = from->count;
  to->times = times;
  to->values = values;
  return SCREE_OK;
}

void scree_signal_fini(scree_Signal *signal) {
  if (signal->kind == SCREE_SIGNAL_TABLE) {
    scree_free((void *)signal->times);
    scree_free((void *)signal->values);
  }
  *signal = (scree_Signal){0};
}

static scree_Twist table_at(const scree_Signal *s, double time) {
  assert(s->count >= 1);
  int low = 0, high = s->count - 1;
  if (!(time > s->times[low])) return s->values[low];
  if (time >= s->times[high]) return s->values[high];
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (time >= s->times[middle])
      low = middle;
    else
      high = middle;
  }
  const double part = (time - s->times[low]) / (s->times[high] - s->times[low]);
  const scree_Twist *a = &s->values[low], *b = &s->values[high];
  return (scree_Twist){scree_add(scree_scale(1 - part, a->linear), scree_scale(part, b->linear)),
                       scree_add(scree_scale(1 - part, a->angular), scree_scale(part, b->angular))};
}

scree_Twist scree_signal_at(const scree_Signal *signal, double time) {
  switch (signal->kind) {
  case SCREE_SIGNAL_CONSTANT: return signal->constant;
  case SCREE_SIGNAL_TABLE: return table_at(signal, time);
  case SCREE_SIGNAL_CALLBACK: return signal->callback(signal->user, time);
  case SCREE_SIGNAL_ZERO: break;
  }
  return (scree_Twist){0};
}

/* printf writes the sign of a NaN, which has no meaning. */
static const char *word_of(double x) {
  return isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

scree_Status scree_signal_check(const scree_Signal *signal, const scree_Twist *value,
                                const char *owner, int index, double time, const scree_Log *log) {
  static const char *const parts[6] = {"linear x",  "linear y",  "linear z",
                                       "angular x", "angular y", "angular z"};
  const double x[6] = {value->linear.x,  value->linear.y,  value->linear.z,
                       value->angular.x, value->angular.y, value->angular.z};
  int k = 0;
  while (k < 6 && isfinite(x[k])) ++k;
  if (k == 6) return SCREE_OK;
  if (signal->names)
    return scree_fail(log, SCREE_BAD_INPUT, "%s is %s at t = %.9g s, expected a finite number",
                      signal->names[k], word_of(x[k]), time);
  return scree_fail(log, SCREE_BAD_INPUT,
                    "%s %d, %s, is %s at t = %.9g s, expected a finite number", owner, index,
                    parts[k], word_of(x[k]), time);
}
