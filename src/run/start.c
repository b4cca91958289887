/* A saved frame of a run as the start of another scene (see scene/start.h). */
#include "scene/start.h"
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "run/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of the frame that `text` names, or -1 with a message. */
static int find_frame(const scree_Replay *replay, const char *text, const scree_Log *log) {
  const int frames = replay->frame_count;
  if (frames > 0 && strcmp(text, "last") == 0) return frames - 1;
  char *end;
  const long number = strtol(text, &end, 10);
  if (end != text && *end == '\0' && number >= 0 && number < frames) return (int)number;
  scree_fail(log, SCREE_BAD_INPUT,
             "start.frame: found \"%.40s\", the run in %s has %d frames, expected last or a number "
             "from 0 to %d",
             text, replay->directory, frames, frames - 1);
  return -1;
}

static scree_Vec3 vector(const double *x) {
  return scree_vec3(x[0], x[1], x[2]);
}

/* Deformable bodies are refused: frames do not have their whole state. */
static scree_Status check(const scree_Replay *replay, const scree_ReplayFrame *frame,
                          const scree_Log *log) {
  for (int b = 0; b < frame->bodies; ++b)
    if (frame->present[b] && replay->bodies[b].kind != SCREE_BODY_RIGID)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "start: body %d of the run in %s is deformable, and frames do not have the "
                        "whole state of such bodies: continue the run with --resume --until",
                        b, replay->directory);
  return SCREE_OK;
}

static void fill(const scree_Replay *replay, const scree_ReplayFrame *frame, scree_Start *start) {
  for (int b = 0; b < start->bodies; ++b) {
    const scree_ReplayBody *from = &replay->bodies[b];
    const double *q = frame->orientation + 4 * (size_t)b;
    start->body[b] = (scree_StartBody){
        .shape = &from->shape,
        .obstacle = from->obstacle,
        .present = frame->present[b],
        .material = from->material,
        .group = from->group,
        .mass = from->mass,
        .inertia = from->inertia,
        .pose = {vector(frame->position + 3 * (size_t)b), {q[0], q[1], q[2], q[3]}},
        .velocity = {vector(frame->velocity + 3 * (size_t)b),
                     vector(frame->angular + 3 * (size_t)b)}};
  }
  for (int c = 0; c < frame->contacts; ++c) {
    const scree_ReplayContact *from = &frame->contact[c];
    if (!(from->r[0] > 0)) continue;
    start->contact[start->contacts++] = (scree_StartContact){
        {from->body[0], from->body[1]}, vector(from->position), vector(from->impulse)};
  }
}

scree_Status scree_start_open(const char *folder, const char *frame, const scree_Log *log,
                              scree_Start *start) {
  *start = (scree_Start){0};
  scree_Replay *replay = NULL;
  scree_ReplayFrame read = {0};
  scree_Status status = scree_replay_open(folder, log, &replay);
  if (status != SCREE_OK) return status;
  start->source = replay;
  start->frame = find_frame(replay, frame, log);
  status = start->frame < 0 ? SCREE_BAD_INPUT : scree_replay_read(replay, start->frame, &read);
  if (status == SCREE_OK) status = check(replay, &read, log);
  if (status == SCREE_OK) {
    start->dimension = replay->dimension;
    start->time = read.time;
    start->step = replay->h;
    start->bodies = read.bodies;
    start->materials = replay->material_count;
    start->body = SCREE_ALLOC(scree_StartBody, read.bodies);
    start->contact = SCREE_ALLOC(scree_StartContact, read.contacts);
    if (start->body && start->contact)
      fill(replay, &read, start);
    else
      status = scree_fail_memory(log, "the start of the scene");
  }
  scree_replay_frame_fini(&read);
  if (status != SCREE_OK) scree_start_close(start);
  return status;
}

const char *scree_start_material(const scree_Start *start, int material) {
  return scree_replay_material(start->source, material);
}

double scree_start_density(const scree_Start *start, int material) {
  return scree_replay_density(start->source, material);
}

const char *scree_start_name(const scree_Start *start, int body) {
  return scree_replay_body_name(start->source, body);
}

void scree_start_close(scree_Start *start) {
  scree_replay_close(start->source);
  scree_free(start->body);
  scree_free(start->contact);
  *start = (scree_Start){0};
}
