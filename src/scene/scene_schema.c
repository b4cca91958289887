/* The tables of the scene format (see scene_schema.h): the whole, and how it runs. What there is in
 * a scene is in schema_bodies.c, schema_joints.c, schema_generators.c and schema_sensors.c. */
#include "scene/scene_schema.h"
#include "scene/schema_tables.h"

#include "scree/solver.h"
#include "scree/world.h"

/* ---- names of registries --------------------------------------------------------------------- */

static const char *solver_name(int index) {
  const scree_SolverClass *class_ = scree_solver_class(index);
  return class_ ? scree_solver_class_name(class_) : NULL;
}

static const char *measure_name(int index) {
  return scree_measure_name((scree_Measure)index);
}

static const char *flow_name(int index) {
  return scree_flow_name((scree_Flow)index);
}

/* ---- how it runs ----------------------------------------------------------------------------- */

static const scree_Field time_fields[] = {
    REGISTRY("scheme", 0, "moreau-jean", scree_scheme_name, "time scheme"),
    REAL("step", AUTO | OPEN, "s", "auto", 0, INFINITY,
         "time step; auto: 0.03 sqrt(size / gravity) of the smallest body, or less, so that no "
         "body or obstacle moves by more than 0.05 of that size in a step (0.1 if all bodies are "
         "balls; less where they bounce with e_n above 0.9), turns by more than 0.1 rad, or is "
         "moved by a force by more than 0.01 of its size; "
         "see Defaults"),
    REAL("duration", OPEN, "s", "1", 0, INFINITY, "time to run"),
    REAL("theta", 0, NULL, "0.5", 0.5, 1, "moreau-jean: weight of the end of the step"),
    REAL("gap_tolerance", 0, NULL, "1e-9", 0, 1,
         "moreau-jean-closed: gap that counts as closed, relative to the smaller body"),
    REAL("penetration", OPEN, NULL, "1e-3", 0, 1,
         "tolerated penetration, relative to the smaller body: a step that would end with more "
         "because bodies turn is solved again"),
    REAL("penetration_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "penetration above which a step is not certified, relative to the smaller body"),
    REAL("energy_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "energy created by the discretisation above which a step is not certified, relative to "
         "the energy turned over"),
    REAL("creep_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "how far errors may move a body that rests, relative to its size: above it steps are not "
         "certified"),
    REAL("max_work", OPEN, NULL, "50", 0, INFINITY,
         "a step costs at most this many times the usual step, in counted work; then the best "
         "solution found is used, and the step is not certified"),
    INT("max_halvings", 0, "4", 0, 20,
        "how often a step is halved that cannot be certified, or whose impacts need shorter ones "
        "(at most "
        "3 times); 0: never"),
    END};

static const scree_Field solver[] = {
    REGISTRY("name", AUTO, "auto", solver_name, "the solver; `scree solvers` explains them"),
    {.key = "options",
     .type = SCREE_FIELD_OPTIONS,
     .preset = "{}",
     .help = "options of the solver; `scree solvers NAME` lists them"},
    REAL("tolerance", AUTO | OPEN, NULL, "auto", 0, INFINITY,
         "on the measure; auto: the library's own"),
    REGISTRY("measure", 0, "error", measure_name,
             "the error measure that must be below the tolerance"),
    INT("max_iterations", 0, "0", 0, 2147483647.0, "of one solve; 0: the solver's own limit"),
    REAL("time_limit", 0, "s", "0", 0, INFINITY,
         "of one solve, in seconds of the clock; 0: none. Where it acts the results "
         "depend on the machine, and repeating or resuming the run does not give the same bits"),
    INT("max_retries", 0, "2", 0, 100,
        "of a solve that misses the tolerance: first with ten times the iterations and the time, "
        "then with the default solver; 0: each problem is solved once, to the tolerance, even "
        "where "
        "its error does more work than the step"),
    REGISTRY("flow", 0, "coulomb", flow_name, "coulomb, or associated: the convex relaxation"),
    BOOL("warm_start", "true", "start from the impulses of the step before"),
    BOOL("internal_forces", "false",
         "look in each step for contacts whose impulses are not determined, because bodies may be "
         "pressed together without moving; their number is `internal_contacts` of the telemetry"),
    INT("threads", 0, "0", 0, 4096,
        "largest number of threads, 0: as many as processors; fewer are used while other programs "
        "keep "
        "these busy; the results do not depend on it"),
    END};

static const scree_Field output[] = {
    REAL("every", AUTO | OPEN, "s", "auto", 0, INFINITY,
         "time between saved frames, rounded to steps; auto: 100 frames"),
    BOOL("contacts", "true", "save the contacts of each frame"),
    REAL("checkpoint", 0, "s", "10", 0, INFINITY,
         "a checkpoint is written after the first step that ends that many seconds of the clock "
         "after the last one, later if it would take more than 2 % of the time; 0: with each "
         "frame"),
    INT("compression", 0, "1", 0, 9,
        "compress results.h5: 0 none, 1 fast, 9 a few per cent smaller"),
    END};

static const scree_Field plane[] = {
    TEXT("body", 0, "any", "name of a body, a pattern (\"grain-*\"), or any"),
    VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL, "the run stops when a body's centre is on this side"),
    END};

static const scree_Field stop[] = {
    REAL("kinetic_energy", OPEN, NULL, NULL, 0, 1,
         "stop when the kinetic energy is below this part of its peak"),
    REAL("after", 0, "s", "0", 0, INFINITY, "do not stop before this time"),
    MAP("plane", 0, NULL, plane, "stop when a body passes a plane"), END};

static const scree_Field removed_plane[] = {
    VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL, "bodies whose centre is on this side are removed"),
    TEXT("bodies", 0, "all", "a name or pattern (\"grain-*\"), or all"), END};

static const scree_Field removed_outside[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"),
    TEXT("bodies", 0, "all", "a name or pattern (\"grain-*\"), or all"), END};

static const scree_Field removed_body[] = {
    TEXT("body", REQUIRED, NULL,
         "name of a body or obstacle, a pattern (\"gate-*\"), or a number in the results"),
    REAL("time", 0, "s", "0", 0, INFINITY, "when it is removed"), END};

static const scree_Variant removals[] = {
    {"plane", 0, removed_plane, "bodies that pass a plane"},
    {"outside", 0, removed_outside, "bodies whose centre leaves a box"},
    {"body", 0, removed_body, "one body or obstacle, such as a gate, at a time"},
    {0}};

static const scree_Field dump_problem[] = {
    INTS("steps", "[]", 1, 9e15, "numbers of the steps whose problem is written, counted from 1"),
    INT("every", 0, "0", 0, 9e15, "write the problem of every N-th step, too; 0: none"), END};

static const scree_Field region[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"), END};

static const scree_Field cell[] = {
    VECTOR("origin", 0, "m", "0", "corner with the smallest coordinates"),
    VECTOR("size", REQUIRED, "m", NULL,
           "lengths of the sides along the axes; 0: not periodic along it"),
    SIGNALS("gradient_x", 0, "1/s", "0",
            "the cell is deformed: change of the velocity along x over x, y, z"),
    SIGNALS("gradient_y", 0, "1/s", "0", "change of the velocity along y over x, y, z"),
    {.key = "gradient_z",
     .type = SCREE_FIELD_SIGNALS,
     .unit = "1/s",
     .preset = "0",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "change of the velocity along z over x, y, z"},
    REAL("pressure_x", 0, "Pa, N/m in 2D", NULL, -INFINITY, INFINITY,
         "the side along x is held at this pressure, which takes the place of the gradient along "
         "it; for a cell that is periodic in all directions"),
    REAL("pressure_y", 0, "Pa, N/m in 2D", NULL, -INFINITY, INFINITY, "the same along y"),
    {.key = "pressure_z",
     .type = SCREE_FIELD_REAL,
     .unit = "Pa",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "the same along z"},
    END};

static const scree_Field analysis[] = {MAP("region", 0, NULL, region,
                                           "region in which packing fraction, stress and fabric "
                                           "are measured; default: the bounds of all "
                                           "bodies"),
                                       END};

static const scree_Field start[] = {
    TEXT("run", REQUIRED, NULL,
         "folder of the run, relative to the folder of the scene; written out as an absolute path"),
    TEXT("frame", 0, "last", "last, or the number of a saved frame, from 0"),
    BOOL("velocities", "true", "keep the velocities; false: all bodies are at rest"),
    BOOL("contacts", "true",
         "start from the impulses of the contacts, too, and, where the pair of materials has the "
         "same "
         "law, from what that has kept: bonds, plastic displacements, springs"),
    BOOL("clamps", "true",
         "keep the nodes of finite elements that were held, or moved with an obstacle of the run; "
         "false: they are free"),
    END};

static const scree_Field scene[] = {
    {.key = "parameters",
     .type = SCREE_FIELD_PARAMETERS,
     .help = "numbers by name, which expressions may use: `parameters: { d: 0.01, height: 20*d }`, "
             "then `radius: d/2`. Parameters may use each other, but none is called `t`, "
             "which is the time; `--set parameters.d=0.02` changes one"},
    {.key = "include",
     .type = SCREE_FIELD_INCLUDE,
     .help = "files with parts of scenes, relative to the folder of this one. Maps are merged, and "
             "values of the scene replace those of the files; lists of the scene (bodies, "
             "obstacles, ...) come after those of the files"},
    TEXT("title", 0, "", "one line for reports"),
    TEXT("description", 0, "", "free text"),
    INT("dimension", 0, "3", 2, 3, "2 or 3"),
    INT("seed", 0, "1", 0, 9e15, "seed of all random choices"),
    REAL("perturb", 0, "", "0", 0, 1,
         "random change of the velocities of all bodies at the start, by `seed`: at most this part "
         "of "
         "the velocity of a body after falling by half of its size, or of its own if that is "
         "larger. "
         "`scree converge --seeds` uses 1e-3: other starts of a chaotic motion"),
    VECTOR("gravity", AUTO, "m/s2", "auto", "auto: 9.81 downwards, along y in 2D, z in 3D"),
    {.key = "materials",
     .type = SCREE_FIELD_NAMED,
     .preset = "{}",
     .fields = scree_schema_material,
     .help = "materials by name"},
    MAP("contact", 0, "{}", scree_schema_law, "law between materials that have none of their own"),
    LIST("pairs", scree_schema_pair, "laws between pairs of materials"),
    MAP("start", 0, NULL, start,
        "bodies of a saved frame of another run, with shape, mass, position and velocity; they "
        "come before `bodies` and keep their names. Their materials must be in `materials`, and "
        "masses follow where a density is changed. A plate with the name of a body of the run "
        "begins where that is. Deformable bodies come with their deformation and its rate; nodes "
        "that moved with an obstacle do so with the obstacle of that name. Obstacles, laws, "
        "joints, "
        "bonds, forces and time are those of this scene"),
    LIST("bodies", scree_schema_body, "bodies"),
    LIST("obstacles", scree_schema_obstacle, "bodies of infinite mass, fixed or driven"),
    LIST("plates", scree_schema_plate,
         "plates that slide along their normal, driven by a pressure, a force or a velocity: servo "
         "walls, pistons. Each is a body (box, or polygon in 2D) on a slider joint to the world"),
    {.key = "generators",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = scree_schema_generators,
     .help = "make many bodies at once"},
    LIST("forces", scree_schema_force, "forces besides gravity"),
    {.key = "joints",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = scree_schema_joints,
     .help = "joints between bodies, made where the bodies are at the start; their reactions are "
             "unknowns of the same problem as the contacts"},
    LIST("bonds", scree_schema_bond,
         "glue bodies that touch at the start, also to obstacles: one bond for each pair, with a "
         "strength in tension, shear and bending. Bodies of a joint, and of bonds that stand "
         "earlier in the list, are left out"),
    MAP("cell", 0, NULL, cell,
        "a periodic cell: the scene repeats itself along the sides of a box, which may be "
        "deformed. Bodies that leave it come in on the other side"),
    MAP("time", 0, "{}", time_fields, "scheme, step, duration"),
    MAP("solver", 0, "{}", solver, "solver of the contact problem of each step"),
    MAP("output", 0, "{}", output, "frames, checkpoints and compression of the results"),
    MAP("stop", 0, "{}", stop, "conditions to stop before `time.duration`"),
    {.key = "remove",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = removals,
     .help = "bodies that are removed while it runs; obstacles only if they are named"},
    MAP("dump_problem", 0, "{}", dump_problem,
        "steps whose contact problem is written to problems/ in FCLIB's format"),
    MAP("analysis", 0, "{}", analysis, "measurements"),
    {.key = "sensors",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = scree_schema_sensors,
     .help = "quantities measured after every step, for the telemetry and the plots"},
    END};

const scree_Field *scree_scene_schema(void) {
  return scene;
}
