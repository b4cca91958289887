/* Bonds between bodies that touch (see scree/joint.h): one joint for each pair, in the middle of
 * its contact points, with the strength of its section. */
#include "core/log.h"
#include "core/memory.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The bond of a pair that touches: contacts first .. end-1. */
static scree_JointDef bond_of(const scree_System *s, const scree_BondDef *def, size_t first,
                              size_t end) {
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
  joint.body[0] = scree_domain_global(&s->domain, key->i);
  joint.body[1] = scree_domain_global(&s->domain, key->j);
  joint.anchor = middle;
  joint.axis = normal;
  joint.break_at = def->break_at;
  joint.label = def->label;
  set_strength(def, &section, &joint);
  return joint;
}

/* A bond on its way to other ranks. */
typedef struct Bond {
  scree_JointDef def;
  scree_JointSide side[2];
} Bond;

typedef struct Bonds {
  Bond *bond;
  size_t count, capacity;
} Bonds;

static bool keep_bond(const scree_System *s, const scree_JointDef *def, const scree_ContactKey *key,
                      Bonds *bonds) {
  Bond bond;
  memset(&bond, 0, sizeof bond);
  bond.def = *def;
  bond.side[0] = scree_joint_side(s, key->i);
  bond.side[1] = scree_joint_side(s, key->j);
  if (!scree_grow((void **)&bonds->bond, &bonds->capacity, bonds->count + 1, sizeof bond))
    return false;
  bonds->bond[bonds->count++] = bond;
  return true;
}

static int compare_bonds(const void *a, const void *b) {
  const Bond *x = a, *y = b;
  for (int side = 0; side < 2; ++side)
    if (x->def.body[side] != y->def.body[side])
      return x->def.body[side] < y->def.body[side] ? -1 : 1;
  return 0;
}

/* Those of all ranks, on all ranks, in the order of their bodies. */
static scree_Status share_bonds(const scree_System *s, Bonds *bonds) {
  const scree_Ranks *ranks = s->domain.ranks;
  Bonds all = {NULL, 0, 0};
  size_t room = 0, bytes = 0;
  scree_Status status = scree_ranks_bring(ranks, bonds->bond, bonds->count * sizeof *bonds->bond,
                                          (char **)&all.bond, &room, &bytes, s->log);
  if (!status) {
    scree_ranks_broadcast(ranks, &bytes, sizeof bytes);
    all.count = bytes / sizeof *all.bond;
    const bool enough = scree_grow((void **)&all.bond, &room, bytes, 1);
    status = scree_domain_agree(s, enough ? SCREE_OK : scree_fail_memory(s->log, "bonds"));
    if (!status) scree_ranks_broadcast(ranks, all.bond, bytes);
  }
  if (!status && all.count) qsort(all.bond, all.count, sizeof *all.bond, compare_bonds);
  scree_free(bonds->bond);
  *bonds = all;
  return status;
}

/* The contacts between bodies of any rank: bodies go to their places first. */
static scree_Status detect(scree_World *world, double gap) {
  scree_System *s = &world->system;
  if (!s->domain.global) return scree_system_detect(s, gap, NULL);
  scree_Status status = scree_world_settle(world);
  if (!status) status = scree_system_detect(s, gap, NULL);
  while (status && s->domain.outgrown) { /* larger covers are needed */
    status = scree_world_settle(world);
    if (!status) status = scree_system_detect(s, gap, NULL);
  }
  s->domain.tries = 0;
  return status;
}

scree_Status scree_world_add_bonds(scree_World *world, const scree_BondDef *def, int *count) {
  scree_System *s = &world->system;
  const scree_Bodies *b = &s->bodies;
  const int before = s->joints.count;
  if (count) *count = 0;
  scree_Status status = check(world, def);
  Bonds bonds = {NULL, 0, 0};
  if (!status) status = detect(world, def->gap);
  for (size_t c = 0, end; c < s->contacts.count && !status; c = end) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    for (end = c + 1; end < s->contacts.count && s->contacts.keys[end].i == key->i &&
                      s->contacts.keys[end].j == key->j;)
      ++end;
    if (key->image || scree_bodies_deformable(b, key->i) || scree_bodies_deformable(b, key->j) ||
        scree_joints_apart(s, key->i, key->j) ||
        (def->select && !def->select(def->user, scree_domain_global(&s->domain, key->i),
                                     scree_domain_global(&s->domain, key->j))))
      continue;
    const scree_JointDef joint = bond_of(s, def, c, end);
    if (!s->domain.global)
      status = scree_world_add_joint(world, &joint, NULL);
    else if (!keep_bond(s, &joint, key, &bonds))
      status = scree_fail_memory(&world->log, "bonds");
  }
  if (s->domain.global) {
    status = scree_domain_agree(s, status);
    if (!status) status = share_bonds(s, &bonds);
    for (size_t k = 0; k < bonds.count && !status; ++k)
      status = scree_joints_add_sides(s, &bonds.bond[k].def, bonds.bond[k].side);
    scree_free(bonds.bond);
    s->energy_known = false;
  }
  s->contacts.count = 0;
  s->posed.nc = 0; /* the contacts of the last step are gone */
  if (count) *count = s->joints.count - before;
  return status;
}

void scree_world_count_bonds(const scree_World *world, int label, int *bonds, int *broken) {
  scree_joints_count_bonds(&world->system, label, bonds, broken);
}
