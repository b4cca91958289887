/* A scene that is read from a text, run into the folder that the argument names, and read back. */
#include <scree/scree.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "dimension: 2\n"
                           "gravity: [0, -9.81]\n"
                           "obstacles: [{shape: {kind: half-plane}}]\n"
                           "bodies: [{shape: {kind: disk, radius: 0.1}, position: [0, 0.1]}]\n"
                           "time: {duration: 0.1, step: 1e-3}\n";

static void show(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_WARNING) fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv) {
  const scree_Log log = {show, NULL};
  scree_RunSettings settings = scree_run_settings();
  scree_Scene *scene = NULL;
  scree_Run *run = NULL;
  scree_Replay *replay = NULL;
  if (argc < 2) return 2;
  settings.folder = argv[1];
  scree_Status status = scree_scene_parse(text, strlen(text), "text", NULL, &log, &scene);
  if (status == SCREE_OK) status = scree_run_create(scene, &settings, &log, &run);
  while (status == SCREE_OK && !scree_run_is_over(run)) status = scree_run_step(run, NULL);
  if (status == SCREE_OK) status = scree_run_close(run);
  if (status == SCREE_OK) status = scree_replay_open(argv[1], &log, &replay);
  if (status != SCREE_OK) return 1;
  const scree_ReplayInfo info = scree_replay_info(replay);
  printf("scree %s: %d bodies, %d frames, %d steps\n", scree_version(), info.bodies, info.frames,
         info.rows);
  const int wrong = info.bodies != 2 || info.frames < 2 || info.rows != 100;
  scree_replay_close(replay);
  scree_run_destroy(run);
  scree_scene_destroy(scene);
  return wrong;
}
