/* The page of a run: one self-contained HTML file that plays it (docs/VIEWER.md). The page itself
 * is viewer/dist/page.html, embedded in the library; here a run's data is selected, packed and
 * inserted. `scree view` serves the same pieces one by one. */
#ifndef SCREE_VIEW_REPORT_H
#define SCREE_VIEW_REPORT_H

#include "run/frames.h"
#include "scree/view.h"
#include "view/report_block.h"

#include <stdio.h>

/* The contents of a page. */
typedef struct scree_ReportPlan {
  scree_ReportLevel level;
  bool stream; /* the page asks a server for blocks */
  bool live;   /* the run goes on: the page asks for what is new */
  int runs;    /* that are compared in the page, this one first; 0: one */
  bool round;  /* all bodies that move are disks or spheres */
  int *frame;  /* (count) frames of the run that are kept */
  int count;
  int block_frames; /* frames in a block */
  int *contact;     /* (contacts) places in `frame` whose contacts are kept */
  int contacts;
  double speed_max, spin_max, smallest; /* scales of the compact level */
  double speed_range, spin_range;       /* upper ends of the colour ranges, of the whole run */
  scree_ReplayExtent extent;
} scree_ReportPlan;

/* Choose level, frames and contacts for a budget in bytes of deflated data; INFINITY: all, exactly,
 * one frame a block, for streaming. */
scree_Status scree_report_plan(scree_Replay *replay, const scree_ReportSettings *settings,
                               double bytes, scree_ReportPlan *plan);
void scree_report_plan_fini(scree_ReportPlan *plan);

/* Vertices of the bodies that change their shape, of all together; first (bodies) receives where
 * those of each begin, -1 for others. */
size_t scree_report_deformed(const scree_Replay *replay, double *first);

/* The blocks (see report_block.h), begun, filled and not yet ended. */
void scree_report_static(const scree_Replay *replay, scree_PageBlock *block);
scree_Status scree_report_telemetry(const scree_Replay *replay, scree_PageBlock *block);
scree_Status scree_report_frames(scree_Replay *replay, const scree_ReportPlan *plan, int index,
                                 scree_PageBlock *block);
scree_Status scree_report_contacts(scree_Replay *replay, const scree_ReportPlan *plan, int place,
                                   scree_PageBlock *block);

/* The description of the run, as JSON that is safe inside a script element. */
void scree_report_meta(const scree_Replay *replay, const scree_ReportPlan *plan, FILE *file);

/* The page without data: *text and *size, null when the library was built without it. */
const char *scree_report_page(size_t *size);

#endif
