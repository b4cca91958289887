/* `perturb` in scenes: another initial state that is equivalent to the given one. If the motion is
 * chaotic, one run is one sample, and averages over several initial states are compared
 * (run/converge.h).
 *
 * Velocities are changed, positions are not: bodies do not overlap, gaps and joints stay as they
 * are, and contacts at rest take the change back in the first step. Its unit is the velocity of a
 * body after falling by half of its own size, its own velocity, or that of moving by its size in
 * the whole run, whichever is largest. So it does not depend on units, and the energy that it adds
 * is of the order of its square. */
#include "math/vec3.h"
#include "scene/scene_state.h"

#include <math.h>

enum { STREAM = 2000003 }; /* of random numbers; no generator has it */

void scree_scene_perturb(scree_Scene *scene) {
  const double share = scree_node_number(scene->tree.root, "perturb");
  if (!(share > 0)) return;
  for (size_t k = (size_t)scene->obstacle_count; k < scene->kept; ++k) {
    scree_SceneBody *body = &scene->bodies[k];
    scree_Random random =
        scree_random(scene->seed, STREAM, (uint64_t)scree_scene_kept_number(scene, k));
    const double size = body->shape.size;
    const double fall = sqrt(scree_norm(scene->gravity) * size);
    const double unit =
        fmax(fmax(fall, size / scene->duration), scree_norm(body->def.velocity.linear));
    const scree_Vec3 change = scree_random_in_ball(&random, scene->dimension);
    body->def.velocity.linear = scree_axpy(body->def.velocity.linear, share * unit, change);
    scree_SceneState *state = body->state;
    const bool nodes = body->def.kind == SCREE_BODY_ELEMENTS; /* all of them move with it */
    for (int i = 0; state && i < (nodes ? state->count : scene->dimension); ++i)
      state->v[i] += share * unit * scree_component(change, i % scene->dimension);
  }
}
