/* scree/view.h — a run that was read back (scree/run.h) as a page, as pictures and as VTK files.
 *
 * Page: one HTML file that plays the run, with everything inside (docs/VIEWER.md).
 * Pictures: a frame without any graphics system, triangles and balls in a depth buffer, lit as on
 * the page, written as PNG. VTK, for ParaView: FOLDER/bodies.pvd (points with all fields, among
 * them orientation, scale and the number of a mesh of FOLDER/glyphs.vtm, which has one for each
 * different shape), FOLDER/shapes.pvd (triangles of the obstacles), FOLDER/contacts.pvd (points
 * with impulses and status) and FOLDER/joints.pvd (anchors of joints and bonds, if there are any),
 * FOLDER/chains.pvd (lines between centres and contact points with the normal force), each a series
 * in time. */
#ifndef SCREE_VIEW_H
#define SCREE_VIEW_H

#include "scree/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- page ------------------------------------------------------------------------------------ */

/* Precision of the numbers, from the run's own doubles down to the resolution of a screen. */
typedef enum scree_ReportLevel {
  SCREE_REPORT_EXACT,  /* every number as in the run's files */
  SCREE_REPORT_SINGLE, /* single precision, positions from the middle of the scene */
  SCREE_REPORT_COMPACT /* positions to 1/128 of the smallest body, lengths of velocities to 1 % */
} scree_ReportLevel;

typedef struct scree_ReportSettings {
  double budget; /* bytes of the page; 0: 30e6, or more where the shapes alone need it */
  int frames;    /* at most so many, evenly spread; 0: as many as the budget holds */
  int only;      /* >= 0: this frame alone, for a picture; else -1 */
} scree_ReportSettings;

SCREE_API scree_ReportSettings scree_report_settings(void);

typedef struct scree_ReportInfo {
  scree_ReportLevel level;
  int frames, contact_frames;
  size_t bytes;
} scree_ReportInfo;

/* Write the page to `path`: it appears whole or not at all. `info` may be null. */
SCREE_API scree_Status scree_report_write(scree_Replay *replay,
                                          const scree_ReportSettings *settings, const char *path,
                                          scree_ReportInfo *info);

/* A page with several runs side by side, `runs` >= 1, all of the same dimension. `info` is about
 * the first, and may be null; they share the budget. */
SCREE_API scree_Status scree_report_compare(scree_Replay *const *replays, int runs,
                                            const scree_ReportSettings *settings, const char *path,
                                            scree_ReportInfo *info);

/* ---- pictures -------------------------------------------------------------------------------- */

typedef enum scree_RenderColour {
  SCREE_RENDER_VELOCITY,
  SCREE_RENDER_ANGULAR,
  SCREE_RENDER_SIZE,
  SCREE_RENDER_MATERIAL,
  SCREE_RENDER_ID,
  SCREE_RENDER_STRESS /* mean pressure */
} scree_RenderColour;

typedef enum scree_RenderLook {
  SCREE_RENDER_SOLID,
  SCREE_RENDER_GHOST, /* one looks through it */
  SCREE_RENDER_HIDDEN
} scree_RenderLook;

typedef struct scree_RenderSettings {
  int width, height; /* pixels */
  scree_RenderColour colour;
  scree_RenderLook bodies, obstacles;
  double from[3]; /* 3D: direction towards the eye along front, side and up of the scene */
  bool placed;    /* 3D: the camera is at `eye` and looks at `target`, in metres */
  double eye[3], target[3]; /* else it is as near as all bodies allow */
  double zoom;              /* larger: closer up; 0: 1 */
  bool chains;              /* force chains over the bodies, which become pale */
  bool tight;               /* frame the bodies of this frame; else the extent of the run (films) */
  double scale;             /* largest value of the colours; 0: of this run */
} scree_RenderSettings;

SCREE_API scree_RenderSettings scree_render_settings(void); /* 1280 x 800, velocity */

/* `pixels` (height x width x 3), from the top left. */
SCREE_API scree_Status scree_render(scree_Replay *replay, const scree_ReplayFrame *frame,
                                    const scree_ReplayExtent *extent,
                                    const scree_RenderSettings *settings, unsigned char *pixels);

/* The 99th percentile of what colours show, over some frames. */
SCREE_API scree_Status scree_render_scale(scree_Replay *replay, scree_RenderColour colour,
                                          double *scale);

SCREE_API scree_Status scree_png_write(const char *path, int width, int height,
                                       const unsigned char *pixels, const scree_Log *log);

/* ---- VTK ------------------------------------------------------------------------------------- */

/* Frames 0, every, 2 every, ... (every >= 1) into the folder `directory`, which must exist.
 * `triangles`: the shapes have those of all bodies that are no spheres too, which makes large
 * files. *written (or null) receives the number of frames. */
SCREE_API scree_Status scree_vtk_write(scree_Replay *replay, const char *directory, int every,
                                       bool triangles, int *written);

/* results.xdmf in the folder of the run: an index by which ParaView reads results.h5 directly,
 * bodies and contacts as points with their fields. */
SCREE_API scree_Status scree_xdmf_write(scree_Replay *replay);

#ifdef __cplusplus
}
#endif

#endif
