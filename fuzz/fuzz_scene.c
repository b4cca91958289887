/* Scenes in YAML: a scene that is read is written out with all its defaults as a text that is read
 * again, to the same text; a small one can be built and makes one step. */
#include "fuzz.h"

#include "scree/scene.h"
#include "scree/world.h"

enum { MOST_BODIES = 60 };

static void build(const scree_Scene *scene) {
  scree_World *world = NULL;
  fuzz_errors = 0;
  const scree_Status status = scree_scene_build(scene, &fuzz_log, &world);
  demand(status == SCREE_OK || fuzz_errors > 0, "a scene that cannot be built says why");
  demand((status == SCREE_OK) == (world != NULL), "a world is there when building succeeded");
  scree_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_errors = 0;
  scree_Scene *scene = NULL;
  const scree_Status status =
      scree_scene_parse((const char *)data, size, "fuzz", NULL, &fuzz_log, &scene);
  fuzz_check_status(status);
  demand((status == SCREE_OK) == (scene != NULL), "a scene is there when reading succeeded");
  if (!scene) return 0;
  const scree_SceneInfo info = scree_scene_info(scene);
  const char *text = scree_scene_text(scene);
  scree_Scene *again = NULL;
  const scree_Status second =
      scree_scene_parse(text, strlen(text), "again", NULL, &fuzz_log, &again);
  demand(second == SCREE_OK, "the text of a scene can be read");
  demand(strcmp(scree_scene_text(again), text) == 0, "the text of a scene stays as it is");
  scree_scene_destroy(again);
  if (info.bodies + info.poured <= MOST_BODIES) build(scene);
  scree_scene_destroy(scene);
  return 0;
}
