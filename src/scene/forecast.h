/* The expected number of contacts of a scene before it is run, for estimates of files and times. */
#ifndef SCREE_SCENE_FORECAST_H
#define SCREE_SCENE_FORECAST_H

#include "scree/scene.h"

typedef struct scree_Forecast {
  double contacts; /* mean over the saved frames */
  double at_end;
  double rest;      /* share of them that are closed at the start, and where bodies stay */
  double landed;    /* share of bodies that have touched something, mean over the frames */
  double open;      /* contacts between bodies in flight, which are near each other */
  double disorder;  /* share of bodies that are above places of their own: small on a lattice */
  double speed;     /* of bodies in flight, mean */
  double flat;      /* share of them between flat faces */
  double compliant; /* share of bodies whose contacts are compliant */
} scree_Forecast;

/* `world` is the scene at its start. */
scree_Status scree_scene_forecast(const scree_Scene *scene, const scree_World *world,
                                  const scree_Log *log, scree_Forecast *forecast);

#endif
