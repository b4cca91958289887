/* `scree check`: validate scenes and estimate the run; also prints the reference of the format.
 */
#include "cli/args.h"
#include "cli/describe.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "scree/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Properties of a scene that are known without running it. */
typedef struct Facts {
  scree_SceneInfo info;
  int shapes[SCREE_SHAPE_KINDS];
  double memory, output; /* bytes, about */
  double penetration;    /* at the start */
  int deepest[2];
} Facts;

static scree_Status gather(const scree_Scene *scene, Facts *facts, const scree_Log *log) {
  scree_World *world = NULL;
  facts->info = scree_scene_info(scene);
  scree_scene_count_shapes(scene, facts->shapes);
  scree_Status status = scree_scene_build(scene, log, &world);
  if (status != SCREE_OK) return status;
  const double bodies = facts->info.bodies + facts->info.obstacles + facts->info.poured;
  /* a packing has about 2 contacts per body in 2D and 3 in 3D, each saved with some 180 bytes */
  const double contacts = bodies * facts->info.dimension;
  const double frames = 1 + (double)facts->info.steps / (double)facts->info.frame_steps;
  facts->memory = (double)scree_world_memory(world) + 1000.0 * facts->info.poured + 400 * contacts;
  facts->output = frames * (104 * bodies + (facts->info.save_contacts ? 176 * contacts : 0) + 600) +
                  900.0 * (double)facts->info.steps;
  facts->deepest[0] = facts->deepest[1] = -1;
  status = scree_world_penetration(world, &facts->penetration, facts->deepest);
  scree_world_destroy(world);
  return status;
}

static void format_bytes(double bytes, char *text, size_t size) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  int k = 0;
  while (bytes >= 1000 && k < 4) {
    bytes /= 1000;
    ++k;
  }
  snprintf(text, size, "%.3g %s", bytes, units[k]);
}

static void print_facts(const char *path, const scree_Scene *scene, const Facts *facts) {
  const CliColours colour = cli_colours();
  const scree_SceneInfo *info = &facts->info;
  char memory[32], output[32];
  format_bytes(facts->memory, memory, sizeof memory);
  format_bytes(facts->output, output, sizeof output);
  printf("%s%s%s: good\n", colour.bold, path, colour.off);
  if (info->title[0]) printf("  title        %s\n", info->title);
  printf("  dimension    %dD\n", info->dimension);
  printf("  bodies       %d", info->bodies);
  if (info->poured) printf(" at the start, %d poured", info->poured);
  printf(", obstacles %d\n", info->obstacles);
  printf("  shapes      ");
  for (int k = 0, listed = 0; k < SCREE_SHAPE_KINDS; ++k)
    if (facts->shapes[k])
      printf("%s %d x %s", listed++ ? "," : "", facts->shapes[k],
             scree_shape_type((scree_ShapeKind)k)->name);
  printf("\n  materials    ");
  for (int k = 0; k < info->materials; ++k)
    printf("%s%s", k ? ", " : "", scree_scene_material(scene, k, NULL, NULL));
  printf("\n  time         %lld steps of %.4g s: %.6g s\n", (long long)info->steps, info->step,
         info->duration);
  printf("  output       %lld frames, about %s; memory about %s\n",
         1 + (long long)info->steps / (long long)info->frame_steps, output, memory);
  if (facts->penetration > 1e-6)
    printf("  %swarning%s      bodies %d and %d overlap at the start by %.2g of the smaller one\n",
           colour.warn, colour.off, facts->deepest[0], facts->deepest[1], facts->penetration);
}

static void write_facts(const char *path, const Facts *facts) {
  const scree_SceneInfo *info = &facts->info;
  CliJson json;
  cli_json_begin(&json, stdout);
  cli_json_text(&json, "scene", path);
  cli_json_text(&json, "kind", "scene");
  cli_json_text(&json, "title", info->title);
  cli_json_int(&json, "dimension", info->dimension);
  cli_json_int(&json, "bodies", info->bodies);
  cli_json_int(&json, "obstacles", info->obstacles);
  cli_json_int(&json, "poured", info->poured);
  cli_json_open(&json, "shapes", '{');
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k)
    if (facts->shapes[k])
      cli_json_int(&json, scree_shape_type((scree_ShapeKind)k)->name, facts->shapes[k]);
  cli_json_close(&json, '}');
  cli_json_int(&json, "materials", info->materials);
  cli_json_real(&json, "step", info->step);
  cli_json_real(&json, "duration", info->duration);
  cli_json_int(&json, "steps", info->steps);
  cli_json_int(&json, "frames", 1 + info->steps / info->frame_steps);
  cli_json_real(&json, "output_bytes", facts->output);
  cli_json_real(&json, "memory_bytes", facts->memory);
  cli_json_real(&json, "penetration", facts->penetration);
  cli_json_end(&json);
}

int cli_describe_scene(const char *path, const char *const *sets, bool as_json, bool written_out,
                       const scree_Log *log) {
  scree_Scene *scene = NULL;
  Facts facts = {0};
  scree_Status status = scree_scene_read(path, sets, log, &scene);
  if (status == SCREE_OK) status = gather(scene, &facts, log);
  if (status == SCREE_OK && written_out)
    fputs(scree_scene_text(scene), stdout);
  else if (status == SCREE_OK && as_json)
    write_facts(path, &facts);
  else if (status == SCREE_OK)
    print_facts(path, scene, &facts);
  scree_scene_destroy(scene);
  return (int)status;
}

static int print_page(char *text) {
  if (!text) {
    cli_error("scree: out of memory");
    return 3;
  }
  fputs(text, stdout);
  scree_scene_free_text(text);
  return cli_finish(0);
}

static int run(const CliCommand *command, int argc, char **argv) {
  bool as_json = false, reference = false, schema = false, written_out = false;
  CliList scenes = {0}, sets = {0};
  const CliOption options[] = {
      {"set", 0, CLI_LIST, &sets, "PATH=VALUE", "change a value of the scene, may be repeated", 0,
       0, NULL},
      {"show", 0, CLI_FLAG, &written_out, NULL, "print the scene with every default written out", 0,
       0, NULL},
      {"json", 0, CLI_FLAG, &as_json, NULL, "one JSON object per scene and line", 0, 0, NULL},
      {"reference", 0, CLI_FLAG, &reference, NULL, "print the reference of the scene format", 0, 0,
       NULL},
      {"schema", 0, CLI_FLAG, &schema, NULL, "print its JSON Schema, for editors", 0, 0, NULL},
      {0},
  };
  int status = cli_parse(command, options, argc, argv, &scenes);
  if (status < 0 && (reference || schema)) {
    status = print_page(reference ? scree_scene_reference() : scree_scene_json_schema());
  } else if (status < 0 && scenes.count == 0) {
    cli_error("scree check: expected a scene (scree check --help explains)");
    status = 2;
  } else if (status < 0) {
    CliLog log;
    cli_log_init(&log, false, false);
    status = 0;
    for (int k = 0; k < scenes.count && cli_output_alive(); ++k) {
      const int outcome =
          cli_describe_scene(scenes.items[k], sets.items, as_json, written_out, &log.log);
      if (outcome > status) status = outcome;
    }
    status = cli_finish(status);
  }
  cli_list_free(&sets);
  cli_list_free(&scenes);
  return status;
}

const CliCommand cli_command_check = {
    .name = "check",
    .usage = "SCENE.yaml... [options]",
    .summary = "validate scenes and estimate the run",
    .help = "Reads each scene as `scree run` does, reports every mistake with file, line,\n"
            "column and the allowed values, and estimates the run: bodies, steps, memory and\n"
            "size of the output. Nothing is written.",
    .examples = "  scree check drum.yaml\n"
                "  scree check drum.yaml --set contact.mu=0.2 --show\n"
                "  scree check --schema > scene.schema.json",
    .run = run,
};
