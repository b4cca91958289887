/* results.h5 (see results_write.h, docs/RESULTS.md). Two passes over the journal: the first finds
 * the sizes, so that every dataset is made with its final extent; the second writes frame by frame
 * and holds one frame in memory. Object times are not recorded: equal results give equal files.
 *
 * HDF5 does not recover from a failed write of its own: the file cannot be closed, and the process
 * may crash when it ends. So files of ordinary size are built in memory (fclib_h5.h) and written by
 * us; larger ones go to the disk directly, once it was seen that the disk has room for them. */
#define _POSIX_C_SOURCE 200809L
#include "run/results_write.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/frames_data.h"
#include "run/results_data.h"
#include "run/results_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t IN_MEMORY = 256000000; /* bytes before compression */

/* ---- frames ---------------------------------------------------------------------------------- */

/* What the first pass over the journal finds. */
typedef struct Sizes {
  int frames, bodies;
  int64_t contacts;
  int *first, *last; /* (bodies) first and last frame of each body */
  bool removed;      /* some bodies were */
  bool deforms;      /* some bodies do */
  int nodes;         /* of finite-element bodies, in the end */
  int joints;        /* in the end */
  bool remembers;    /* some laws of contacts do */
} Sizes;

static scree_Status find_sizes(const scree_Journal *journal, const scree_World *world, Sizes *sizes,
                               const scree_Log *log) {
  const int bodies = scree_world_body_count(world);
  const bool removed = scree_world_removed_count(world) > 0;
  scree_FrameHead head;
  bool end = false;
  *sizes = (Sizes){.first = SCREE_ALLOC(int, bodies),
                   .last = SCREE_ALLOC(int, bodies),
                   .removed = removed,
                   .deforms = scree_world_deforms(world),
                   .nodes = scree_world_node_count(world),
                   .joints = scree_world_joint_count(world)};
  if (!sizes->first || !sizes->last) return scree_fail_memory(log, "the bodies of the results");
  for (int64_t offset = 0;;) {
    scree_Status status = scree_journal_skip(journal, &offset, &head, &end, log);
    if (status != SCREE_OK || end || offset > journal->length) {
      for (int b = 0; b < sizes->bodies && !removed; ++b) sizes->last[b] = sizes->frames - 1;
      return status;
    }
    if (head.bodies > bodies)
      return scree_fail(log, SCREE_BAD_INPUT, "%s: a frame has %d bodies, the world only %d",
                        journal->path, (int)head.bodies, bodies);
    for (; sizes->bodies < head.bodies; ++sizes->bodies) {
      sizes->first[sizes->bodies] = sizes->frames;
      sizes->last[sizes->bodies] = sizes->frames - 1;
    }
    for (int b = 0; b < head.bodies && removed; ++b) {
      const int64_t step = scree_body_removed_step(world, b);
      if (step < 0 || step >= head.step) sizes->last[b] = sizes->frames;
    }
    if (head.joints > sizes->joints)
      return scree_fail(log, SCREE_BAD_INPUT, "%s: a frame has %d joints, the world only %d",
                        journal->path, (int)head.joints, sizes->joints);
    sizes->remembers = sizes->remembers || head.remembers;
    ++sizes->frames;
    sizes->contacts += head.contacts;
  }
}

/* One dataset per number of the head: found by its offset, `count` doubles or one int each. */
static const struct {
  const char *name;
  size_t offset;
  int count;
  bool integer;
} analysis[] = {
#define A(name, member, count)                                                                     \
  { "/analysis/" name, offsetof(scree_FrameHead, analysis.member), count, false }
#define I(name, member)                                                                            \
  { "/analysis/" name, offsetof(scree_FrameHead, analysis.member), 1, true }
#define E(name, member)                                                                            \
  { "/analysis/" name, offsetof(scree_FrameHead, energy.member), 1, false }
    A("kinetic", kinetic, 1),
    A("kinetic_rotation", kinetic_rotation, 1),
    A("potential", potential, 1),
    E("elastic", elastic),
    E("work_forces", forces),
    E("work_drivers", drivers),
    E("dissipated_normal", normal),
    E("dissipated_friction", friction),
    E("dissipated_viscous", viscous),
    E("dissipated_plastic", plastic),
    E("scheme", scheme),
    E("push", push),
    E("closing", closing),
    A("momentum", momentum, 3),
    A("angular_momentum", angular_momentum, 3),
    A("centre", centre, 3),
    A("mass", mass, 1),
    I("open", open),
    I("stick", stick),
    I("slip", slip),
    A("coordination", coordination, 1),
    A("coordination_touching", coordination_touching, 1),
    I("rattlers", rattlers),
    A("penetration", penetration, 1),
    A("volume", volume, 1),
    A("packing_fraction", packing_fraction, 1),
    A("stress", stress, 9),
    A("fabric", fabric, 9),
    {"/analysis/cell", offsetof(scree_FrameHead, cell), 9, false},
#undef A
#undef I
#undef E
};

enum {
  ANALYSIS = sizeof analysis / sizeof *analysis,
  FRAME_FIELDS = 4,
  CONTACT_FIELDS = 17,
  JOINT_FIELDS = 9
};

/* Parts of a body's or contact's record. */
typedef struct Part {
  const char *name;
  size_t offset;
  int count;
  char type;   /* d double, i int32, u uint32, s int32 kept in 8 bits */
  bool memory; /* of contacts: only if some law has a memory */
} Part;

static const Part body_parts[FRAME_FIELDS] = {
    {"/frames/position", offsetof(scree_FrameBody, position), 3, 'd', false},
    {"/frames/orientation", offsetof(scree_FrameBody, orientation), 4, 'd', false},
    {"/frames/velocity", offsetof(scree_FrameBody, velocity), 3, 'd', false},
    {"/frames/angular_velocity", offsetof(scree_FrameBody, angular), 3, 'd', false},
};

static const Part contact_parts[CONTACT_FIELDS] = {
    {"/contacts/body", offsetof(scree_FrameContact, body), 2, 'i', false},
    {"/contacts/feature", offsetof(scree_FrameContact, feature), 1, 'u', false},
    {"/contacts/status", offsetof(scree_FrameContact, status), 1, 's', false},
    {"/contacts/position", offsetof(scree_FrameContact, position), 3, 'd', false},
    {"/contacts/normal", offsetof(scree_FrameContact, normal), 3, 'd', false},
    {"/contacts/tangent", offsetof(scree_FrameContact, tangent), 3, 'd', false},
    {"/contacts/gap", offsetof(scree_FrameContact, gap), 1, 'd', false},
    {"/contacts/mu", offsetof(scree_FrameContact, mu), 1, 'd', false},
    {"/contacts/error", offsetof(scree_FrameContact, error), 1, 'd', false},
    {"/contacts/impulse", offsetof(scree_FrameContact, impulse), 3, 'd', false},
    {"/contacts/impulse_world", offsetof(scree_FrameContact, impulse_world), 3, 'd', false},
    {"/contacts/velocity", offsetof(scree_FrameContact, velocity), 3, 'd', false},
    {"/contacts/bond", offsetof(scree_FrameContact, bond), 1, 's', true},
    {"/contacts/moment", offsetof(scree_FrameContact, moment), 3, 'd', true},
    {"/contacts/plastic", offsetof(scree_FrameContact, plastic), 1, 'd', true},
    {"/contacts/energy", offsetof(scree_FrameContact, energy), 1, 'd', true},
    {NULL, 0, 0, 0, false},
};

static const Part joint_parts[JOINT_FIELDS] = {
    {"/frames/joint_status", offsetof(scree_FrameJoint, status), 1, 's', false},
    {"/frames/joint_position", offsetof(scree_FrameJoint, position), 3, 'd', false},
    {"/frames/joint_axis", offsetof(scree_FrameJoint, axis), 3, 'd', false},
    {"/frames/joint_force", offsetof(scree_FrameJoint, force), 3, 'd', false},
    {"/frames/joint_torque", offsetof(scree_FrameJoint, torque), 3, 'd', false},
    {"/frames/joint_x", offsetof(scree_FrameJoint, x), 1, 'd', false},
    {"/frames/joint_effort", offsetof(scree_FrameJoint, effort), 1, 'd', false},
    {"/frames/joint_energy", offsetof(scree_FrameJoint, energy), 1, 'd', false},
    {"/frames/joint_plastic", offsetof(scree_FrameJoint, plastic), 1, 'd', false},
};

static bool has_part(const Part *part, const Sizes *sizes) {
  return !part->memory || sizes->remembers;
}

static hid_t memory_type(const Part *part) {
  return part->type == 'd'   ? H5T_NATIVE_DOUBLE
         : part->type == 'u' ? H5T_NATIVE_UINT32
                             : H5T_NATIVE_INT32;
}

static hid_t disk_type(const Part *part) {
  return part->type == 'd'   ? H5T_IEEE_F64LE
         : part->type == 'u' ? H5T_STD_U32LE
         : part->type == 's' ? H5T_STD_I8LE
                             : H5T_STD_I32LE;
}

static size_t part_size(const Part *part) {
  return (part->type == 'd' ? sizeof(double) : sizeof(int32_t)) * (size_t)part->count;
}

/* One part of all records, side by side. */
static void gather(const Part *part, const void *records, size_t stride, int count, char *out) {
  const char *from = (const char *)records + part->offset;
  const size_t size = part_size(part);
  for (int k = 0; k < count; ++k) memcpy(out + (size_t)k * size, from + (size_t)k * stride, size);
}

typedef struct Sets {
  scree_ResultsData analysis[ANALYSIS], body[FRAME_FIELDS], contact[CONTACT_FIELDS];
  scree_ResultsData joint[JOINT_FIELDS];           /* only when there are joints */
  scree_ResultsData time, step, body_count, alive; /* `alive` only when bodies were removed */
  scree_ResultsData stretch;                       /* only when bodies deform */
  scree_ResultsData node_count, node, node_stress; /* only when bodies have nodes */
  const Sizes *sizes;
  int64_t *offset; /* (frames+1) */
  char *work;
  size_t capacity;
} Sets;

static void make_sets(scree_ResultsWriter *writer, const Sizes *sizes, Sets *sets) {
  const hsize_t F = (hsize_t)sizes->frames, N = (hsize_t)sizes->bodies;
  const hsize_t C = (hsize_t)sizes->contacts;
  scree_results_group(writer, "/frames");
  scree_results_group(writer, "/contacts");
  const char *statuses[SCREE_CONTACT_STATUSES];
  for (int k = 0; k < SCREE_CONTACT_STATUSES; ++k)
    statuses[k] = scree_contact_status_name((scree_ContactStatus)k);
  scree_results_texts(writer, "/contacts/status_names", statuses, 1, SCREE_CONTACT_STATUSES, 0);
  scree_results_group(writer, "/analysis");
  sets->time = scree_results_reals(writer, "/frames/time", 1, F, 0, 0);
  sets->step = scree_results_data(writer, "/frames/step", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, F, 0,
                                  0, false);
  sets->body_count = scree_results_data(writer, "/frames/body_count", H5T_STD_I32LE,
                                        H5T_NATIVE_INT32, 1, F, 0, 0, false);
  sets->sizes = sizes;
  if (sizes->removed)
    sets->alive = scree_results_data(writer, "/frames/alive", H5T_STD_U8LE, H5T_NATIVE_UINT8, 2, F,
                                     N, 0, false);
  if (sizes->deforms)
    sets->stretch = scree_results_data(writer, "/frames/stretch", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                       3, F, N, 3, true);
  if (sizes->nodes) {
    const hsize_t P = (hsize_t)sizes->nodes;
    sets->node_count = scree_results_data(writer, "/frames/node_count", H5T_STD_I32LE,
                                          H5T_NATIVE_INT32, 1, F, 0, 0, false);
    sets->node = scree_results_data(writer, "/frames/node_position", H5T_IEEE_F64LE,
                                    H5T_NATIVE_DOUBLE, 3, F, P, 3, true);
    sets->node_stress = scree_results_data(writer, "/frames/node_stress", H5T_IEEE_F64LE,
                                           H5T_NATIVE_DOUBLE, 3, F, P, 6, true);
  }
  for (int k = 0; k < FRAME_FIELDS; ++k)
    sets->body[k] =
        scree_results_data(writer, body_parts[k].name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, F, N,
                           (hsize_t)body_parts[k].count, true);
  for (int k = 0; contact_parts[k].name; ++k) {
    const Part *part = &contact_parts[k];
    if (!has_part(part, sizes)) continue;
    sets->contact[k] =
        scree_results_data(writer, part->name, disk_type(part), memory_type(part),
                           part->count > 1 ? 2 : 1, C, (hsize_t)part->count, 0, false);
  }
  for (int k = 0; k < JOINT_FIELDS && sizes->joints > 0; ++k) {
    const Part *part = &joint_parts[k];
    sets->joint[k] = scree_results_data(writer, part->name, disk_type(part), memory_type(part),
                                        part->count > 1 ? 3 : 2, F, (hsize_t)sizes->joints,
                                        (hsize_t)part->count, part->type == 'd');
  }
  for (int k = 0; k < ANALYSIS; ++k)
    sets->analysis[k] =
        analysis[k].integer
            ? scree_results_data(writer, analysis[k].name, H5T_STD_I32LE, H5T_NATIVE_INT, 1, F, 0,
                                 0, false)
            : scree_results_reals(writer, analysis[k].name, analysis[k].count > 1 ? 2 : 1, F,
                                  (hsize_t)analysis[k].count, 0);
}

static void close_sets(Sets *sets) {
  scree_ResultsData *all[] = {&sets->time,  &sets->step,       &sets->body_count,
                              &sets->alive, &sets->stretch,    &sets->node_count,
                              &sets->node,  &sets->node_stress};
  for (int k = 0; k < 8; ++k)
    if (all[k]->id > 0) H5Dclose(all[k]->id);
  for (int k = 0; k < FRAME_FIELDS; ++k)
    if (sets->body[k].id > 0) H5Dclose(sets->body[k].id);
  for (int k = 0; k < CONTACT_FIELDS; ++k)
    if (sets->contact[k].id > 0) H5Dclose(sets->contact[k].id);
  for (int k = 0; k < JOINT_FIELDS; ++k)
    if (sets->joint[k].id > 0) H5Dclose(sets->joint[k].id);
  for (int k = 0; k < ANALYSIS; ++k)
    if (sets->analysis[k].id > 0) H5Dclose(sets->analysis[k].id);
  scree_free(sets->offset);
  scree_free(sets->work);
}

static void write_frame(scree_ResultsWriter *writer, Sets *sets, int f, const scree_Frame *frame) {
  const scree_FrameHead *head = &frame->head;
  size_t rows = (size_t)(head->bodies > head->contacts ? head->bodies : head->contacts);
  if (rows < (size_t)sets->sizes->bodies) rows = (size_t)sets->sizes->bodies;
  if (rows < (size_t)head->joints) rows = (size_t)head->joints;
  void *work = sets->work;
  if (!scree_grow(&work, &sets->capacity, rows * 4 * sizeof(double) + 1, 1)) {
    writer->good = false;
    return;
  }
  sets->work = work;
  scree_results_put_row(writer, &sets->time, (hsize_t)f, &head->time);
  scree_results_put_row(writer, &sets->step, (hsize_t)f, &head->step);
  scree_results_put_row(writer, &sets->body_count, (hsize_t)f, &head->bodies);
  const Sizes *sizes = sets->sizes;
  if (sizes->removed) {
    uint8_t *alive = work;
    for (int b = 0; b < sizes->bodies; ++b) alive[b] = f >= sizes->first[b] && f <= sizes->last[b];
    scree_results_put_row(writer, &sets->alive, (hsize_t)f, alive);
  }
  for (int k = 0; k < ANALYSIS; ++k)
    scree_results_put_row(writer, &sets->analysis[k], (hsize_t)f,
                          (const char *)head + analysis[k].offset);
  for (int k = 0; k < FRAME_FIELDS; ++k) {
    const hsize_t start[3] = {(hsize_t)f, 0, 0};
    const hsize_t count[3] = {1, (hsize_t)head->bodies, (hsize_t)body_parts[k].count};
    gather(&body_parts[k], frame->body, sizeof *frame->body, head->bodies, sets->work);
    scree_results_put(writer, &sets->body[k], start, count, sets->work);
  }
  if (sizes->deforms && head->deforms) {
    const hsize_t start[3] = {(hsize_t)f, 0, 0}, count[3] = {1, (hsize_t)head->bodies, 3};
    scree_results_put(writer, &sets->stretch, start, count, frame->stretch);
  }
  if (sizes->nodes) scree_results_put_row(writer, &sets->node_count, (hsize_t)f, &head->nodes);
  if (sizes->nodes && head->nodes) {
    const hsize_t start[3] = {(hsize_t)f, 0, 0}, count[3] = {1, (hsize_t)head->nodes, 3};
    const hsize_t stress[3] = {1, (hsize_t)head->nodes, 6};
    scree_results_put(writer, &sets->node, start, count, frame->node);
    scree_results_put(writer, &sets->node_stress, start, stress, frame->node_stress);
  }
  for (int k = 0; contact_parts[k].name; ++k) {
    if (!has_part(&contact_parts[k], sizes)) continue;
    const hsize_t start[3] = {(hsize_t)sets->offset[f], 0, 0};
    const hsize_t count[3] = {(hsize_t)head->contacts, (hsize_t)contact_parts[k].count, 0};
    gather(&contact_parts[k], frame->contact, sizeof *frame->contact, head->contacts, sets->work);
    scree_results_put(writer, &sets->contact[k], start, count, sets->work);
  }
  for (int k = 0; k < JOINT_FIELDS && head->joints > 0; ++k) {
    const hsize_t start[3] = {(hsize_t)f, 0, 0};
    const hsize_t count[3] = {1, (hsize_t)head->joints, (hsize_t)joint_parts[k].count};
    gather(&joint_parts[k], frame->joint, sizeof *frame->joint, head->joints, sets->work);
    scree_results_put(writer, &sets->joint[k], start, count, sets->work);
  }
  sets->offset[f + 1] = sets->offset[f] + head->contacts;
}

static scree_Status write_frames(scree_ResultsWriter *writer, const scree_Journal *journal,
                                 const Sizes *sizes, scree_Poll *poll, const scree_Log *log) {
  Sets sets = {0};
  scree_Frame frame = {0};
  scree_Status status = SCREE_OK;
  make_sets(writer, sizes, &sets);
  sets.offset = SCREE_ALLOC(int64_t, (size_t)sizes->frames + 1);
  if (!sets.offset) writer->good = false;
  int64_t place = 0;
  for (int f = 0; f < sizes->frames && writer->good && status == SCREE_OK; ++f) {
    bool end = false;
    if (scree_poll(poll)) {
      status = SCREE_INTERRUPTED;
      break;
    }
    status = scree_journal_read(journal, &place, &frame, &end, log);
    if (status == SCREE_OK && end)
      status = scree_fail(log, SCREE_BAD_INPUT, "%s: frame %d is damaged", journal->path, f);
    if (status == SCREE_OK) write_frame(writer, &sets, f, &frame);
  }
  if (status == SCREE_OK)
    scree_results_put_all(writer,
                          scree_results_data(writer, "/frames/contact_offset", H5T_STD_I64LE,
                                             H5T_NATIVE_INT64, 1, (hsize_t)sizes->frames + 1, 0, 0,
                                             false),
                          sets.offset);
  scree_frame_fini(&frame);
  close_sets(&sets);
  return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static scree_Status write_content(hid_t file, const char *path, const scree_Journal *journal,
                                  const Sizes *sizes, const scree_ResultsHead *head,
                                  const scree_World *world, scree_Poll *poll,
                                  const scree_Log *log) {
  scree_ResultsWriter writer = {.file = file, .compression = head->compression, .good = true};
  scree_results_write_world(&writer, head, world, sizes->bodies, sizes->first, sizes->last);
  scree_Status status = write_frames(&writer, journal, sizes, poll, log);
  if (status == SCREE_OK && !writer.good)
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: memory or disk is full", path);
  return status;
}

/* Whether the disk takes as many bytes: 0, or errno. The file is there and empty afterwards. */
static int try_room(const char *path, int64_t bytes) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = posix_fallocate(file, 0, (off_t)bytes);
  if (error == EOPNOTSUPP || error == EINVAL) error = 0; /* it does not tell */
  if (ftruncate(file, 0) != 0 && !error) error = errno;
  (void)close(file);
  if (error) (void)unlink(path);
  return error;
}

/* A file that does not fit into memory: straight to the disk, under another name. */
static scree_Status write_large(const char *path, const scree_Journal *journal, const Sizes *sizes,
                                const scree_ResultsHead *head, const scree_World *world,
                                scree_Poll *poll, const scree_Log *log) {
  const size_t length = strlen(path) + 8;
  char *part = SCREE_ALLOC(char, length);
  if (!part) return scree_fail_memory(log, path);
  snprintf(part, length, "%s.part", path);
  /* the journal has all numbers; compression makes them less */
  const int error = try_room(part, journal->length + (1 << 20));
  if (error) {
    scree_free(part);
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s (%lld bytes are needed)", path,
                      strerror(error), (long long)journal->length);
  }
  H5E_auto2_t function = NULL;
  void *user = NULL;
  H5Eget_auto2(H5E_DEFAULT, &function, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  scree_Status status = SCREE_MACHINE;
  if (file >= 0) status = write_content(file, path, journal, sizes, head, world, poll, log);
  if (file >= 0 && H5Fclose(file) < 0 && status == SCREE_OK) file = -1, status = SCREE_MACHINE;
  if (file < 0) status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written", path);
  H5Eset_auto2(H5E_DEFAULT, function, user);
  if (status == SCREE_OK)
    status = scree_file_settle(part, path, log);
  else
    (void)unlink(part);
  scree_free(part);
  return status;
}

static scree_Status write_file(const char *path, const scree_Journal *journal,
                               const scree_ResultsHead *head, const scree_World *world,
                               int64_t memory, scree_Poll *poll, const scree_Log *log) {
  Sizes sizes;
  scree_Status status = find_sizes(journal, world, &sizes, log);
  if (status == SCREE_OK && journal->length > memory) {
    status = write_large(path, journal, &sizes, head, world, poll, log);
  } else if (status == SCREE_OK) {
    scree_H5 h5;
    status = scree_h5_create(&h5, path, NULL, log);
    if (status == SCREE_OK) {
      status = write_content(h5.file, path, journal, &sizes, head, world, poll, log);
      if (status == SCREE_OK) status = scree_h5_save(&h5);
      scree_h5_close(&h5);
    }
  }
  scree_free(sizes.first);
  scree_free(sizes.last);
  return status;
}

scree_Status scree_results_write_within(const char *path, const scree_Journal *journal,
                                        const scree_ResultsHead *head, const scree_World *world,
                                        int64_t memory, const scree_Log *log) {
  return write_file(path, journal, head, world, memory, NULL, log);
}

scree_Status scree_results_write(const char *path, const scree_Journal *journal,
                                 const scree_ResultsHead *head, const scree_World *world,
                                 scree_Poll *poll, const scree_Log *log) {
  return write_file(path, journal, head, world, IN_MEMORY, poll, log);
}

/* ---- back to a journal -------------------------------------------------------------------------
 */

/* Rows [start, start + count) of a dataset, `width` values each; false when it has other sizes. */
static bool read_rows(const scree_H5 *h5, const char *name, hid_t type, hsize_t start,
                      hsize_t count, hsize_t width, void *values) {
  if (count == 0) return true;
  const hid_t data = scree_h5_has(h5, name) ? H5Dopen2(h5->file, name, H5P_DEFAULT) : -1;
  const hid_t space = data >= 0 ? H5Dget_space(data) : -1;
  hsize_t dims[3] = {0, 1, 1}, first[3] = {start, 0, 0}, many[3] = {count, 1, 1};
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
  bool good = rank >= 1 && rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) == rank &&
              start + count <= dims[0];
  /* of N x 3 numbers of a frame the first bodies are read */
  if (good && rank == 3) {
    many[1] = width / dims[2];
    many[2] = dims[2];
    good = dims[2] > 0 && many[1] * many[2] == width && many[1] <= dims[1];
  } else if (good && rank == 2) {
    many[1] = width;
    good = width <= dims[1];
  } else {
    good = good && width == 1;
  }
  const hid_t memory = good ? H5Screate_simple(rank, many, NULL) : -1;
  good = good && memory >= 0 &&
         H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, many, NULL) >= 0 &&
         H5Dread(data, type, memory, space, H5P_DEFAULT, values) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  if (data >= 0) H5Dclose(data);
  return good;
}

/* One part of `count` records, from the rows of `start` on; `work` has room for it. */
static bool scatter(const scree_H5 *h5, const Part *part, hsize_t start, hsize_t rows,
                    hsize_t width, int count, void *records, size_t stride, char *work) {
  if (count == 0) return true;
  if (!read_rows(h5, part->name, memory_type(part), start, rows, width, work)) return false;
  char *to = (char *)records + part->offset;
  const size_t size = part_size(part);
  for (int k = 0; k < count; ++k) memcpy(to + (size_t)k * stride, work + (size_t)k * size, size);
  return true;
}

static bool read_frame(const scree_H5 *h5, int f, const int64_t *offset, scree_Frame *frame,
                       char **work, size_t *capacity) {
  scree_FrameHead *head = &frame->head;
  memset(head, 0, sizeof *head);
  const hsize_t row = (hsize_t)f;
  bool good = read_rows(h5, "/frames/time", H5T_NATIVE_DOUBLE, row, 1, 1, &head->time) &&
              read_rows(h5, "/frames/step", H5T_NATIVE_INT64, row, 1, 1, &head->step) &&
              read_rows(h5, "/frames/body_count", H5T_NATIVE_INT32, row, 1, 1, &head->bodies);
  const int64_t contacts = offset[f + 1] - offset[f];
  good = good && head->bodies >= 0 && offset[f] >= 0 && contacts >= 0 && contacts < INT32_MAX;
  if (!good) return false;
  head->contacts = (int32_t)contacts;
  for (int k = 0; k < ANALYSIS && good; ++k)
    good = read_rows(h5, analysis[k].name, analysis[k].integer ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE,
                     row, 1, (hsize_t)analysis[k].count, (char *)head + analysis[k].offset);
  head->deforms = scree_h5_has(h5, "/frames/stretch");
  if (scree_h5_has(h5, "/frames/node_count"))
    good = good && read_rows(h5, "/frames/node_count", H5T_NATIVE_INT32, row, 1, 1, &head->nodes) &&
           head->nodes >= 0;
  hsize_t joints[3] = {0, 0, 0};
  head->remembers = scree_h5_has(h5, "/contacts/bond");
  if (scree_frames_extent(h5, "/frames/joint_position", 3, joints)) head->joints = (int)joints[1];
  size_t most = head->bodies > head->contacts ? (size_t)head->bodies : (size_t)contacts;
  if (most < (size_t)head->joints) most = (size_t)head->joints;
  good =
      good && scree_frame_make_room(frame) && scree_grow((void **)work, capacity, 32 * most + 1, 1);
  for (int k = 0; k < FRAME_FIELDS && good; ++k)
    good = scatter(h5, &body_parts[k], row, 1, (hsize_t)head->bodies * (hsize_t)body_parts[k].count,
                   head->bodies, frame->body, sizeof *frame->body, *work);
  if (head->deforms && head->bodies > 0)
    good = good && read_rows(h5, "/frames/stretch", H5T_NATIVE_DOUBLE, row, 1,
                             3 * (hsize_t)head->bodies, frame->stretch);
  if (head->nodes > 0)
    good = good &&
           read_rows(h5, "/frames/node_position", H5T_NATIVE_DOUBLE, row, 1,
                     3 * (hsize_t)head->nodes, frame->node) &&
           read_rows(h5, "/frames/node_stress", H5T_NATIVE_DOUBLE, row, 1, 6 * (hsize_t)head->nodes,
                     frame->node_stress);
  for (int k = 0; k < JOINT_FIELDS && good; ++k)
    good =
        scatter(h5, &joint_parts[k], row, 1, (hsize_t)head->joints * (hsize_t)joint_parts[k].count,
                head->joints, frame->joint, sizeof *frame->joint, *work);
  for (int k = 0; contact_parts[k].name && good; ++k)
    good = (contact_parts[k].memory && !head->remembers) ||
           scatter(h5, &contact_parts[k], (hsize_t)offset[f], (hsize_t)contacts,
                   (hsize_t)contact_parts[k].count, head->contacts, frame->contact,
                   sizeof *frame->contact, *work);
  return good;
}

scree_Status scree_results_to_journal(const char *path, scree_Journal *journal, int frames,
                                      const scree_Log *log) {
  scree_H5 h5;
  scree_Frame frame = {0};
  char *work = NULL;
  size_t capacity = 0;
  scree_Status status = scree_h5_open(&h5, path, log);
  if (status != SCREE_OK) return status;
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)frames + 1);
  bool good = offset && read_rows(&h5, "/frames/contact_offset", H5T_NATIVE_INT64, 0,
                                  (hsize_t)frames + 1, 1, offset);
  for (int f = 0; f < frames && good && status == SCREE_OK; ++f) {
    good = read_frame(&h5, f, offset, &frame, &work, &capacity);
    if (good) status = scree_journal_append(journal, &frame, log);
  }
  if (!good)
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "%s: its %d frames cannot be read back: the file is damaged, or there is "
                        "not enough memory",
                        path, frames);
  scree_frame_fini(&frame);
  scree_free(work);
  scree_free(offset);
  scree_h5_close(&h5);
  return status;
}
