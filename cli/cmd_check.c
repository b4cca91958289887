/* `scree check`: validate scenes and estimate the run; also prints the reference of the format.
 */
#include "cli/args.h"
#include "cli/describe.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "scene/forecast.h"
#include "scree/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Properties of a scene that are known without running it, and those of a trial. */
typedef struct Facts {
  scree_SceneInfo info;
  scree_Forecast forecast;
  int shapes[SCREE_SHAPE_KINDS];
  int64_t frames;
  double memory, output; /* bytes, estimated */
  double penetration;    /* at the start */
  int deepest[2];
  int touching;     /* contacts at the start */
  int trial_steps;  /* 0: no trial */
  double trial_one; /* seconds per step */
  int loaded;       /* contacts that carried something in that step */
  double packed;    /* seconds of all steps, once bodies lie on each other */
} Facts;

/* Sizes of files, measured on the scenes of examples (2026-11-19): bytes of the file without frames
 * and of each frame; of joints (of the file, of each in a frame); of a body and a contact in a
 * frame, in 2D and 3D, of round bodies and of flat faces, and the memory of a compliant contact,
 * all compressed; what they are without compression; of a body in flight and of a contact between
 * two, on a lattice and in disorder; of a line of telemetry, more with joints and with compliant
 * contacts, and of a sensor in it; of a body and a contact in the checkpoint. Of deformable bodies:
 * of the file, and after compression of a node and of a pseudo-rigid body in a frame. */
static const struct {
  double file, frame, joints, joint, body[2], round[2], flat[2], memory, expansion, flying[2],
      open[2];
  double line, line_joints, line_memory, sensor, kept_body, kept_contact, deforms, node, affine;
} sizes = {2.45e5,   170,  3e4, 65, {54, 84}, {100, 116}, {85, 97}, 75,  1.8, {14, 35},
           {40, 65}, 1105, 70,  80, 35,       85,         70,       2e4, 80,  130};

/* In 2D bodies that rest at the start and go on resting change so little that less is left of them.
 */
static const double AT_REST_2D = 0.85;

/* Memory, measured as the largest resident size of runs of 12 to 2000 bodies (2026-11-18): bytes of
 * the program, of a contact, and of a contact in the factorisations of `newton`, which are not made
 * for many more contacts than `factored`. */
static const struct {
  double program, contact, factor_2d, factor_3d, factored;
} memory = {1.5e7, 400, 5e3, 1.5e4, 3e4};

enum { TRIAL_STEPS = 50 };
static const double TRIAL_SECONDS = 3;

/* Processor time of a step for each contact that carries something: 3 to 10 us in packings of the
 * examples (2026-11-18). For the trial of a scene whose bodies still fall. */
static const double CONTACT_SECONDS = 5e-6;

/* Time of the first steps. They are a fair sample where the scene does not change much: bodies that
 * are still falling make steps cheap. */
static scree_Status try_steps(const scree_Scene *scene, scree_World *world, Facts *facts,
                              const scree_Log *log) {
  int *order = calloc((size_t)facts->info.poured + 1, sizeof *order), poured = 0;
  scree_Status status = order ? SCREE_OK : SCREE_MACHINE;
  const double start = scree_seconds();
  scree_StepReport report = {0};
  while (status <= SCREE_NOT_CONVERGED && facts->trial_steps < TRIAL_STEPS &&
         facts->trial_steps < facts->info.steps && scree_seconds() - start < TRIAL_SECONDS) {
    status = scree_scene_pour(scene, world, order, &poured, log);
    if (status == SCREE_OK) status = scree_world_step(world, &report);
    ++facts->trial_steps;
  }
  facts->loaded = report.active;
  facts->trial_one = (scree_seconds() - start) / facts->trial_steps;
  free(order);
  return status <= SCREE_NOT_CONVERGED ? SCREE_OK : status;
}

/* Bytes of deformable bodies in the files. */
static double deformable_bytes(const scree_World *world, double frames) {
  const int n = scree_world_body_count(world);
  double affine = 0;
  if (!scree_world_deforms(world)) return 0;
  for (int b = 0; b < n; ++b) affine += scree_body_kind_of(world, b) == SCREE_BODY_PSEUDO_RIGID;
  return sizes.deforms +
         frames * (sizes.node * scree_world_node_count(world) + sizes.affine * affine);
}

static double output_bytes(const Facts *facts, const scree_World *world) {
  const scree_SceneInfo *info = &facts->info;
  const scree_Forecast *forecast = &facts->forecast;
  const double frames = (double)facts->frames, joints = scree_world_joint_count(world);
  const int d = info->dimension - 2;
  const double still = d == 0 ? 1 - (1 - AT_REST_2D) * forecast->rest : 1;
  const double contact = forecast->flat * sizes.flat[d] + (1 - forecast->flat) * sizes.round[d] +
                         forecast->compliant * sizes.memory;
  const double mixed = forecast->disorder;
  const double flying = mixed * sizes.flying[1] + (1 - mixed) * sizes.flying[0];
  const double open = mixed * sizes.open[1] + (1 - mixed) * sizes.open[0];
  const double all = info->poured_mean + info->bodies;
  const double body = sizes.body[d] * forecast->landed + flying * (1 - forecast->landed);
  const double frame =
      still * (body * all +
               (info->save_contacts ? contact * forecast->contacts + open * forecast->open : 0)) +
      sizes.joint * joints;
  const double line = sizes.line + (joints > 0 ? sizes.line_joints : 0) +
                      forecast->compliant * sizes.line_memory + sizes.sensor * info->sensor_columns;
  const double kept = sizes.kept_body * (info->bodies + info->poured) +
                      (sizes.kept_contact + forecast->compliant * sizes.memory) * forecast->at_end;
  return sizes.file + (joints > 0 ? sizes.joints : 0) +
         frames * (sizes.frame + frame * (info->compression == 0 ? sizes.expansion : 1)) +
         (double)info->steps * line + kept + deformable_bytes(world, frames);
}

static scree_Status gather(const scree_Scene *scene, bool trial, Facts *facts,
                           const scree_Log *log) {
  scree_World *world = NULL;
  facts->info = scree_scene_info(scene);
  const scree_SceneInfo *info = &facts->info;
  scree_scene_count_shapes(scene, facts->shapes);
  scree_Status status = scree_scene_build(scene, log, &world);
  if (status != SCREE_OK) return status;
  facts->deepest[0] = facts->deepest[1] = -1;
  status = scree_world_touching(world, &facts->touching, &facts->penetration, facts->deepest);
  if (status == SCREE_OK && trial) status = try_steps(scene, world, facts, log);
  if (status == SCREE_OK) status = scree_scene_forecast(scene, world, log, &facts->forecast);
  const double more = fmax(0, facts->forecast.contacts - facts->loaded);
  facts->packed = (facts->trial_one + CONTACT_SECONDS * more) * (double)info->steps;
  /* the end of the run is a frame, too */
  facts->frames = 1 + info->steps / info->frame_steps + (info->steps % info->frame_steps != 0);
  const double most = fmax(facts->forecast.at_end, info->dimension * (info->bodies + info->poured));
  facts->memory =
      memory.program + (double)scree_world_memory(world) + 1000.0 * info->poured +
      memory.contact * most +
      (info->dimension == 2 ? memory.factor_2d : memory.factor_3d) * fmin(most, memory.factored);
  facts->output = output_bytes(facts, world);
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
  char held[32], output[32];
  format_bytes(facts->memory, held, sizeof held);
  format_bytes(facts->output, output, sizeof output);
  const int warnings = (info->step > info->duration) + (facts->penetration > info->penetration);
  printf("%s%s%s: %s\n", colour.bold, path, colour.off,
         warnings == 0   ? "valid"
         : warnings == 1 ? "can be run, with a warning"
                         : "can be run, with warnings");
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
  const bool stops = info->stop_energy > 0 || info->stop_plane;
  printf("  output       %lld frames, about %s%s; memory at most about %s\n",
         (long long)facts->frames, output, stops ? ", less if it stops before its duration" : "",
         held);
  if (facts->trial_steps > 0) {
    char one[32], all[32];
    cli_format_seconds(facts->trial_one, one, sizeof one);
    cli_format_span(facts->trial_one * (double)info->steps, all, sizeof all);
    printf("  trial        %d steps of %s: %s for the whole run, if later steps are similar\n",
           facts->trial_steps, one, all);
    cli_format_span(facts->packed, all, sizeof all);
    if (facts->packed > 1.5 * facts->trial_one * (double)info->steps)
      printf("               about %s, if the bodies pile up\n", all);
  }
  if (info->step > info->duration)
    printf(
        "  %swarning%s      the step, %g s, is longer than the duration, %g s: one shorter step is "
        "made\n",
        colour.warn, colour.off, info->step, info->duration);
  if (facts->penetration > info->penetration) {
    char a[80], b[80];
    scree_scene_body_label(scene, facts->deepest[0], a, sizeof a);
    scree_scene_body_label(scene, facts->deepest[1], b, sizeof b);
    printf("  %swarning%s      %s and %s overlap at the start by %.2g of the smaller one%s\n",
           colour.warn, colour.off, a, b, facts->penetration,
           facts->penetration > info->penetration_limit
               ? ": steps are not certified until they are apart"
               : "");
  }
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
  cli_json_int(&json, "frames", facts->frames);
  cli_json_real(&json, "output_bytes", facts->output);
  cli_json_real(&json, "memory_bytes", facts->memory);
  cli_json_real(&json, "penetration", facts->penetration);
  cli_json_int(&json, "contacts", facts->touching);
  cli_json_real(&json, "contacts_mean", facts->forecast.contacts + facts->forecast.open);
  if (facts->trial_steps > 0) {
    cli_json_int(&json, "trial_steps", facts->trial_steps);
    cli_json_real(&json, "seconds_per_step", facts->trial_one);
    cli_json_real(&json, "seconds", facts->trial_one * (double)info->steps);
    cli_json_real(&json, "seconds_packed", facts->packed);
  }
  cli_json_end(&json);
}

int cli_describe_scene(const char *path, const char *const *sets, bool as_json, bool written_out,
                       bool trial, const scree_Log *log) {
  scree_Scene *scene = NULL;
  Facts facts = {0};
  scree_Status status = scree_scene_read(path, sets, log, &scene);
  if (status == SCREE_OK) status = gather(scene, trial && !written_out, &facts, log);
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
  bool as_json = false, reference = false, schema = false, written_out = false, trial = false;
  CliList scenes = {0}, sets = {0};
  const CliOption options[] = {
      {"set", 0, CLI_LIST, &sets, "PATH=VALUE", "change a value of the scene; may be repeated", 0,
       0, NULL},
      {"show", 0, CLI_FLAG, &written_out, NULL, "print the scene with all default values", 0, 0,
       NULL},
      {"trial", 0, CLI_FLAG, &trial, NULL,
       "compute the first steps (at most 50, or 3 s) and\nestimate the computing time of the run",
       0, 0, NULL},
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object per line, one for each scene", 0,
       0, NULL},
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
          cli_describe_scene(scenes.items[k], sets.items, as_json, written_out, trial, &log.log);
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
    .summary = "validate scenes and estimate their runs",
    .help = "Reads each scene as `scree run` does, reports every mistake with file, line,\ncolumn "
            "and the allowed values, and estimates the run: bodies, steps, memory and\nsize of the "
            "results. It writes no files.",
    .examples = "  scree check drum.yaml\n"
                "  scree check drum.yaml --set contact.mu=0.2 --show\n"
                "  scree check drum.yaml --trial\n"
                "  scree check --schema > scene.schema.json",
    .run = run,
};
