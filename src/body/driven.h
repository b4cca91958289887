/* Nodes of a finite-element body that move with an obstacle, as if they were part of it.
 *
 * A driven node p keeps its place X_p in the frame of its obstacle. The kick at time t_k gives it
 * the velocity v_p+ = (x_p(t_k+1) - q_p)/H, H the time to the next kick and x_p(t_k+1) the place of
 * X_p there, so that it is exactly on the obstacle in each kick, however that turns. The other
 * nodes f see the change of its velocity,
 *     A_ff (v_f+ - v_f-) = h f_f - A_fp (v_p+ - v_p-) + H_f^T r ,
 * and the obstacle does the work  m_p . (A (v+ - v-) - h f - H^T r)_p  at the mean velocity m_p, of
 * which the part of r is counted with the contacts. */
#ifndef SCREE_BODY_DRIVEN_H
#define SCREE_BODY_DRIVEN_H

#include "body/bodies.h"

struct scree_ElementBody;

typedef struct scree_DrivenNodes {
  int *obstacle;      /* (nodes) that moves it, or -1 */
  scree_Vec3 *anchor; /* (nodes) X_p */
  size_t count;       /* of entries of the graph at a driven node, both ends of each: */
  size_t *entry;      /* (count) ascending */
  int *row;           /* (count) */
  double *A;          /* (count x 9) of the last kick, not scaled */
  double *pull;       /* (components) of driven nodes: h f of the last kick */
} scree_DrivenNodes;

/* Make the chosen nodes follow an obstacle, from where they are now. */
scree_Status scree_bodies_drive_nodes(scree_Bodies *bodies, const scree_DrivenDef *def,
                                      const scree_Log *log);
/* Of scree_BodyClass. */
void scree_driven_get(const scree_Deformable *self, int *holder, scree_Vec3 *anchor);
bool scree_driven_set_holds(scree_Deformable *self, const int *holder, const scree_Vec3 *anchor);
/* Other numbers for the obstacles of all deformable bodies. */
void scree_driven_number(const scree_Bodies *bodies, int (*number)(const void *user, int obstacle),
                         const void *user);
void scree_driven_free(scree_DrivenNodes *driven);
size_t scree_driven_memory(const struct scree_ElementBody *d);

/* Velocities (components; of driven nodes only) after a kick from which the next one is `horizon`
 * away. */
void scree_driven_goal(const scree_Bodies *bodies, const scree_Deformable *self, double horizon,
                       double *goal);
/* Mean velocity of the driven ones of these vertices before and after the kick, each with its block
 * N. */
scree_Vec3 scree_driven_velocity(const scree_Bodies *bodies, const scree_Deformable *self,
                                 const int *vertex, const double *N, int count);

/* Parts of the kick (elements_kick.c): keep the blocks of A that scaling would remove; subtract
 * from the impulses h f of the other nodes what the changes of velocity of driven ones, goal - v,
 * take; a . A b of these blocks. */
void scree_driven_keep(struct scree_ElementBody *d);
void scree_driven_pull(const struct scree_ElementBody *d, const double *v, const double *goal,
                       double *impulse);
void scree_driven_set(const struct scree_ElementBody *d, const double *v, const double *goal,
                      double *change);
double scree_driven_product(const struct scree_ElementBody *d, const double *a, const double *b);
/* Work of the obstacles on driven nodes in the last kick, without that of contacts. */
double scree_driven_work(const scree_Deformable *self, const double *v, const double *w);

#endif
