/* The scene format: generators of bodies, and regions (see scene_schema.h). */
#include "scene/schema_tables.h"

static const char *const distributions[] = {"constant", "uniform", "normal", "power",
                                            "mixture",  "sieve",   NULL};
static const char *const shares[] = {"auto", "mass", "number", NULL};
static const char *const turns[] = {"random", "fixed", NULL};
static const char *const arrangements[] = {"square", "hexagonal", NULL};

static const scree_Field scale[] = {
    CHOICE("distribution", "uniform", distributions,
           "constant (1), uniform, normal (cut to min..max), power (density ~ scale^-exponent), "
           "mixture (some sizes), sieve (a curve)"),
    REAL("min", OPEN, NULL, "1", 0, INFINITY, "smallest scale"),
    REAL("max", OPEN, NULL, "1", 0, INFINITY, "largest scale"),
    REAL("mean", OPEN, NULL, "1", 0, INFINITY, "normal: mean"),
    REAL("deviation", OPEN, NULL, "0.1", 0, INFINITY, "normal: standard deviation"),
    REAL("exponent", 0, NULL, "3", -20, 20, "power: exponent"),
    {.key = "sizes",
     .type = SCREE_FIELD_REALS,
     .help = "mixture: the scales; sieve: scales in ascending order, at most 32"},
    {.key = "shares",
     .type = SCREE_FIELD_REALS,
     .help =
         "mixture: the share of each size; sieve: the share that passes each size, from 0 to 1, "
         "linear in between"},
    CHOICE(
        "by", "auto", shares,
        "whether the distribution is one of the mass or of the number of bodies; auto: of the mass "
        "for mixture and sieve, else of the number"),
    END};

#define GENERATED_NAME                                                                             \
  TEXT("name", 0, NULL, "name of each body, with {i} for its number from 0: \"grain-{i}\"")

#define GRAIN_FIELDS                                                                               \
  SHAPE("of each body, before scaling"),                                                           \
      MAP("scale", 0, "{}", scale, "random factor on the size of each body"),                      \
      CHOICE("orientation", "random", turns, "random, or as the shape is defined"),                \
      VECTOR("velocity", 0, "m/s", "0", "of each body at its start"),                              \
      VECTOR("angular_velocity", AXIAL, "rad/s", "0", "of each body at its start"), MATTER_FIELDS, \
      KIND_FIELDS("body_kind"), OWN_DENSITY

static const scree_Field region_box[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"), END};

static const scree_Field region_drum[] = {
    VECTOR("centre", 0, "m", "0", "centre"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "radius"),
    {.key = "half_length",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "half the length along the axis"},
    {.key = "axis",
     .type = SCREE_FIELD_VECTOR,
     .preset = "auto",
     .flags = AUTO,
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "direction of the axis; auto: y"},
    END};

static const scree_Field region_hopper[] = {
    VECTOR("outlet", 0, "m", "0", "middle of the outlet"),
    REAL("outlet_width", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "width of the outlet, along x"),
    REAL("top_width", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "width at the top, along x"),
    REAL("height", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the outlet to the top"),
    {.key = "length",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "length along y"},
    END};

const scree_Variant scree_schema_regions[] = {
    {"box", 0, region_box, "a box along the axes"},
    {"drum", 0, region_drum, "inside of a circle or cylinder"},
    {"hopper", 0, region_hopper,
     "between two slopes that widen upwards, along y in 2D and along z in 3D"},
    {0}};

static const scree_Field region_mesh[] = {
    TEXT("file", REQUIRED, NULL, "an OBJ or STL file of a closed surface, relative to the scene"),
    VECTOR("position", 0, "m", "0", "of the origin of the file"), END};

/* Regions of generators that place bodies one by one. */
static const scree_Variant generator_regions[] = {
    {"box", 0, region_box, "a box along the axes"},
    {"drum", 0, region_drum, "inside of a circle or cylinder"},
    {"hopper", 0, region_hopper,
     "between two slopes that widen upwards, along y in 2D and along z in 3D"},
    {"mesh", 3, region_mesh, "inside of a closed surface of triangles"},
    {0}};

#define ANY_REGION(fl, h)                                                                          \
  {                                                                                                \
    .key = "region", .type = SCREE_FIELD_VARIANT, .flags = (fl), .variants = generator_regions,    \
    .help = h                                                                                      \
  }

static const scree_Field lattice[] = {
    GENERATED_NAME,
    VECTOR("origin", 0, "m", "0", "centre of the first body"),
    INTS("count", NULL, 1, 1e7, "bodies along each axis"),
    POSITIVES("spacing", AUTO | BROADCAST, "m", "auto",
              "between centres; auto: as close as the largest body and the jitter allow"),
    CHOICE("arrangement", "square", arrangements, "rows above each other, or shifted by half"),
    REAL("jitter", 0, NULL, "0", 0, 0.49,
         "each centre is moved at random by up to this part of the smallest spacing"),
    ANY_REGION(0, "only bodies that lie inside are made"),
    GRAIN_FIELDS,
    END};

static const scree_Field fill[] = {
    GENERATED_NAME,
    ANY_REGION(REQUIRED, "region to fill, from the bottom up"),
    REAL("fraction", REQUIRED | OPEN, NULL, NULL, 0, 0.95,
         "volume of the bodies over the volume of the region (areas in 2D); of sizes 0.8 to 1.2 "
         "about "
         "0.56 in 2D and 0.29 in 3D at most: `pack` is denser"),
    REAL("jitter", 0, NULL, "0.02", 0, 0.4,
         "each centre is moved at random by up to this part of the spacing"),
    GRAIN_FIELDS,
    END};

static const scree_Field pack[] = {
    GENERATED_NAME, REGION(REQUIRED, "region to pack"),
    REAL("fraction", AUTO | OPEN, NULL, "auto", 0, 0.95,
         "volume of the bodies over the volume of the region (areas in 2D); auto: 0.6, in 2D 0.8"),
    GRAIN_FIELDS, END};

static const scree_Field pour[] = {
    GENERATED_NAME,
    ANY_REGION(REQUIRED, "region where bodies appear, when there is room"),
    INT("count", REQUIRED, NULL, 1, 1e7, "number of bodies"),
    REAL("rate", REQUIRED | OPEN, "1/s", NULL, 0, INFINITY, "bodies per second, at most"),
    REAL("start", 0, "s", "0", 0, INFINITY, "time of the first"),
    GRAIN_FIELDS,
    END};

static const scree_Field wall[] = {
    GENERATED_NAME,
    VECTOR("origin", 0, "m", "0", "lowest corner with the smallest coordinates"),
    POSITIVES("brick", REQUIRED, "m", NULL,
              "length, height of a brick in 2D; length along x, depth along y, height in 3D"),
    INT("courses", REQUIRED, NULL, 1, 100000, "layers of bricks"),
    INT("length", REQUIRED, NULL, 1, 100000, "bricks in a course"),
    REAL("joint", 0, "m", "0", 0, INFINITY, "gap between bricks of a course"),
    VECTOR("velocity", 0, "m/s", "0", "of each brick at its start"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field arch[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "centre of the circle"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the inner face"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the inner to the outer face"),
    INT("blocks", REQUIRED, NULL, 2, 10000, "number of blocks"),
    REAL("embrace", OPEN, "rad", "pi", 0, 3.1415926535897936, "angle of the whole arch"),
    {.key = "depth",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "along y, centred"},
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field vault[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "middle of its axis, which is along y"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the inner face"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the inner to the outer face"),
    INT("courses", REQUIRED, NULL, 2, 10000, "courses round the arc, odd: with a keystone course"),
    INT("length", REQUIRED, NULL, 1, 100000, "blocks in a course, along y"),
    REAL("depth", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of a block along y"),
    REAL("embrace", OPEN, "rad", "pi", 0, 3.1415926535897936, "angle of the whole arc"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field dome[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "centre of the spheres"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the inner face, at its corners"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the inner to the outer face"),
    INT("courses", REQUIRED, NULL, 1, 10000, "courses, one above the other"),
    INT("blocks", REQUIRED, NULL, 3, 10000, "blocks in each course"),
    REAL("base", OPEN, "rad", "pi/2", 0, 1.5707963267948968,
         "angle from the axis at which it begins"),
    REAL("opening", REQUIRED | OPEN, "rad", NULL, 0, 1.5707963267948968,
         "angle from the axis of the opening at the top"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field from_csv[] = {
    TEXT("file", REQUIRED, NULL,
         "the table, relative to the folder of the scene; written out as an absolute path. Its "
         "header names the columns: x, y, z; qw, qx, qy, qz or angle; vx, vy, vz, wx, wy, wz; "
         "shape, scale and the parameters of shapes (radius, ...), vertices (x y; x y; ...); "
         "material, density, mass; name"),
    {.key = "shape",
     .type = SCREE_FIELD_SHAPE,
     .help = "of rows without a shape of their own; columns replace its parameters"},
    VECTOR("velocity", 0, "m/s", "0", "of each body at its start, if the table has none"),
    VECTOR("angular_velocity", AXIAL, "rad/s", "0",
           "of each body at its start, if the table has none"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

const scree_Variant scree_schema_generators[] = {
    {"lattice", 0, lattice, "bodies on a lattice, possibly moved at random"},
    {"fill", 0, fill,
     "a box, drum or hopper filled from the bottom up, without overlap with other bodies"},
    {"pack", 0, pack,
     "a box, drum or hopper filled evenly and densely, in disorder, without overlap with other "
     "bodies: "
     "bodies at random places push each other apart. Spheres and disks reach about 0.6 and 0.8, "
     "less in regions of few diameters"},
    {"pour", 0, pour, "bodies that appear over time"},
    {"wall", 0, wall, "courses of bricks, each shifted by half a brick; half bricks at the ends"},
    {"arch", 0, arch, "wedge-shaped blocks round a half circle, or part of it"},
    {"vault", 3, vault, "a barrel vault: courses of wedges along y, each shifted by half a block"},
    {"dome", 3, dome, "courses of blocks between two spheres, with an opening at the top"},
    {"csv", 0, from_csv, "bodies from a table, one per row (`scree convert --csv` writes one)"},
    {0}};
