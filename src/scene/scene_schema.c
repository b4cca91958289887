/* The tables of the scene format (see scene_schema.h): the top level of a scene, and the keys of
 * the run (time, solver, output, ...). The keys of the contents of a scene are in schema_bodies.c,
 * schema_joints.c, schema_generators.c and schema_sensors.c. */
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
         "time step. auto: the smallest body falls by 1e-3 of its size in one step; large speeds, "
         "rotations, forces, joints, pressures and elastic waves reduce it further (see Defaults)"),
    REAL("duration", OPEN, "s", "1", 0, INFINITY, "duration of the simulation"),
    REAL("theta", 0, NULL, "0.5", 0.5, 1,
         "moreau-jean: parameter of the theta scheme, the weight of the end of the step"),
    REAL("gap_tolerance", 0, NULL, "1e-9", 0, 1,
         "moreau-jean-closed: a contact is closed if its gap is at most this, relative to the size "
         "of the smaller body"),
    REAL("penetration", OPEN, NULL, "1e-3", 0, 1,
         "tolerated penetration, relative to the size of the smaller body. If the rotation of "
         "bodies would cause more, the step is solved again"),
    REAL("penetration_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "a step with a larger penetration, relative to the size of the smaller body, is not "
         "certified"),
    REAL("energy_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "a step is not certified if the energy created by the discretisation since the start is "
         "larger than this part of the energy turned over"),
    REAL("creep_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "a step is not certified if errors of the solutions have moved a resting body by more "
         "than this part of its size"),
    REAL("max_work", OPEN, NULL, "50", 0, INFINITY,
         "largest cost of a step, in counted work relative to a usual step. A step that reaches it "
         "uses the best solution found and is not certified"),
    INT("max_halvings", 0, "4", 0, 20,
        "how many times a step may be halved if it cannot be certified, or if its impacts need "
        "shorter steps (for that at most 3 times). 0: never"),
    END};

static const scree_Field solver[] = {
    REGISTRY("name", AUTO, "auto", solver_name,
             "solver of the contact problems; `scree solvers` lists them"),
    {.key = "options",
     .type = SCREE_FIELD_OPTIONS,
     .preset = "{}",
     .help = "options of this solver; `scree solvers NAME` lists them"},
    REAL("tolerance", AUTO | OPEN, NULL, "auto", 0, INFINITY,
         "tolerance on the error measure; auto: 1e-4 (see Defaults)"),
    REGISTRY("measure", 0, "error", measure_name,
             "error measure that has to be below the tolerance"),
    INT("max_iterations", 0, "0", 0, 2147483647.0,
        "largest number of iterations of one solve; 0: the limit of the solver"),
    REAL("time_limit", 0, "s", "0", 0, INFINITY,
         "limit of one solve in seconds of elapsed time; 0: none. Where it acts, results depend on "
         "the speed of the machine, and a repeated or resumed run does not give the same bits"),
    INT("max_retries", 0, "2", 0, 100,
        "how many times a solve that misses the tolerance is repeated: first with ten times the "
        "iterations and time, then with the default solver. 0: each problem is solved once, to the "
        "tolerance, even if its error does more work than the motion of the step"),
    REGISTRY("flow", 0, "coulomb", flow_name,
             "coulomb: Coulomb's law; associated: its convex relaxation, in which sliding contacts "
             "open"),
    BOOL("warm_start", "true", "start each solve from the impulses of the previous step"),
    BOOL("internal_forces", "false",
         "count in each step the contacts whose impulses are not determined, because bodies can be "
         "pressed together without moving; the number is `internal_contacts` of the telemetry"),
    INT("threads", 0, "0", 0, 4096,
        "largest number of threads; 0: number of processors. Fewer are used while other programs "
        "occupy the processors. The results do not depend on it"),
    END};

static const scree_Field output[] = {
    REAL("every", AUTO | OPEN, "s", "auto", 0, INFINITY,
         "time between saved frames, rounded to time steps; auto: 100 frames per run"),
    BOOL("contacts", "true", "save the contacts of each frame"),
    REAL("checkpoint", 0, "s", "10", 0, INFINITY,
         "elapsed time in seconds between checkpoints. A checkpoint is written after the first "
         "step that ends later than this, and less often if checkpoints would take more than 2 % "
         "of the time. 0: with each frame"),
    INT("compression", 0, "1", 0, 9,
        "compression level of results.h5: 0 none, 1 fast, 9 smallest (a few per cent smaller than "
        "1)"),
    END};

static const scree_Field plane[] = {
    TEXT("body", 0, "any", "name or pattern of bodies (\"grain-*\"), or any"),
    VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL,
           "normal of the plane; the run stops when the centre of a body is on the side to which "
           "it points"),
    END};

static const scree_Field stop[] = {
    REAL("kinetic_energy", OPEN, NULL, NULL, 0, 1,
         "stop when the kinetic energy is below this part of its largest value so far"),
    REAL("after", 0, "s", "0", 0, INFINITY, "do not stop before this time"),
    MAP("plane", 0, NULL, plane, "stop when a body crosses a plane"), END};

static const scree_Field removed_plane[] = {
    VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR(
        "normal", REQUIRED, NULL, NULL,
        "normal of the plane; bodies whose centre is on the side to which it points are removed"),
    TEXT("bodies", 0, "all", "name or pattern of bodies (\"grain-*\"), or all"), END};

static const scree_Field removed_outside[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"),
    TEXT("bodies", 0, "all", "name or pattern of bodies (\"grain-*\"), or all"), END};

static const scree_Field removed_body[] = {
    TEXT("body", REQUIRED, NULL,
         "name or pattern of bodies or obstacles (\"gate-*\"), or number of a body in the results"),
    REAL("time", 0, "s", "0", 0, INFINITY, "time at which it is removed"), END};

static const scree_Variant removals[] = {
    {"plane", 0, removed_plane, "removes bodies that cross a plane"},
    {"outside", 0, removed_outside, "removes bodies whose centre leaves a box"},
    {"body", 0, removed_body, "removes given bodies or obstacles, such as a gate, at a given time"},
    {0}};

static const scree_Field dump_problem[] = {
    INTS("steps", "[]", 1, 9e15, "numbers of the steps whose problem is written, counted from 1"),
    INT("every", 0, "0", 0, 9e15, "also write the problem of every N-th step; 0: none"), END};

static const scree_Field region[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"), END};

static const scree_Field cell[] = {
    VECTOR("origin", 0, "m", "0", "corner with the smallest coordinates"),
    VECTOR("size", REQUIRED, "m", NULL,
           "lengths of the sides along the axes; 0: the cell is not periodic in this direction"),
    SIGNALS("gradient_x", 0, "1/s", "0",
            "velocity gradient of the cell, row x: derivatives of the velocity along x with "
            "respect to x, y, z"),
    SIGNALS("gradient_y", 0, "1/s", "0", "row y of the velocity gradient"),
    {.key = "gradient_z",
     .type = SCREE_FIELD_SIGNALS,
     .unit = "1/s",
     .preset = "0",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "row z of the velocity gradient"},
    REAL("pressure_x", 0, "Pa, N/m in 2D", NULL, -INFINITY, INFINITY,
         "pressure on the side along x; it replaces the gradient in this direction. Only for cells "
         "that are periodic in all directions"),
    REAL("pressure_y", 0, "Pa, N/m in 2D", NULL, -INFINITY, INFINITY, "the same along y"),
    {.key = "pressure_z",
     .type = SCREE_FIELD_REAL,
     .unit = "Pa",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "the same along z"},
    END};

static const scree_Field analysis[] = {
    MAP("region", 0, NULL, region,
        "region in which the packing fraction, the stress and the fabric of each frame are "
        "measured; default: the bounding box of all bodies"),
    END};

static const scree_Field start[] = {
    TEXT("run", REQUIRED, NULL, "folder of the run, relative to the folder of the scene"),
    TEXT("frame", 0, "last", "number of a saved frame, counted from 0, or last"),
    BOOL("velocities", "true",
         "keep the velocities of the bodies; false: all bodies start at rest"),
    BOOL("contacts", "true",
         "keep the impulses of the contacts and the state of the contact laws (bonds, plastic "
         "displacements, springs). The state is kept for pairs of materials that have the same law "
         "in both scenes"),
    BOOL("clamps", "true",
         "keep the constraints of nodes of finite elements that were fixed or moved with an "
         "obstacle; false: these nodes are free"),
    END};

static const scree_Field scene[] = {
    {.key = "parameters",
     .type = SCREE_FIELD_PARAMETERS,
     .help = "named numbers for use in expressions. With `parameters: { d: 0.01, height: 20*d }` "
             "other keys may contain `radius: d/2`. Parameters may refer to each other. The name "
             "`t` is reserved for the time. `--set parameters.d=0.02` changes a parameter from the "
             "command line"},
    {.key = "include",
     .type = SCREE_FIELD_INCLUDE,
     .help = "files with parts of scenes, relative to the folder of this scene. Maps are merged, "
             "and values of the scene override those of the files. Lists (bodies, obstacles, ...) "
             "are concatenated: first those of the files, then those of the scene"},
    TEXT("title", 0, "", "title, one line, for reports"),
    TEXT("description", 0, "", "free text"),
    INT("dimension", 0, "3", 2, 3, "dimension of space, 2 or 3"),
    INT("seed", 0, "1", 0, 9e15, "seed of all random numbers"),
    REAL("perturb", 0, "", "0", 0, 1,
         "amplitude of a random change of the initial velocities of all bodies, which depends on "
         "`seed`. It is relative to the speed of the body after falling by half of its size, or to "
         "its own speed if that is larger. `scree converge --seeds` uses 1e-3 to create different "
         "initial states of a chaotic motion"),
    VECTOR("gravity", AUTO, "m/s2", "auto",
           "acceleration of gravity; auto: 9.81 downwards, which is along -y in 2D and along -z in "
           "3D"),
    {.key = "materials",
     .type = SCREE_FIELD_NAMED,
     .preset = "{}",
     .fields = scree_schema_material,
     .help = "materials, each under its name"},
    MAP("contact", 0, "{}", scree_schema_law,
        "contact law of all pairs of materials that are not listed in `pairs`"),
    LIST("pairs", scree_schema_pair, "contact laws of single pairs of materials"),
    MAP("start", 0, NULL, start,
        "initial state from a saved frame of another run: the bodies with shape, mass, position "
        "and velocity. They come before `bodies` in the numbering and keep their names. Their "
        "materials must be defined in `materials`; if the density of a material is different, the "
        "masses change with it. A plate that has the name of a body of the run starts at the "
        "position of that body. Deformable bodies keep their deformation and its rate; nodes that "
        "moved with an obstacle move with the obstacle of the same name. Obstacles, laws, joints, "
        "bonds, forces and time are those of this scene"),
    LIST("bodies", scree_schema_body, "single bodies"),
    LIST("obstacles", scree_schema_obstacle,
         "bodies of infinite mass, fixed or with a prescribed motion"),
    LIST("plates", scree_schema_plate,
         "plates that slide along their normal and are driven by a pressure, a force or a "
         "velocity, such as servo walls and pistons. Each plate is a body (box, or polygon in 2D) "
         "with a slider joint to the world"),
    {.key = "generators",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = scree_schema_generators,
     .help = "generators of many bodies"},
    LIST("forces", scree_schema_force, "applied forces and pressures, besides gravity"),
    {.key = "joints",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = scree_schema_joints,
     .help = "joints between bodies. They are created in the initial positions of the bodies. "
             "Their reactions are unknowns of the contact problem"},
    LIST("bonds", scree_schema_bond,
         "bonds between bodies that touch at the start, also between bodies and obstacles. Each "
         "pair of bodies gets one bond with strengths in tension, shear and bending. Pairs that "
         "have a joint, or a bond of an earlier entry of the list, are skipped"),
    MAP("cell", 0, NULL, cell,
        "periodic cell: the scene is repeated along the sides of a box, which can be deformed. "
        "Bodies that leave the box enter it again on the opposite side"),
    MAP("time", 0, "{}", time_fields,
        "time-stepping scheme, time step, duration, limits of the certificate"),
    MAP("solver", 0, "{}", solver, "solver of the contact problem of each step"),
    MAP("output", 0, "{}", output, "saved frames, checkpoints and compression of the results"),
    MAP("stop", 0, "{}", stop, "conditions that end the run before `time.duration`"),
    {.key = "remove",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = removals,
     .help = "bodies that are removed during the run; obstacles only if they are named"},
    MAP("dump_problem", 0, "{}", dump_problem,
        "steps whose contact problem is written to the folder `problems` in FCLIB's format"),
    MAP("analysis", 0, "{}", analysis, "settings of the measurements in each frame"),
    {.key = "sensors",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = scree_schema_sensors,
     .help = "quantities that are measured after every step, for the telemetry and the plots"},
    END};

const scree_Field *scree_scene_schema(void) {
  return scene;
}
