/* Names of contact statuses (see scree/contact.h). */
#include "scree/contact.h"

static const char *const names[SCREE_CONTACT_STATUSES] = {
    [SCREE_CONTACT_OPEN] = "open", [SCREE_CONTACT_STICK] = "stick", [SCREE_CONTACT_SLIP] = "slip"};

const char *scree_contact_status_name(scree_ContactStatus status) {
  return (int)status >= 0 && status < SCREE_CONTACT_STATUSES ? names[status] : NULL;
}
