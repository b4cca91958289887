/* Bonds between bodies that touch (see scree/joint.h): one joint for each pair, in the middle of
 * its contact points, with the strength of its section. */
#include "core/log.h"
#include "core/memory.h"
#include "world/world.h"

#include <math.h>

static scree_Status check(const scree_World *world, const scree_BondDef *def) {
  const struct {
    const char *name;
    double value;
    bool may_be_missing, may_be_infinite, may_be_zero;
  } all[] = {
      {"gap", def->gap, false, false, true},          {"width", def->width, false, false, false},
      {"tension", def->tension, false, true, false},  {"shear", def->shear, true, false, false},
      {"bending", def->bending, true, true, false},   {"torsion", def->torsion, true, true, false},
      {"break_at", def->break_at, false, false, true}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    const double x = all[k].value;
    const bool good = isnan(x)   ? all[k].may_be_missing
                      : isinf(x) ? x > 0 && all[k].may_be_infinite
                                 : x > 0 || (x == 0 && all[k].may_be_zero);
    if (!good)
      return scree_fail(&world->log, SCREE_BAD_INPUT, "bonds: %s is %g, expected a number %s 0",
                        all[k].name, x, all[k].may_be_zero ? ">=" : ">");
  }
  if (isinf(def->tension) && (!isnan(def->shear) || !isnan(def->bending) || !isnan(def->torsion)))
    return scree_fail(
        &world->log, SCREE_BAD_INPUT,
        "bonds: a strength in shear, bending or torsion but none in tension, expected "
        "tension too");
  return SCREE_OK;
}

/* Area of the convex polygon of contact points first .. end-1 of a face with normal n: twice the
 * area of the triangles between neighbours in the order of their angles about the middle. */
static double face_area(const scree_Points *points, size_t first, size_t end, scree_Vec3 middle,
                        scree_Vec3 n) {
  enum { MOST = 64 };
  double angle[MOST];
  scree_Vec3 arm[MOST], t1, t2;
  const int count = (int)(end - first < MOST ? end - first : MOST);
  scree_contact_frame(n, 3, &t1, &t2);
  for (int k = 0; k < count; ++k) {
    const scree_Vec3 x = scree_sub(points->position[first + (size_t)k], middle);
    const double a = atan2(scree_dot(t2, x), scree_dot(t1, x));
    int at = k;
    for (; at > 0 && angle[at - 1] > a; --at) {
      angle[at] = angle[at - 1];
      arm[at] = arm[at - 1];
    }
    angle[at] = a;
    arm[at] = x;
  }
  double sum = 0;
  for (int k = 0; k < count; ++k)
    sum += 0.5 * scree_dot(n, scree_cross(arm[k], arm[(k + 1) % count]));
  return sum;
}

/* Length of a face in 2D: the distance of the two points that are farthest apart. */
static double face_length(const scree_Points *points, size_t first, size_t end) {
  double most = 0;
  for (size_t a = first; a < end; ++a)
    for (size_t b = first; b < a; ++b)
      most = fmax(most, scree_norm(scree_sub(points->position[a], points->position[b])));
  return most;
}

/* Area and section modulus. */
typedef struct Section {
  double area, modulus;
} Section;

static Section section_of(const scree_System *s, size_t first, size_t end, scree_Vec3 middle,
                          scree_Vec3 n, double width) {
  const double pi = 3.14159265358979323846;
  const scree_ContactKey *key = &s->contacts.keys[first];
  const scree_BodyCold *cold = s->bodies.cold;
  const double size = scree_pair_size(&cold[key->i].shape, &cold[key->j].shape);
  if (s->bodies.dimension == 2) {
    const double length = face_length(&s->contacts, first, end);
    const double w = width * (length > 1e-6 * size ? length : size);
    return (Section){w, w * w / 6};
  }
  const double face = end - first > 2 ? face_area(&s->contacts, first, end, middle, n) : 0;
  const double area = width * width * (face > 1e-6 * size * size ? face : 0.25 * pi * size * size);
  const double w = sqrt(4 * area / pi);
  return (Section){area, pi * w * w * w / 32};
}

static double or_else(double x, double otherwise) {
  return isnan(x) ? otherwise : x;
}

/* The strengths of a bond with this section. */
static void set_strength(const scree_BondDef *def, const Section *section, scree_JointDef *joint) {
  if (isinf(def->tension)) return; /* as scree_joint_def has it */
  /* all as stresses */
  const double A = section->area, Z = section->modulus;
  const double tension = def->stress ? def->tension : def->tension / A;
  const double shear = or_else(def->stress ? def->shear : def->shear / A, tension);
  joint->tension = tension * A;
  joint->shear = shear * A;
  joint->bending = or_else(def->stress ? def->bending : def->bending / Z, tension) * Z;
  joint->torsion = or_else(def->stress ? def->torsion : def->torsion / (2 * Z), shear) * 2 * Z;
}

/* A pair that touches: contacts first .. end-1. */
static scree_Status add_bond(scree_World *world, const scree_BondDef *def, size_t first,
                             size_t end) {
  scree_System *s = &world->system;
  const scree_ContactKey *key = &s->contacts.keys[first];
  scree_Vec3 middle = {0, 0, 0}, normal = {0, 0, 0};
  for (size_t c = first; c < end; ++c) {
    middle = scree_axpy(middle, 1.0 / (double)(end - first), s->contacts.position[c]);
    normal = scree_add(normal, s->contacts.normal[c]);
  }
  normal = scree_unit_or(normal, s->contacts.normal[first]);
  const Section section = section_of(s, first, end, middle, normal, def->width);
  scree_JointDef joint = scree_joint_def();
  joint.kind = SCREE_JOINT_BOND;
  joint.body[0] = key->i;
  joint.body[1] = key->j;
  joint.anchor = middle;
  joint.axis = normal;
  joint.break_at = def->break_at;
  joint.label = def->label;
  set_strength(def, &section, &joint);
  return scree_world_add_joint(world, &joint, NULL);
}

scree_Status scree_world_add_bonds(scree_World *world, const scree_BondDef *def, int *count) {
  scree_System *s = &world->system;
  const scree_Bodies *b = &s->bodies;
  const int before = s->joints.count;
  if (count) *count = 0;
  scree_Status status = check(world, def);
  if (!status) status = scree_system_detect(s, def->gap, NULL);
  for (size_t c = 0, end; c < s->contacts.count && !status; c = end) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    for (end = c + 1; end < s->contacts.count && s->contacts.keys[end].i == key->i &&
                      s->contacts.keys[end].j == key->j;)
      ++end;
    if (key->image || scree_bodies_deformable(b, key->i) || scree_bodies_deformable(b, key->j) ||
        scree_joints_apart(&s->joints, key->i, key->j) ||
        (def->select && !def->select(def->user, key->i, key->j)))
      continue;
    status = add_bond(world, def, c, end);
  }
  s->contacts.count = 0;
  s->posed.nc = 0; /* the contacts of the last step are gone */
  if (count) *count = s->joints.count - before;
  return status;
}

void scree_world_count_bonds(const scree_World *world, int label, int *bonds, int *broken) {
  scree_joints_count_bonds(&world->system.joints, label, bonds, broken);
}
