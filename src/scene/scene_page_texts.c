/* Texts of the reference page that do not come from the tables of the scene format: the beginning,
 * and an example for each section. tests/cli/keys.sh checks the examples against the JSON Schema.
 */
#include "scene/scene_page.h"

#include <string.h>

const char scree_page_beginning[] =
    "# Scene files\n\n"
    "This page is the reference of the scene format, for users who write scenes. A scene describes "
    "bodies, obstacles, contact laws, the time integration, and the results to be saved. The "
    "[tutorial](TUTORIAL.md) introduces scenes step by step, and the "
    "[examples](../examples/README.md) are complete scenes to start from.\n\n"
    "A scene is a YAML file:\n\n"
    "```yaml\n"
    "dimension: 2\n"
    "materials:\n"
    "  stone: { density: 2600 }\n"
    "contact: { law: coulomb, mu: 0.5 }\n"
    "obstacles:\n"
    "  - { name: floor, shape: { kind: half-plane } }\n"
    "bodies:\n"
    "  - { name: ball, shape: { kind: disk, radius: 0.05 }, position: [0, 0.5], velocity: [1, 0], "
    "material: stone }\n"
    "sensors:\n"
    "  - { kind: position, name: ball, body: ball }\n"
    "time: { duration: 2 }\n"
    "```\n\n"
    "- Units are SI. Angles are in radians.\n"
    "- Keys are optional, except keys that are marked *required*. Unknown keys are errors.\n"
    "- `scree check SCENE.yaml` validates a scene and estimates its run. `scree run SCENE.yaml` "
    "runs it.\n"
    "- `--set PATH=VALUE` changes any value from the command line: `--set time.step=1e-4`, `--set "
    "bodies[0].velocity='[1, 0]'`.\n"
    "- `scree check --schema` prints a JSON Schema of the format "
    "([scene.schema.json](scene.schema.json)). Editors use it to complete and check scenes: put `# "
    "yaml-language-server: $schema=PATH` in the first line of the scene.\n"
    "- `scree check --reference` prints this page.\n\n";

const char scree_page_values[] =
    "## Values\n\n"
    "**Numbers** may be expressions: `pi/6`, `2*0.03`, `sqrt(2)`. Available are the operators `+ - "
    "* / ^`, parentheses, the constants `pi` and `deg` (`30*deg` is an angle), the functions `sin "
    "cos tan sqrt exp log abs min max`, and the `parameters` of the scene.\n\n"
    "**Vectors** are lists of 2 numbers in 2D and of 3 numbers in 3D.\n\n"
    "**Signals** are vectors that depend on the time. They have three forms:\n\n"
    "- Expressions in the time `t`: `[0.1*sin(2*pi*t), 0]`.\n"
    "- A table: `{ times: [0, 1, 2], values: [[0, 0], [1, 0], [0, 0]] }`. Values are interpolated "
    "linearly between the entries and constant outside.\n"
    "- A table in a file, such as an accelerogram: `{ csv: quake.csv, columns: [t, ax, -], scale: "
    "9.81, integrate: true }`. `columns` lists the columns by name or by number from 1: first the "
    "time, then the components; `-` stands for zero. By default all columns are used in their "
    "order. `step` gives the time between rows if there is no column of times. `scale` is a "
    "factor, for example for units. `integrate` computes a velocity from an acceleration by the "
    "trapezoidal rule, starting from 0 at the first time.\n\n"
    "A value of a signal that is not finite stops the run at that time.\n\n"
    "**Random numbers** follow from `seed`. They do not depend on the platform or the number of "
    "threads.\n\n"
    "YAML anchors and aliases (`&name`, `*name`) can be used.\n\n";

static const struct {
  const char *heading, *yaml;
} examples[] = {
    {"materials.NAME", "materials:\n"
                       "  stone: { density: 2600, colour: \"#8090a0\" }\n"
                       "  rubber: { density: 1100, young: 1e6, poisson: 0.4 }\n"},
    {"contact", "contact: { law: coulomb, mu: 0.5, e_n: 0.2 }\n"},
    {"pairs[]", "materials: { stone: {}, steel: {} }\n"
                "contact: { mu: 0.5 }\n"
                "pairs:\n"
                "  - { between: [stone, steel], mu: 0.2 }\n"},
    {"start", "start: { run: settled-run, velocities: false }\n"},
    {"bodies[]", "bodies:\n"
                 "  - { name: ball, shape: { kind: sphere, radius: 0.1 }, position: [0, 0, 1], "
                 "velocity: [1, 0, 0] }\n"
                 "  - name: block\n"
                 "    shape: { kind: box, half_x: 0.2, half_y: 0.1, half_z: 0.1 }\n"
                 "    position: [1, 0, 0.1]\n"
                 "    rotation: { axis: [0, 0, 1], angle: 30*deg }\n"},
    {"obstacles[]",
     "obstacles:\n"
     "  - { name: floor, shape: { kind: half-space } }\n"
     "  - { name: wall, shape: { kind: half-space }, position: [1, 0, 0], normal: [-1, 0, 0] }\n"
     "  - name: table\n"
     "    shape: { kind: box, half_x: 0.5, half_y: 0.5, half_z: 0.05 }\n"
     "    velocity: [\"0.1*sin(2*pi*t)\", 0, 0]\n"},
    {"plates[]",
     "plates:\n"
     "  - { name: lid, point: [0, 0, 0.2], normal: [0, 0, -1], length: 0.1, pressure: 1e5 }\n"},
    {"generators", "generators:\n"
                   "  - kind: fill\n"
                   "    name: \"grain-{i}\"\n"
                   "    region: { kind: box, lower: [0, 0, 0], upper: [0.1, 0.1, 0.2] }\n"
                   "    fraction: 0.25\n"
                   "    shape: { kind: sphere, radius: 0.005 }\n"
                   "    scale: { min: 0.8, max: 1.2 }\n"},
    {"forces[]", "forces:\n"
                 "  - { body: ball, force: [\"10*sin(t)\", 0, 0] }\n"
                 "  - { body: \"grain-*\", acceleration: [0, 0, 1] }\n"},
    {"joints", "joints:\n"
               "  - { kind: hinge, name: pivot, bodies: [arm, world], anchor: [0, 0, 1], axis: [0, "
               "1, 0], motor: { velocity: 2, force: 50 } }\n"},
    {"bonds[]",
     "bonds:\n"
     "  - { name: mortar, between: [\"brick-*\", \"brick-*\"], tension: 2e4, stress: true }\n"},
    {"cell", "cell: { size: [0.1, 0.1, 0.1], gradient_x: [0, 0, 1] }\n"},
    {"time", "time: { duration: 2, step: 1e-3 }\n"},
    {"solver", "solver: { name: nlgs, tolerance: 1e-5 }\n"},
    {"output", "output: { every: 0.02 }\n"},
    {"stop", "stop: { kinetic_energy: 1e-4, after: 0.5 }\n"},
    {"remove", "remove:\n"
               "  - { kind: plane, point: [0, 0, -1], normal: [0, 0, -1] }\n"
               "  - { kind: body, body: gate, time: 0.5 }\n"},
    {"dump_problem", "dump_problem: { steps: [100, 200] }\n"},
    {"analysis", "analysis: { region: { lower: [0, 0, 0], upper: [0.1, 0.1, 0.1] } }\n"},
    {"sensors", "sensors:\n"
                "  - { kind: position, name: ball, body: ball }\n"
                "  - { kind: force, name: floor, body: floor, gives: mean, after: 0.5 }\n"
                "  - { kind: contact_force, name: on wall, between: [wall, \"grain-*\"] }\n"},
};

const char *scree_page_example(const char *heading) {
  for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k)
    if (strcmp(examples[k].heading, heading) == 0) return examples[k].yaml;
  return NULL;
}
