#include <scree/scree.h>
#include <stdio.h>

int main(void) {
  printf("scree %s: %s\n", scree_version(), scree_status_name(SCREE_OK));
  return 0;
}
