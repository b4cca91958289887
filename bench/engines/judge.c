#include "bench/engines/judge.h"

#include "body/rigid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1000 };

struct Judge {
  const Scene *scene;
  scree_World *world;
  double settled;
  scree_Pose *before, *reference; /* (count) */
  scree_Twist *velocity;          /* (count) before the step */
  int *index;                     /* (count) of the problem's body, -1: obstacle */
  int moving;
  bool referenced;
  double first, highest, least, rise; /* energies: at the start, largest, smallest, largest rise */
  double lift;                        /* work of lifting each body by a hundredth of its size */
  int errors, looks;                  /* samples of impulses and of penetration */
  double error[SAMPLES];
  Verdict verdict;
};

void judge_destroy(Judge *judge) {
  if (!judge) return;
  free(judge->before);
  free(judge->reference);
  free(judge->velocity);
  free(judge->index);
  free(judge);
}

Judge *judge_create(const Scene *scene, scree_World *world, double settled) {
  Judge *j = calloc(1, sizeof *j);
  const size_t n = (size_t)scene->count;
  if (!j) return NULL;
  j->scene = scene;
  j->world = world;
  j->settled = settled;
  j->before = malloc(n * sizeof *j->before);
  j->reference = malloc(n * sizeof *j->reference);
  j->velocity = malloc(n * sizeof *j->velocity);
  j->index = malloc(n * sizeof *j->index);
  if (!j->before || !j->reference || !j->velocity || !j->index) {
    judge_destroy(j);
    return NULL;
  }
  const double g = scree_norm(scene->gravity);
  for (int k = 0; k < scene->count; ++k) {
    const double mass = scene->bodies[k].mass;
    j->index[k] = mass > 0 ? j->moving++ : -1;
    if (mass > 0) j->lift += 0.01 * mass * g * scree_body_shape(world, k)->size;
  }
  j->first = NAN;
  return j;
}

void judge_before(Judge *j, const scree_Pose *poses, const scree_Twist *velocities) {
  memcpy(j->before, poses, (size_t)j->scene->count * sizeof *poses);
  memcpy(j->velocity, velocities, (size_t)j->scene->count * sizeof *velocities);
}

static scree_Inertia inertia_of(const Body *body) {
  const scree_Vec3 J = body->inertia;
  return (scree_Inertia){
      body->mass, 1 / sqrt(body->mass), J, {1 / sqrt(J.x), 1 / sqrt(J.y), 1 / sqrt(J.z)}};
}

static double energy_of(const Judge *j, const scree_Pose *poses, const scree_Twist *velocities) {
  double energy = 0;
  for (int k = 0; k < j->scene->count; ++k) {
    const Body *body = &j->scene->bodies[k];
    if (body->mass == 0) continue;
    const scree_Inertia inertia = inertia_of(body);
    const scree_Motion motion = {poses[k], velocities[k]};
    energy += scree_rigid_kinetic(&inertia, &motion, NULL) -
              body->mass * scree_dot(j->scene->gravity, poses[k].position);
  }
  return energy;
}

void judge_after(Judge *j, double time, const scree_Pose *poses, const scree_Twist *velocities) {
  if (isnan(j->first)) j->first = j->highest = j->least = energy_of(j, j->before, j->velocity);
  const double energy = energy_of(j, poses, velocities);
  j->least = fmin(j->least, energy);
  j->highest = fmax(j->highest, energy);
  j->rise = fmax(j->rise, energy - j->least);
  if (time >= j->settled && !j->referenced) {
    memcpy(j->reference, poses, (size_t)j->scene->count * sizeof *poses);
    j->referenced = true;
  }
  for (int k = 0; k < j->scene->count && j->referenced; ++k) {
    if (j->index[k] < 0) continue;
    const double way = scree_norm(scree_sub(poses[k].position, j->reference[k].position));
    j->verdict.drift = fmax(j->verdict.drift, way / scree_body_shape(j->world, k)->size);
  }
}

bool judge_penetration(Judge *j, const scree_Pose *poses) {
  double depth = 0;
  for (int k = 0; k < j->scene->count; ++k) {
    scree_Pose pose = poses[k];
    if (j->scene->planar) { /* engines for space leave the plane by round-off */
      pose.position.z = 0;
      pose.orientation.x = pose.orientation.y = 0;
    }
    if (j->index[k] >= 0 && scree_body_set_pose(j->world, k, &pose)) return false;
  }
  if (scree_world_penetration(j->world, &depth, NULL)) return false;
  j->looks++;
  j->verdict.penetration = fmax(j->verdict.penetration, depth);
  return true;
}

bool judge_problem(Judge *j, const scree_Problem *problem, const double *r) {
  scree_Measures measures;
  if (scree_problem_measure(problem, r, NULL, NULL, &measures, NULL)) return false;
  if (j->errors < SAMPLES) j->error[j->errors++] = measures.error;
  return true;
}

/* The rows of a contact: blocks, free velocity with the gap, impulse. */
static void pose_contact(const Judge *j, double h, const Touch *touch, int c,
                         scree_Problem *problem, double *r) {
  const int d = problem->d, nb = problem->bodies.nb;
  scree_Vec3 axes[3] = {touch->normal};
  scree_contact_frame(touch->normal, d, &axes[1], &axes[2]);
  problem->mu[c] = j->scene->mu;
  problem->q[d * c] = touch->gap > 0 ? touch->gap / h : 0;
  for (int i = 0; i < d; ++i) r[d * c + i] = scree_dot(axes[i], touch->impulse);
  for (int side = 0; side < 2; ++side) {
    const int k = touch->body[side];
    problem->bodies.body[2 * c + side] = j->index[k];
    if (j->index[k] < 0) continue; /* obstacles of these scenes do not move */
    const scree_Inertia inertia = inertia_of(&j->scene->bodies[k]);
    const double sign = side == 0 ? 1 : -1;
    scree_rigid_block(&inertia, j->before[k].orientation,
                      scree_sub(touch->point, j->before[k].position), axes, sign, d,
                      problem->bodies.B + (2 * (size_t)c + (size_t)side) * (size_t)(d * nb));
    scree_Twist free = j->velocity[k];
    free.linear = scree_axpy(free.linear, h, j->scene->gravity);
    const scree_Vec3 v = scree_rigid_velocity(&j->before[k], &free, touch->point);
    for (int i = 0; i < d; ++i) problem->q[d * c + i] += sign * scree_dot(axes[i], v);
  }
}

bool judge_impulses(Judge *j, double h, const Touch *touches, int count) {
  const int d = j->scene->planar ? 2 : 3;
  scree_Problem problem = {0};
  if (count <= 0) return true;
  double *r = calloc((size_t)(count * d), sizeof *r);
  bool good = r && !scree_problem_create_bodies(&problem, d, count, j->moving, d == 2 ? 3 : 6,
                                                false, false, NULL);
  for (int c = 0; c < count && good; ++c) pose_contact(j, h, &touches[c], c, &problem, r);
  good = good && judge_problem(j, &problem, r);
  scree_problem_destroy(&problem);
  free(r);
  return good;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

Verdict judge_verdict(const Judge *j) {
  Verdict verdict = j->verdict;
  double sorted[SAMPLES];
  memcpy(sorted, j->error, sizeof sorted);
  qsort(sorted, (size_t)j->errors, sizeof *sorted, compare);
  verdict.error = j->errors ? sorted[j->errors / 2] : NAN;
  verdict.created = j->rise / fmax(j->first - j->least, j->lift);
  if (!j->referenced) verdict.drift = NAN;
  if (!j->looks) verdict.penetration = NAN;
  return verdict;
}
