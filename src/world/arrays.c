/* Arrays of a world (see scree/world.h): the location of each field in the world's own memory. A
 * field is a line of the table; its location follows from the member of the struct that holds it.
 */
#include "core/log.h"
#include "world/world.h"

#include <assert.h>
#include <stddef.h>

static_assert((int)SCREE_FLAG_OBSTACLE == (int)SCREE_BODY_OBSTACLE, "bits of the flags");
static_assert((int)SCREE_FLAG_REMOVED == (int)SCREE_BODY_GONE, "bits of the flags");
static_assert(sizeof(scree_Vec3) == 3 * sizeof(double), "vectors are three numbers side by side");
static_assert(sizeof(scree_Quat) == 4 * sizeof(double), "quaternions are four numbers");

enum { PER_DIMENSION = 0 }; /* components: 2 or 3 */

typedef struct Field {
  const char *name;
  scree_ValueType type;
  int components;
  bool contacts; /* a row per contact, else per body */
  size_t offset, stride;
} Field;

static const Field fields[SCREE_ARRAY_FIELDS] = {
#define MOTION(name, member, components)                                                           \
  {                                                                                                \
    name, SCREE_VALUE_DOUBLE, components, false, offsetof(scree_Motion, member),                   \
        sizeof(scree_Motion)                                                                       \
  }
#define INERTIA(name, member, components)                                                          \
  {                                                                                                \
    name, SCREE_VALUE_DOUBLE, components, false, offsetof(scree_Inertia, member),                  \
        sizeof(scree_Inertia)                                                                      \
  }
#define KEY(name, type, member, components)                                                        \
  { name, type, components, true, offsetof(scree_ContactKey, member), sizeof(scree_ContactKey) }
    [SCREE_ARRAY_POSITION] = MOTION("position", pose.position, 3),
    [SCREE_ARRAY_ORIENTATION] = MOTION("orientation", pose.orientation, 4),
    [SCREE_ARRAY_VELOCITY] = MOTION("velocity", velocity.linear, 3),
    [SCREE_ARRAY_ANGULAR_VELOCITY] = MOTION("angular_velocity", velocity.angular, 3),
    [SCREE_ARRAY_MASS] = INERTIA("mass", mass, 1),
    [SCREE_ARRAY_INERTIA] = INERTIA("inertia", moments, 3),
    [SCREE_ARRAY_MATERIAL] = {"material", SCREE_VALUE_INT32, 1, false,
                              offsetof(scree_BodyCold, material), sizeof(scree_BodyCold)},
    [SCREE_ARRAY_FLAGS] = {"flags", SCREE_VALUE_UINT8, 1, false, 0, 1},
    [SCREE_ARRAY_CONTACT_BODY] = KEY("contact_body", SCREE_VALUE_INT32, i, 2),
    [SCREE_ARRAY_CONTACT_FEATURE] = KEY("contact_feature", SCREE_VALUE_UINT32, feature, 1),
    [SCREE_ARRAY_CONTACT_POSITION] = {"contact_position", SCREE_VALUE_DOUBLE, 3, true, 0,
                                      sizeof(scree_Vec3)},
    [SCREE_ARRAY_CONTACT_NORMAL] = {"contact_normal", SCREE_VALUE_DOUBLE, 3, true, 0,
                                    sizeof(scree_Vec3)},
    [SCREE_ARRAY_CONTACT_GAP] = {"contact_gap", SCREE_VALUE_DOUBLE, 1, true, 0, sizeof(double)},
    [SCREE_ARRAY_CONTACT_FRICTION] = {"contact_friction", SCREE_VALUE_DOUBLE, 1, true, 0,
                                      sizeof(double)},
    [SCREE_ARRAY_CONTACT_IMPULSE] = {"contact_impulse", SCREE_VALUE_DOUBLE, PER_DIMENSION, true, 0,
                                     0},
#undef MOTION
#undef INERTIA
#undef KEY
};

static_assert(offsetof(scree_ContactKey, j) == offsetof(scree_ContactKey, i) + sizeof(int32_t),
              "the two bodies of a contact lie side by side");

static const void *start_of(const scree_World *world, scree_ArrayField field) {
  const scree_Bodies *b = &world->system.bodies;
  const scree_Points *points = &world->system.contacts;
  const scree_Posed *posed = &world->system.posed;
  switch (field) {
  case SCREE_ARRAY_POSITION:
  case SCREE_ARRAY_ORIENTATION:
  case SCREE_ARRAY_VELOCITY:
  case SCREE_ARRAY_ANGULAR_VELOCITY: return b->motion;
  case SCREE_ARRAY_MASS:
  case SCREE_ARRAY_INERTIA: return b->inertia;
  case SCREE_ARRAY_MATERIAL: return b->cold;
  case SCREE_ARRAY_FLAGS: return b->fixed;
  case SCREE_ARRAY_CONTACT_BODY:
  case SCREE_ARRAY_CONTACT_FEATURE: return points->keys;
  case SCREE_ARRAY_CONTACT_POSITION: return points->position;
  case SCREE_ARRAY_CONTACT_NORMAL: return points->normal;
  case SCREE_ARRAY_CONTACT_GAP: return points->gap;
  case SCREE_ARRAY_CONTACT_FRICTION: return posed->mu;
  case SCREE_ARRAY_CONTACT_IMPULSE: return scree_system_total(&world->system);
  case SCREE_ARRAY_FIELDS: break;
  }
  return NULL;
}

static bool is_field(scree_ArrayField field) {
  return (int)field >= 0 && field < SCREE_ARRAY_FIELDS;
}

const char *scree_array_name(scree_ArrayField field) {
  return is_field(field) ? fields[field].name : NULL;
}

scree_Status scree_world_array(const scree_World *world, scree_ArrayField field,
                               scree_Array *array) {
  if (!is_field(field))
    return scree_fail(&world->log, SCREE_BAD_INPUT, "array: field %d, expected 0 .. %d", (int)field,
                      SCREE_ARRAY_FIELDS - 1);
  const Field *f = &fields[field];
  const int d = world->system.bodies.dimension;
  *array = (scree_Array){
      .type = f->type,
      .count = f->contacts ? scree_world_contact_count(world) : scree_world_body_count(world),
      .components = f->components == PER_DIMENSION ? d : f->components,
      .stride = f->components == PER_DIMENSION ? (size_t)d * sizeof(double) : f->stride};
  if (array->count > 0) array->data = (const char *)start_of(world, field) + f->offset;
  return SCREE_OK;
}

uint64_t scree_world_array_generation(const scree_World *world, scree_ArrayField field) {
  if (!is_field(field)) return 0;
  return 1 + (fields[field].contacts ? world->contact_generation : world->body_generation);
}
