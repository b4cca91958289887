/* Checkpoints, with what resuming a run does: the file is read, its poured bodies are added again,
 * its state is restored, and a step is made from there.
 *
 * The first byte chooses: even, the rest is the file; odd, the rest is only what the head of a file
 * counts and sums up, and a head that fits is put before it, because no mutation would guess a
 * checksum. */
#include "fuzz.h"

#include "core/memory.h"
#include "run/checkpoint.h"
#include "scree/scene.h"
#include "scree/world.h"

#include <zlib.h>

/* As in checkpoint.c. */
typedef struct FileHead {
  char magic[8];
  uint32_t version, head_size;
  uint64_t size, checksum;
} FileHead;

enum { VERSION = 2, POLLS = 2000 };

static scree_Scene *scene;
static int polls;

static bool enough(void *user) {
  (void)user;
  return ++polls > POLLS;
}

static void write_checkpoint(const uint8_t *data, size_t size) {
  if (data[0] % 2 == 0) {
    fuzz_write("checkpoint", data + 1, size - 1);
    return;
  }
  FileHead head = {.magic = "screecp\n",
                   .version = VERSION,
                   .head_size = sizeof(scree_CheckpointHead),
                   .size = size - 1,
                   .checksum = crc32_z(0, data + 1, size - 1)};
  uint8_t *file = malloc(sizeof head + size);
  demand(file != NULL, "memory for a file");
  memcpy(file, &head, sizeof head);
  memcpy(file + sizeof head, data + 1, size - 1);
  fuzz_write("checkpoint", file, sizeof head + size - 1);
  free(file);
}

static void resume(const scree_CheckpointHead *head, const int *order, const void *state) {
  scree_World *world = NULL;
  demand(scree_scene_build(scene, &fuzz_log, &world) == SCREE_OK, "the scene can be built");
  scree_WorldSettings settings = *scree_world_get_settings(world);
  settings.solve.interrupted = enough;
  settings.solve.threads = 1;
  (void)scree_world_set_settings(world, &settings);
  polls = 0;
  fuzz_errors = 0;
  scree_Status status = scree_scene_pour_again(scene, world, order, head->poured, &fuzz_log);
  demand(status == SCREE_OK || fuzz_errors > 0, "a failure comes with a message");
  if (status == SCREE_OK) status = scree_world_restore(world, state, (size_t)head->state);
  demand(status == SCREE_OK || fuzz_errors > 0, "a failure comes with a message");
  if (status == SCREE_OK) {
    scree_StepReport report;
    (void)scree_world_step(world, &report);
  }
  scree_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  if (!scene)
    demand(scree_scene_read(FUZZ_SCENE, NULL, &fuzz_log, &scene) == SCREE_OK,
           "the scene can be read");
  fuzz_errors = 0;
  write_checkpoint(data, size);
  scree_CheckpointHead head;
  int *order = NULL;
  void *state = NULL;
  bool found = false;
  const scree_Status status =
      scree_checkpoint_read(fuzz_path("checkpoint"), &head, &order, &state, &found, &fuzz_log);
  fuzz_check_status(status);
  demand(found, "a file that is there is found");
  if (status == SCREE_OK && head.poured <= scree_scene_info(scene).poured) /* as runner.c checks */
    resume(&head, order, state);
  scree_free(order);
  scree_free(state);
  return 0;
}
