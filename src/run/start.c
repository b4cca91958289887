/* Reads a saved frame of a run as the initial state of another scene (see scene/start.h). */
#include "scene/start.h"
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "run/frames.h"

#include <math.h>
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

typedef struct Source {
  scree_Replay *replay;
  scree_ReplayFrame frame;
} Source;

static void close_source(Source *source) {
  if (!source) return;
  scree_replay_frame_fini(&source->frame);
  scree_replay_close(source->replay);
  scree_free(source);
}

/* The mesh of body b as it was before it deformed. */
static scree_Status make_elements(const scree_Replay *replay, int b, scree_Shape *shape) {
  const scree_ReplayBody *body = &replay->bodies[b];
  const int64_t first = replay->element_first[b];
  const int count = (int)(replay->element_first[b + 1] - first), nodes = body->node_count;
  scree_Vec3 *place = SCREE_ALLOC(scree_Vec3, nodes);
  uint8_t *kinds = SCREE_ALLOC(uint8_t, count);
  int *corners = SCREE_ALLOC(int, (size_t)count *SCREE_ELEMENT_CORNERS), *to = corners;
  scree_ElementMesh *mesh = NULL;
  scree_Status status = SCREE_OK;
  if (!place || !kinds || !corners) status = scree_fail_memory(replay->log, "a mesh of elements");
  for (int k = 0; k < nodes && !status; ++k)
    place[k] = vector(replay->node_place + 3 * ((size_t)body->node_first + (size_t)k));
  for (int e = 0; e < count && !status; ++e) {
    const int *corner = replay->corner + SCREE_ELEMENT_CORNERS * ((size_t)first + (size_t)e);
    int n = 0;
    while (n < SCREE_ELEMENT_CORNERS && corner[n] >= 0) *to++ = corner[n++];
    kinds[e] = n == 8 ? SCREE_ELEMENT_HEXAHEDRON : SCREE_ELEMENT_TETRAHEDRON;
    if (n != 4 && n != 8)
      status = scree_fail(replay->log, SCREE_BAD_INPUT,
                          "start: element %d of body %d has %d corners, expected 4 or 8", e, b, n);
  }
  if (!status)
    status = scree_element_mesh_create(3, place, nodes, kinds, corners, count, &mesh, replay->log);
  if (!status) status = scree_shape_init_elements(shape, mesh, replay->log);
  scree_element_mesh_destroy(mesh);
  scree_free(place);
  scree_free(kinds);
  scree_free(corners);
  return status;
}

/* Velocities of nodes, gradients and meshes are not in files of earlier versions. */
static bool has_state(const scree_Replay *replay, const scree_ReplayFrame *frame, int b) {
  const scree_ReplayBody *body = &replay->bodies[b];
  if (body->kind == SCREE_BODY_PSEUDO_RIGID) return frame->affine;
  return replay->element_first && frame->nodes >= body->node_first + body->node_count &&
         isfinite(frame->node_velocity[3 * (size_t)body->node_first]);
}

static scree_Status fill_deformable(const scree_Replay *replay, const scree_ReplayFrame *frame,
                                    int b, scree_Start *start) {
  const scree_ReplayBody *from = &replay->bodies[b];
  const size_t at = 3 * (size_t)from->node_first;
  scree_StartBody *to = &start->body[b];
  if (!has_state(replay, frame, b))
    return scree_fail(
        replay->log, SCREE_BAD_INPUT,
        "start: body %d of the run in %s is deformable, and its frames, of an earlier "
        "version, do not have the whole state of such bodies: run it again, or "
        "continue it with --resume --until",
        b, replay->directory);
  to->kind = from->kind;
  to->account = frame->account[b];
  to->explicit_ = from->explicit_;
  to->consistent_mass = from->consistent_mass;
  to->keeps_shape = from->keeps_shape;
  if (from->kind == SCREE_BODY_PSEUDO_RIGID) {
    to->gradient = frame->gradient + 18 * (size_t)b;
    return SCREE_OK;
  }
  to->nodes = from->node_count;
  to->node = frame->node + at;
  to->node_velocity = frame->node_velocity + at;
  to->holder = replay->node_holder + from->node_first;
  to->anchor = replay->node_anchor ? replay->node_anchor + at : NULL;
  if (!start->elements) start->elements = SCREE_ALLOC(scree_Shape, start->bodies);
  if (!start->elements) return scree_fail_memory(replay->log, "the start of the scene");
  to->shape = &start->elements[b];
  return make_elements(replay, b, &start->elements[b]);
}

static scree_Status fill(const scree_Replay *replay, const scree_ReplayFrame *frame,
                         scree_Start *start) {
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
    const double *memory = frame->law_memory + SCREE_CONTACT_MEMORY * (size_t)c;
    const bool remembers = memory[SCREE_CONTACT_MEMORY - 1] > 0; /* NAN in earlier versions */
    if (!(from->r[0] > 0) && !remembers) continue;
    start->contact[start->contacts++] = (scree_StartContact){.body = {from->body[0], from->body[1]},
                                                             .feature = from->feature,
                                                             .position = vector(from->position),
                                                             .impulse = vector(from->impulse),
                                                             .moment = vector(from->moment),
                                                             .memory = remembers ? memory : NULL};
  }
  for (int j = 0; j < frame->joints; ++j)
    start->joints += frame->joint[j].status == SCREE_JOINT_HOLDS;
  scree_Status status = SCREE_OK;
  for (int b = 0; b < start->bodies && status == SCREE_OK; ++b)
    if (frame->present[b] && replay->bodies[b].kind != SCREE_BODY_RIGID)
      status = fill_deformable(replay, frame, b, start);
  return status;
}

scree_Status scree_start_open(const char *folder, const char *frame, const scree_Log *log,
                              scree_Start *start) {
  *start = (scree_Start){0};
  Source *source = SCREE_ALLOC(Source, 1);
  if (!source) return scree_fail_memory(log, "the start of the scene");
  scree_Status status = scree_replay_open(folder, log, &source->replay);
  if (status != SCREE_OK) {
    scree_free(source);
    return status;
  }
  scree_Replay *replay = source->replay;
  scree_ReplayFrame *read = &source->frame;
  start->source = source;
  start->frame = find_frame(replay, frame, log);
  status = start->frame < 0 ? SCREE_BAD_INPUT : scree_replay_read(replay, start->frame, read);
  if (status == SCREE_OK) {
    start->dimension = replay->dimension;
    start->time = read->time;
    start->step = replay->h;
    start->bodies = read->bodies;
    start->materials = replay->material_count;
    start->body = SCREE_ALLOC(scree_StartBody, read->bodies);
    start->contact = SCREE_ALLOC(scree_StartContact, read->contacts);
    status = start->body && start->contact ? fill(replay, read, start)
                                           : scree_fail_memory(log, "the start of the scene");
  }
  if (status != SCREE_OK) scree_start_close(start);
  return status;
}

static const scree_Replay *replay_of(const scree_Start *start) {
  return ((const Source *)start->source)->replay;
}

const char *scree_start_material(const scree_Start *start, int material) {
  return scree_replay_material(replay_of(start), material);
}

double scree_start_density(const scree_Start *start, int material) {
  return scree_replay_density(replay_of(start), material);
}

const char *scree_start_name(const scree_Start *start, int body) {
  return scree_replay_body_name(replay_of(start), body);
}

void scree_start_close(scree_Start *start) {
  for (int b = 0; start->elements && b < start->bodies; ++b) scree_shape_fini(&start->elements[b]);
  scree_free(start->elements);
  close_source(start->source);
  scree_free(start->body);
  scree_free(start->contact);
  *start = (scree_Start){0};
}
