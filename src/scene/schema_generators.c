/* The scene format: generators of bodies, and regions (see scene_schema.h). */
#include "scene/schema_tables.h"

static const char *const distributions[] = {"constant", "uniform", "normal", "power",
                                            "mixture",  "sieve",   NULL};
static const char *const shares[] = {"auto", "mass", "number", NULL};
static const char *const turns[] = {"random", "fixed", NULL};
static const char *const arrangements[] = {"square", "hexagonal", NULL};

static const scree_Field scale[] = {
    CHOICE("distribution", "uniform", distributions,
           "distribution of the scale factors: constant (1), uniform, normal (cut off at min and "
           "max), power (density ~ scale^-exponent), mixture (a few sizes), sieve (a sieve curve)"),
    REAL("min", OPEN, NULL, "1", 0, INFINITY, "smallest scale factor"),
    REAL("max", OPEN, NULL, "1", 0, INFINITY, "largest scale factor"),
    REAL("mean", OPEN, NULL, "1", 0, INFINITY, "normal: mean scale factor"),
    REAL("deviation", OPEN, NULL, "0.1", 0, INFINITY, "normal: standard deviation"),
    REAL("exponent", 0, NULL, "3", -20, 20, "power: exponent"),
    {.key = "sizes",
     .type = SCREE_FIELD_REALS,
     .help = "mixture: the scale factors; sieve: the scale factors of the curve in ascending "
             "order, at most 32"},
    {.key = "shares",
     .type = SCREE_FIELD_REALS,
     .help = "mixture: share of each size; sieve: part that passes each size, from 0 to 1, "
             "interpolated linearly"},
    CHOICE("by", "auto", shares,
           "whether the shares are parts of the mass or of the number of bodies; auto: mass for "
           "mixture and sieve, number for the others"),
    END};

#define GENERATED_NAME                                                                             \
  TEXT("name", 0, NULL,                                                                            \
       "name of each body; {i} is replaced by its number, counted from 0: \"grain-{i}\"")

#define GRAIN_FIELDS                                                                               \
  SHAPE("shape of each body, before scaling"),                                                     \
      MAP("scale", 0, "{}", scale, "random scale factor on the size of each body"),                \
      CHOICE("orientation", "random", turns, "random, or fixed: as the shape is defined"),         \
      VECTOR("velocity", 0, "m/s", "0", "initial velocity of each body"),                          \
      VECTOR("angular_velocity", AXIAL, "rad/s", "0", "initial angular velocity of each body"),    \
      MATTER_FIELDS, KIND_FIELDS("body_kind"), OWN_DENSITY

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
    REAL("height", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "height of the top above the outlet"),
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
    {"drum", 0, region_drum, "inside of a circle in 2D, of a cylinder in 3D"},
    {"hopper", 0, region_hopper,
     "between two inclined walls whose distance increases upwards, along y in 2D and along z in "
     "3D"},
    {0}};

static const scree_Field region_mesh[] = {
    TEXT("file", REQUIRED, NULL,
         "OBJ or STL file with a closed surface, relative to the folder of the scene"),
    VECTOR("position", 0, "m", "0", "position of the origin of the file"), END};

/* Regions of generators that place bodies one by one. */
static const scree_Variant generator_regions[] = {
    {"box", 0, region_box, "a box along the axes"},
    {"drum", 0, region_drum, "inside of a circle in 2D, of a cylinder in 3D"},
    {"hopper", 0, region_hopper,
     "between two inclined walls whose distance increases upwards, along y in 2D and along z in "
     "3D"},
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
    INTS("count", NULL, 1, 1e7, "number of bodies along each axis"),
    POSITIVES("spacing", AUTO | BROADCAST, "m", "auto",
              "distance of the centres; auto: the smallest one that the largest body and the "
              "jitter allow"),
    CHOICE("arrangement", "square", arrangements,
           "square: rows above each other; hexagonal: every second row shifted by half"),
    REAL("jitter", 0, NULL, "0", 0, 0.49,
         "amplitude of a random displacement of each centre, relative to the smallest spacing"),
    ANY_REGION(0, "only bodies inside this region are created"),
    GRAIN_FIELDS,
    END};

static const scree_Field fill[] = {
    GENERATED_NAME,
    ANY_REGION(REQUIRED, "region to fill, from the bottom up"),
    REAL("fraction", REQUIRED | OPEN, NULL, NULL, 0, 0.95,
         "volume of the bodies over the volume of the region (areas in 2D). With scale factors "
         "from 0.8 to 1.2 at most about 0.56 in 2D and 0.29 in 3D; use `pack` for denser packings"),
    REAL("jitter", 0, NULL, "0.02", 0, 0.4,
         "amplitude of a random displacement of each centre, relative to the spacing"),
    GRAIN_FIELDS,
    END};

static const scree_Field pack[] = {
    GENERATED_NAME, REGION(REQUIRED, "region to pack"),
    REAL("fraction", AUTO | OPEN, NULL, "auto", 0, 0.95,
         "volume of the bodies over the volume of the region (areas in 2D); auto: 0.6, in 2D 0.8"),
    GRAIN_FIELDS, END};

static const scree_Field pour[] = {
    GENERATED_NAME,
    ANY_REGION(REQUIRED, "region in which bodies appear, as soon as there is space"),
    INT("count", REQUIRED, NULL, 1, 1e7, "number of bodies"),
    REAL("rate", REQUIRED | OPEN, "1/s", NULL, 0, INFINITY, "largest number of bodies per second"),
    REAL("start", 0, "s", "0", 0, INFINITY, "time at which the first body appears"),
    GRAIN_FIELDS,
    END};

static const scree_Field wall[] = {
    GENERATED_NAME,
    VECTOR("origin", 0, "m", "0", "lowest corner with the smallest coordinates"),
    POSITIVES("brick", REQUIRED, "m", NULL,
              "dimensions of a brick: length and height in 2D; length along x, depth along y and "
              "height in 3D"),
    INT("courses", REQUIRED, NULL, 1, 100000, "number of layers of bricks"),
    INT("length", REQUIRED, NULL, 1, 100000, "number of bricks in a course"),
    REAL("joint", 0, "m", "0", 0, INFINITY, "gap between the bricks of a course"),
    VECTOR("velocity", 0, "m/s", "0", "initial velocity of each brick"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field arch[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "centre of the circle"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "radius of the inner face"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY,
         "distance between the inner and the outer face"),
    INT("blocks", REQUIRED, NULL, 2, 10000, "number of blocks"),
    REAL("embrace", OPEN, "rad", "pi", 0, 3.1415926535897936, "opening angle of the arch"),
    {.key = "depth",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "depth along y, centred"},
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field vault[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "middle of the axis, which is along y"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "radius of the inner face"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY,
         "distance between the inner and the outer face"),
    INT("courses", REQUIRED, NULL, 2, 10000,
        "number of courses along the arc; an odd number gives a course of keystones"),
    INT("length", REQUIRED, NULL, 1, 100000, "number of blocks in a course, along y"),
    REAL("depth", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "depth of a block along y"),
    REAL("embrace", OPEN, "rad", "pi", 0, 3.1415926535897936, "opening angle of the arc"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field dome[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "centre of the spheres"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY,
         "radius of the inner face, at the corners of the blocks"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY,
         "distance between the inner and the outer face"),
    INT("courses", REQUIRED, NULL, 1, 10000, "number of courses, one above the other"),
    INT("blocks", REQUIRED, NULL, 3, 10000, "number of blocks in each course"),
    REAL("base", OPEN, "rad", "pi/2", 0, 1.5707963267948968, "angle between the axis and the base"),
    REAL("opening", REQUIRED | OPEN, "rad", NULL, 0, 1.5707963267948968,
         "angle between the axis and the edge of the opening at the top"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field from_csv[] = {
    TEXT("file", REQUIRED, NULL,
         "CSV file, relative to the folder of the scene. Its header names the columns: x, y, z; "
         "qw, qx, qy, qz or angle; vx, vy, vz, wx, wy, wz; shape, scale and parameters of shapes "
         "(radius, ...), vertices (x y; x y; ...); material, density, mass; name"),
    {.key = "shape",
     .type = SCREE_FIELD_SHAPE,
     .help = "shape of rows that have none; columns override its parameters"},
    VECTOR("velocity", 0, "m/s", "0", "initial value for bodies for which the table has none"),
    VECTOR("angular_velocity", AXIAL, "rad/s", "0",
           "initial value for bodies for which the table has none"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

const scree_Variant scree_schema_generators[] = {
    {"lattice", 0, lattice, "bodies on a lattice, optionally with random displacements"},
    {"fill", 0, fill,
     "bodies that fill a box, drum, hopper or mesh from the bottom up, without overlap with other "
     "bodies"},
    {"pack", 0, pack,
     "bodies that fill a box, drum or hopper evenly and densely in a disordered packing, without "
     "overlap with other bodies. They start at random positions and push each other apart. Spheres "
     "reach a fraction of about 0.6 and disks of about 0.8, less in regions of few diameters"},
    {"pour", 0, pour, "bodies that appear during the run"},
    {"wall", 0, wall,
     "courses of bricks, each shifted by half a brick, with half bricks at the ends"},
    {"arch", 0, arch, "wedge-shaped blocks along a half circle or a part of it"},
    {"vault", 3, vault, "a barrel vault: courses of wedges along y, each shifted by half a block"},
    {"dome", 3, dome, "courses of blocks between two spheres, with an opening at the top"},
    {"csv", 0, from_csv,
     "bodies from a table with one row per body, as `scree convert --csv` writes it"},
    {0}};
