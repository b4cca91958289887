/* scree/contact.h — a contact between two bodies at the end of a step, and its status. */
#ifndef SCREE_CONTACT_H
#define SCREE_CONTACT_H

#include "scree/base.h"
#include "scree/law.h"
#include "scree/pose.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scree_ContactStatus {
  SCREE_CONTACT_OPEN,  /* no impulse */
  SCREE_CONTACT_STICK, /* impulse strictly inside the cone */
  SCREE_CONTACT_SLIP,  /* impulse on the boundary of the cone */
  SCREE_CONTACT_STATUSES
} scree_ContactStatus;

/* "open", "stick", "slip": as results, pages and plots have it; null for other values. */
SCREE_API const char *scree_contact_status_name(scree_ContactStatus status);

/* A contact of the last step, at the configuration in which it was found. */
typedef struct scree_Contact {
  int body[2];
  uint32_t part[2];            /* of the two bodies, where their shapes are clumps; else 0 */
  uint32_t feature;            /* names the contact within the pair, the same in every step */
  scree_Vec3 position, normal; /* the normal points from body[1] to body[0] */
  scree_Vec3 tangent[2];       /* 2D: tangent[1] is z and unused */
  double gap;                  /* negative: penetration; euler: less what turning takes of it */
  double mu;
  double r[3], u[3]; /* impulse on body[0] in the step, and relative velocity after: (n, t1, t2) */
  scree_ContactStatus status;
  double error; /* its natural map over the scale of the step's `error` (measure.h) */
  /* of laws that have them, else 0: */
  scree_Vec3 moment;      /* impulse of resistance to rolling and spinning on body[0], N m s */
  double plastic;         /* plastic displacement so far, m: of the normal, or of a bond its path */
  double energy;          /* stored, J */
  scree_ContactBond bond; /* of laws with cohesion */
} scree_Contact;

#ifdef __cplusplus
}
#endif

#endif
