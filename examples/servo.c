/* A world built by calls, with control between the steps: grains in a box, pressed by a servo wall.
 *
 *     cc servo.c $(pkg-config --cflags --libs scree) -lm -o servo && ./servo servo-run
 *
 * The left wall and the floor are fixed. The right wall is an obstacle whose velocity a controller
 * sets after each step, so that the force of the grains on it becomes the target. At t = 0.6 s the
 * weight that lies on the grains is doubled. The run is recorded, and read back as a page, VTK
 * files and numbers. */
#include <math.h>
#include <scree/scree.h>
#include <stdio.h>
#include <sys/stat.h>

static void show(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_WARNING) fprintf(stderr, "%s\n", message);
}

/* A wall: the free side is along (x, y). */
static int add_wall(scree_World *world, double px, double py, double x, double y) {
  scree_Shape plane;
  scree_BodyDef def = scree_body_def();
  int body = -1;
  if (scree_shape_init_half_plane(&plane, NULL) != SCREE_OK) return -1;
  def.shape = &plane;
  def.obstacle = true;
  def.pose.position = (scree_Vec3){px, py, 0};
  const double angle = atan2(y, x) - acos(0); /* the free side of the shape is along y */
  def.pose.orientation = (scree_Quat){cos(angle / 2), 0, 0, sin(angle / 2)};
  scree_world_add_body(world, &def, &body);
  scree_shape_fini(&plane);
  return body;
}

/* Rows of disks, the second of two sizes shifted, with gaps: they fall. */
static void add_grains(scree_World *world) {
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k < 9; ++k) {
      scree_Shape disk;
      scree_BodyDef def = scree_body_def();
      if (scree_shape_init_disk(&disk, (row + k) % 3 ? 0.01 : 0.007, NULL) != SCREE_OK) return;
      def.shape = &disk;
      def.density = 2500;
      def.pose.position =
          (scree_Vec3){0.012 + 0.0205 * k + 0.003 * (row % 2), 0.012 + 0.021 * row, 0};
      scree_world_add_body(world, &def, NULL);
      scree_shape_fini(&disk);
    }
}

/* Sum of the contact forces on a body along x: impulses over the length of the step. */
static double force_on(const scree_World *world, int body, double h) {
  double sum = 0;
  for (int c = 0; c < scree_world_contact_count(world); ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    const double sign = contact.body[0] == body ? 1 : contact.body[1] == body ? -1 : 0;
    sum += sign * (contact.r[0] * contact.normal.x + contact.r[1] * contact.tangent[0].x) / h;
  }
  return sum;
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "servo-run";
  const scree_Log log = {show, NULL};
  const double target = 40, end = 1.0; /* N per metre of thickness, s */
  scree_World *world = NULL;
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 5e-4;
  settings.gravity = (scree_Vec3){0, -9.81, 0};
  if (scree_world_create(&settings, &log, &world) != SCREE_OK) return 1;
  add_wall(world, 0, 0, 0, 1);
  add_wall(world, 0, 0, 1, 0);
  const int servo = add_wall(world, 0.21, 0, -1, 0);
  add_grains(world);
  /* a weight: here a force on one grain of the top row, which can be changed later */
  scree_ForceDef weight = {.body = scree_world_body_count(world) - 5,
                           .signal = {.kind = SCREE_SIGNAL_CONSTANT}};
  weight.signal.constant.linear.y = -20;
  scree_world_add_force(world, &weight);

  scree_Recorder *recorder = NULL;
  scree_RecorderSettings recording = scree_recorder_settings();
  recording.folder = folder;
  recording.replace = true;
  recording.title = "servo wall";
  scree_Status status = scree_recorder_create(world, &recording, &log, &recorder);
  if (status == SCREE_OK) status = scree_recorder_frame(recorder);

  double force = 0, mean = 0;
  int steps_above = 0, averaged = 0;
  while (status == SCREE_OK && scree_world_time(world) < end - 0.5 * settings.step) {
    scree_StepReport report;
    status = scree_world_step(world, &report);
    steps_above += status == SCREE_NOT_CONVERGED;
    if (status == SCREE_NOT_CONVERGED) status = SCREE_OK; /* usable, and reported */
    if (status != SCREE_OK) break;
    status = scree_recorder_step(recorder, &report);
    /* control: smooth the measured force, move in proportion to what is missing */
    force += 0.05 * (force_on(world, servo, settings.step) - force);
    scree_Signal driver = {.kind = SCREE_SIGNAL_CONSTANT};
    driver.constant.linear.x = fmax(-0.05, fmin(0.05, 2e-3 * (force - target)));
    if (status == SCREE_OK) status = scree_body_set_driver(world, servo, &driver);
    if (status == SCREE_OK && scree_world_steps(world) == 1200) {
      weight.signal.constant.linear.y *= 2;
      status = scree_world_set_force(world, 0, &weight);
    }
    if (scree_world_time(world) > 0.8) {
      mean += force;
      ++averaged;
    }
    if (status == SCREE_OK && scree_world_steps(world) % 20 == 0)
      status = scree_recorder_frame(recorder);
  }
  if (status == SCREE_OK) status = scree_recorder_write(recorder, true);
  scree_recorder_destroy(recorder);
  scree_world_destroy(world);

  /* what was recorded, as a page and for ParaView */
  scree_Replay *replay = NULL;
  char path[512];
  int frames = 0;
  if (status == SCREE_OK) status = scree_replay_open(folder, &log, &replay);
  if (status == SCREE_OK) {
    const scree_ReportSettings page = scree_report_settings();
    snprintf(path, sizeof path, "%s/report.html", folder);
    /* a library that was built without its page says so in the log */
    if (scree_report_write(replay, &page, path, NULL) != SCREE_OK) puts("no page");
  }
  if (status == SCREE_OK) {
    snprintf(path, sizeof path, "%s/vtk", folder);
    mkdir(path, 0777);
    status = scree_vtk_write(replay, path, 10, false, &frames);
  }
  scree_replay_close(replay);
  if (status != SCREE_OK) return 1;
  printf("force on the wall %.3g N, target %g N; %d steps not certified; %d frames as VTK\n",
         mean / averaged, target, steps_above, frames);
  return fabs(mean / averaged - target) > 0.2 * target || steps_above > 0;
}
