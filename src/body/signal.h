/* Twists as functions of time: velocities of obstacles, forces. */
#ifndef SCREE_BODY_SIGNAL_H
#define SCREE_BODY_SIGNAL_H

#include "scree/body.h"

/* Check and copy, the table included. `owner` names it in messages. */
scree_Status scree_signal_copy(const scree_Signal *from, const char *owner, scree_Signal *to,
                               const scree_Log *log);
void scree_signal_fini(scree_Signal *signal);

scree_Twist scree_signal_at(const scree_Signal *signal, double time);

/* SCREE_BAD_INPUT unless the value of the signal at `time` is finite. If the signal has no name of
 * its own the message uses `owner` and `index`: "force 3, linear y". */
scree_Status scree_signal_check(const scree_Signal *signal, const scree_Twist *value,
                                const char *owner, int index, double time, const scree_Log *log);

/* In a plane: linear.x, linear.y and angular.z alone. */
scree_Twist scree_twist_planar(scree_Twist twist);

bool scree_twist_is_finite(const scree_Twist *twist);

#endif
