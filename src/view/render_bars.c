/* Bars of a picture (see render_bars.h). */
#include "view/render_bars.h"

#include "math/vec3.h"

#include <math.h>

typedef struct Brush {
  void (*draw)(void *user, const scree_DrawnMesh *mesh, const double rgb[3]);
  void *user;
  scree_DrawnMesh mesh;
} Brush;

static scree_Status put(Brush *brush, const scree_Replay *replay, scree_Vec3 from, scree_Vec3 to,
                        double radius, const double rgb[3]) {
  const scree_Status status = scree_mesh_beam(from, to, radius, 8, replay->log, &brush->mesh);
  if (status == SCREE_OK) brush->draw(brush->user, &brush->mesh, rgb);
  return status;
}

/* A body so many times larger than the one that it touches, such as a plate, is a wall to it. */
static const double wall_ratio = 4.0;

static bool is_wall(const scree_ReplayBody *body, const scree_ReplayBody *other) {
  return body->obstacle || (!other->obstacle && body->shape.bounding_radius >
                                                    wall_ratio * other->shape.bounding_radius);
}

/* Cylinders from each contact to the centres of its bodies, except walls; the radius shows the
 * normal impulse. */
static scree_Status draw_chains(Brush *brush, const scree_Replay *replay,
                                const scree_ReplayFrame *frame) {
  scree_Status status = SCREE_OK;
  double strong = 0.0;
  for (int c = 0; c < frame->contacts; ++c) strong = fmax(strong, frame->contact[c].r[0]);
  for (int c = 0; status == SCREE_OK && c < frame->contacts; ++c) {
    const scree_ReplayContact *contact = &frame->contact[c];
    if (!(contact->r[0] > 0.0)) continue;
    const double strength = contact->r[0] / strong;
    for (int side = 0; status == SCREE_OK && side < 2; ++side) {
      const int i = contact->body[side];
      if (is_wall(&replay->bodies[i], &replay->bodies[contact->body[1 - side]])) continue;
      const double *p = contact->position, *x = frame->position + 3 * i;
      const double thick = fmax(0.012, 0.18 * sqrt(strength)) * 0.5 * replay->bodies[i].shape.size;
      status = put(brush, replay, scree_vec3(p[0], p[1], p[2]), scree_vec3(x[0], x[1], x[2]), thick,
                   (const double[]){0.55 + 0.35 * strength, 0.16, 0.12});
    }
  }
  return status;
}

/* Size of the smaller of the bodies of a joint that are no obstacles. */
static double size_of(const scree_Replay *replay, const scree_ReplayJoint *joint) {
  double size = INFINITY;
  for (int side = 0; side < 2; ++side) {
    const int b = joint->body[side];
    if (b >= 0 && !replay->bodies[b].obstacle) size = fmin(size, replay->bodies[b].shape.size);
  }
  return size;
}

/* Bonds are bars across the glued section, green, or red once they broke; other joints are dark
 * bars along their axis, in the plane dots. */
static scree_Status draw_joints(Brush *brush, const scree_Replay *replay,
                                const scree_ReplayFrame *frame, bool flat) {
  static const double intact[3] = {0.10, 0.55, 0.25}, broken[3] = {0.85, 0.10, 0.10};
  static const double dark[3] = {0.10, 0.12, 0.16};
  scree_Status status = SCREE_OK;
  for (int k = 0; status == SCREE_OK && k < frame->joints; ++k) {
    const scree_ReplayJoint *joint = &frame->joint[k];
    const bool bond = joint->kind == SCREE_JOINT_BOND, dot = flat && !bond;
    const double size = size_of(replay, joint);
    const scree_Vec3 at = {joint->position[0], joint->position[1], joint->position[2]};
    const scree_Vec3 axis = {joint->axis[0], joint->axis[1], joint->axis[2]};
    if (joint->status == SCREE_JOINT_GONE || !isfinite(size) || !isfinite(at.x)) continue;
    const double half = (bond ? 0.16 : dot ? 0.07 : 0.3) * size;
    status = put(brush, replay, scree_axpy(at, -half, axis), scree_axpy(at, half, axis),
                 (bond ? 0.04 : 0.07) * size,
                 !bond                                 ? dark
                 : joint->status == SCREE_JOINT_BROKEN ? broken
                                                       : intact);
  }
  return status;
}

scree_Status scree_render_bars(
    const scree_Replay *replay, const scree_ReplayFrame *frame, bool chains, bool flat,
    void (*draw)(void *user, const scree_DrawnMesh *mesh, const double rgb[3]), void *user) {
  Brush brush = {.draw = draw, .user = user};
  scree_Status status = chains ? draw_chains(&brush, replay, frame) : SCREE_OK;
  if (status == SCREE_OK) status = draw_joints(&brush, replay, frame, flat);
  scree_mesh_fini(&brush.mesh);
  return status;
}
