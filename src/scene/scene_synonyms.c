/* Words that other programs use for keys and kinds of scenes. A user who writes one of them is told
 * the one that is meant here: its spelling is too far away for scree_nearest_word. */
#include "scene/scene_check.h"

#include <string.h>

typedef struct Synonym {
  const char *word; /* as it was written */
  const char *with; /* the row counts only where this word is allowed; null: everywhere */
  const char *meant;
} Synonym;

/* The first row that fits counts. */
static const Synonym synonyms[] = {
    /* sizes of shapes */
    {"semi_axes", "semi_x", "semi_x, semi_y, ..."},
    {"semi_axes", "half_x", "half_x, half_y, ..."},
    {"axes", "semi_x", "semi_x, semi_y, ..."},
    {"radii", "semi_x", "semi_x, semi_y, ..."},
    {"half_x", "semi_x", "semi_x"},
    {"half_y", "semi_x", "semi_y"},
    {"half_z", "semi_x", "semi_z"},
    {"half_extents", "half_x", "half_x, half_y, ..."},
    {"half_extents", "semi_x", "semi_x, semi_y, ..."},
    {"half_size", "half_x", "half_x, half_y, ..."},
    {"size", "half_x", "half_x, half_y, ... (half of each size)"},
    {"size", "semi_x", "semi_x, semi_y, ... (half of each size)"},
    {"extents", "half_x", "half_x, half_y, ... (half of each extent)"},
    {"extents", "semi_x", "semi_x, semi_y, ... (half of each extent)"},
    {"dimensions", "half_x", "half_x, half_y, ... (half of each size)"},
    {"width", "half_x", "half_x (half of the width)"},
    {"height", "half_z", "half_z (half of the height)"},
    {"length", "half_length", "half_length (half of the length)"},
    {"height", "half_length", "half_length (half of the height)"},
    {"diameter", "radius", "radius (half of the diameter)"},
    {"size", "radius", "radius (half of the size)"},
    {"r", "radius", "radius"},
    {"points", "vertices", "vertices"},
    {"corners", "vertices", "vertices"},
    {"faces", "triangles", "triangles"},
    /* kinds of shapes and joints */
    {"type", "kind", "kind"},
    {"ball", "sphere", "sphere"},
    {"circle", "disk", "disk"},
    {"cylinder", "hopper", "drum (a region inside of a cylinder)"},
    {"circle", "hopper", "drum (a region inside of a circle)"},
    {"disk", "hopper", "drum (a region inside of a circle)"},
    {"cube", "box", "box"},
    {"block", "box", "box"},
    {"plane", "half-space", "half-space"},
    {"plane", "half-plane", "half-plane"},
    {"rectangle", "half-plane", "polygon"},
    {"convex", "polyhedron", "polyhedron"},
    {"compound", "clump", "clump"},
    {"revolute", "hinge", "hinge"},
    {"prismatic", "slider", "slider"},
    {"spherical", "ball", "ball"},
    {"weld", "fixed", "fixed"},
    {"between", "anchor", "bodies"},
    {"position", "anchor", "anchor"},
    {"point", "anchor", "anchor"},
    /* materials and laws */
    {"friction", "mu", "mu"},
    {"friction", NULL, "contact.mu"},
    {"friction_coefficient", NULL, "contact.mu"},
    {"mu", NULL, "contact.mu"},
    {"restitution", "e_n", "e_n"},
    {"restitution", NULL, "contact.e_n"},
    {"e_n", NULL, "contact.e_n"},
    {"rho", "density", "density"},
    {"mass", "young", "density (bodies may have a mass in place of it)"},
    {"mass", "density", "density"},
    {"youngs_modulus", "young", "young"},
    {"poisson_ratio", "poisson", "poisson"},
    {"color", NULL, "materials.NAME.colour"},
    /* bodies, obstacles, joints */
    {"centre", "position", "position"},
    {"center", "position", "position"},
    {"center", "centre", "centre"},
    {"translation", "position", "position"},
    {"orientation", "rotation", "rotation"},
    {"orientation", "angle", "angle"},
    {"linear_velocity", "velocity", "velocity"},
    {"omega", "angular_velocity", "angular_velocity"},
    {"spin", "angular_velocity", "angular_velocity"},
    {"fixed", "inertia", "an entry of obstacles (these are fixed or driven)"},
    {"static", "inertia", "an entry of obstacles (these are fixed or driven)"},
    {"pivot", "anchor", "anchor"},
    {"limits", "upper", "lower and upper"},
    {"limit", "force", "force"},
    {"max_force", "force", "force"},
    {"max_torque", "force", "force"},
    {"speed", "velocity", "velocity"},
    /* time, solver, output */
    {"dt", NULL, "time.step"},
    {"timestep", NULL, "time.step"},
    {"time_step", NULL, "time.step"},
    {"end", NULL, "time.duration"},
    {"t_end", NULL, "time.duration"},
    {"end_time", NULL, "time.duration"},
    {"final_time", NULL, "time.duration"},
    {"duration", NULL, "time.duration"},
    {"integrator", NULL, "time.scheme"},
    {"threads", NULL, "solver.threads, or --threads of scree run"},
    {"tolerance", NULL, "solver.tolerance"},
    {"iterations", NULL, "solver.max_iterations"},
    {"max_iter", NULL, "solver.max_iterations"},
    {"interval", "every", "every"},
    {"interval", NULL, "output.every"},
    {"fps", NULL, "output.every (the time between frames)"},
    {"frames", NULL, "output.every (the time between frames)"},
    /* parts of the scene */
    {"g", "gravity", "gravity"},
    {"name", "title", "title"},
    {"constraints", "joints", "joints"},
    {"walls", "obstacles", "obstacles"},
    {"boundaries", "obstacles", "obstacles"},
    {"particles", "generators", "bodies, or generators for many"},
    {"grains", "generators", "bodies, or generators for many"},
    {"objects", "generators", "bodies"},
    {"variables", "parameters", "parameters"},
};

const char *scree_check_meant(const char *word, const char *const *words) {
  for (size_t k = 0; k < sizeof synonyms / sizeof *synonyms; ++k) {
    if (strcmp(synonyms[k].word, word) != 0) continue;
    bool fits = !synonyms[k].with;
    for (int w = 0; words[w] && !fits; ++w) fits = strcmp(words[w], synonyms[k].with) == 0;
    if (fits) return synonyms[k].meant;
  }
  return scree_nearest_word(word, words);
}
