/* A saved frame of a run: a record of the journal from which results.h5 is made.
 *
 * A journal is a file of records, each a head (magic, size, checksum) and a payload. Records
 * are only appended; an incomplete or damaged record counts as the end of the file. */
#ifndef SCREE_RUN_RESULTS_FRAME_H
#define SCREE_RUN_RESULTS_FRAME_H

#include "parallel/ranks.h"
#include "scree/world.h"

#include <stdint.h>

/* Numbers that exist once per frame. */
typedef struct scree_FrameHead {
  int64_t step;
  double time;
  int32_t bodies, contacts;
  int32_t deforms; /* 1: `stretch` is there */
  int32_t affine;  /* 1: `gradient` is there */
  int32_t nodes;   /* of finite-element bodies */
  int32_t joints;
  int32_t remembers; /* 1: laws of contacts have a memory */
  scree_Analysis analysis;
  scree_EnergyBalance energy; /* sums since the start */
  double cell[9];             /* sides of a periodic cell, one after the other; 0: not periodic */
} scree_FrameHead;

typedef struct scree_FrameBody {
  double position[3], orientation[4], velocity[3], angular[3];
} scree_FrameBody;

typedef struct scree_FrameContact {
  int32_t body[2];
  uint32_t feature;
  int32_t status;
  double position[3], normal[3], tangent[3], gap, mu, error;
  double impulse[3], impulse_world[3], velocity[3];
  int32_t bond, unused;
  double moment[3], plastic, energy;
} scree_FrameContact;

typedef struct scree_FrameJoint {
  int32_t status, unused; /* scree_JointStatus */
  double position[3], axis[3], force[3], torque[3], x, effort, energy, plastic;
} scree_FrameJoint;

typedef struct scree_Frame {
  scree_FrameHead head;
  scree_FrameBody *body;       /* (head.bodies) */
  scree_FrameContact *contact; /* (head.contacts) */
  double *stretch;             /* (head.bodies x 4) scree_body_stretch, and the account of energy of
                                * scree_body_coordinates, if head.deforms */
  double *gradient;        /* (head.bodies x 18) deformation gradient of pseudo-rigid bodies, row
                            * by row, and its rate; 0 of others; if head.affine */
  double *node;            /* (head.nodes x 3) scree_world_nodes */
  double *node_velocity;   /* (head.nodes x 3) */
  double *node_stress;     /* (head.nodes x 6) */
  scree_FrameJoint *joint; /* (head.joints) */
  double *law_memory;      /* (head.contacts x SCREE_CONTACT_MEMORY) if head.remembers */
  void *memory;            /* of all */
  size_t capacity;
} scree_Frame;

/* Copy the present state of the world. The frame was zeroed before its first use, and is reused. */
scree_Status scree_frame_take(scree_Frame *frame, const scree_World *world, bool with_contacts,
                              const scree_Aabb *region, const scree_Log *log);
/* The parts of a frame: the head, with the counts of this rank (in a divided world all ranks make
 * this call), and the records of a body and of a contact. */
scree_Status scree_frame_head(const scree_World *world, bool with_contacts,
                              const scree_Aabb *region, scree_FrameHead *head);
/* Stretches and account of energy, and the gradient and its rates (or null), row by row, which are
 * zero for bodies that are not pseudo-rigid. */
enum { SCREE_FRAME_STRETCH = 4, SCREE_FRAME_GRADIENT = 18 };
void scree_frame_deformation(const scree_World *world, int body, double *stretch, double *gradient);
/* Of the nodes of all finite-element bodies of the world (scree_world_node_count). */
scree_Status scree_frame_nodes(const scree_World *world, double *position, double *velocity,
                               double *stress);
scree_FrameBody scree_frame_body(const scree_World *world, int body);
scree_FrameContact scree_frame_contact(const scree_Contact *contact);
scree_FrameJoint scree_frame_joint(const scree_World *world, int joint);
/* Room for as many bodies and contacts as the head counts; false: out of memory. */
bool scree_frame_make_room(scree_Frame *frame);
void scree_frame_fini(scree_Frame *frame);

typedef struct scree_Journal {
  const char *path;
  int file;
  int64_t length; /* bytes of whole records */
} scree_Journal;

/* Open for appending after the first `length` bytes; the rest of the file is cut off. */
scree_Status scree_journal_open(scree_Journal *journal, const char *path, int64_t length,
                                const scree_Log *log);
scree_Status scree_journal_append(scree_Journal *journal, const scree_Frame *frame,
                                  const scree_Log *log);
/* The journal that rank 0 has opened, on another rank. */
scree_Status scree_journal_join(scree_Journal *journal, const char *path, int64_t length,
                                const scree_Log *log);
/* A frame of which each rank has consecutive bodies, contacts, nodes and joints, those of rank 0
 * first; the head, which all have, counts those of all. The record is that of scree_journal_append.
 */
typedef struct scree_PartSizes {
  size_t bodies, contacts, nodes, joints;
} scree_PartSizes;
scree_Status scree_journal_append_part(scree_Journal *journal, const scree_Ranks *ranks,
                                       const scree_Frame *part, const scree_PartSizes *has,
                                       const scree_Log *log);
/* Bytes of the record of a frame. */
int64_t scree_journal_record(const scree_Frame *frame);
/* Flush to the disk. */
scree_Status scree_journal_sync(scree_Journal *journal, const scree_Log *log);
void scree_journal_close(scree_Journal *journal);

/* Read the record at *offset and move on; *end at the end of the journal, or at a record that is
 * not whole. */
scree_Status scree_journal_read(const scree_Journal *journal, int64_t *offset, scree_Frame *frame,
                                bool *end, const scree_Log *log);
/* Where the bodies of the record at `offset` are; its contacts follow. */
int64_t scree_journal_bodies(int64_t offset);
/* Whether the record at `offset` is whole; read in pieces. */
bool scree_journal_is_whole(const scree_Journal *journal, int64_t offset);
/* The head alone. */
scree_Status scree_journal_skip(const scree_Journal *journal, int64_t *offset,
                                scree_FrameHead *head, bool *end, const scree_Log *log);

#endif
