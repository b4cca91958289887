/* Datasets and frames (see results_columns.h). */
#include "run/results_columns.h"

#include <stddef.h>

const scree_ResultsColumn scree_columns[SCREE_COLUMNS] = {
    {"/frames/time", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, time), 1, 'd'},
    {"/frames/step", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, step), 1, 'l'},
    {"/frames/body_count", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, bodies), 1, 'i'},
    {"/analysis/kinetic", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.kinetic), 1, 'd'},
    {"/analysis/kinetic_rotation", SCREE_ROWS_FRAME,
     offsetof(scree_FrameHead, analysis.kinetic_rotation), 1, 'd'},
    {"/analysis/potential", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.potential), 1,
     'd'},
    {"/analysis/elastic", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.elastic), 1, 'd'},
    {"/analysis/work_forces", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.forces), 1, 'd'},
    {"/analysis/work_drivers", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.drivers), 1, 'd'},
    {"/analysis/dissipated_normal", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.normal), 1,
     'd'},
    {"/analysis/dissipated_friction", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.friction),
     1, 'd'},
    {"/analysis/dissipated_viscous", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.viscous), 1,
     'd'},
    {"/analysis/dissipated_plastic", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.plastic), 1,
     'd'},
    {"/analysis/scheme", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.scheme), 1, 'd'},
    {"/analysis/push", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.push), 1, 'd'},
    {"/analysis/closing", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, energy.closing), 1, 'd'},
    {"/analysis/momentum", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.momentum), 3, 'd'},
    {"/analysis/angular_momentum", SCREE_ROWS_FRAME,
     offsetof(scree_FrameHead, analysis.angular_momentum), 3, 'd'},
    {"/analysis/centre", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.centre), 3, 'd'},
    {"/analysis/mass", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.mass), 1, 'd'},
    {"/analysis/open", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.open), 1, 'i'},
    {"/analysis/stick", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.stick), 1, 'i'},
    {"/analysis/slip", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.slip), 1, 'i'},
    {"/analysis/coordination", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.coordination),
     1, 'd'},
    {"/analysis/coordination_touching", SCREE_ROWS_FRAME,
     offsetof(scree_FrameHead, analysis.coordination_touching), 1, 'd'},
    {"/analysis/rattlers", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.rattlers), 1, 'i'},
    {"/analysis/penetration", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.penetration), 1,
     'd'},
    {"/analysis/volume", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.volume), 1, 'd'},
    {"/analysis/packing_fraction", SCREE_ROWS_FRAME,
     offsetof(scree_FrameHead, analysis.packing_fraction), 1, 'd'},
    {"/analysis/stress", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.stress), 9, 'd'},
    {"/analysis/fabric", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, analysis.fabric), 9, 'd'},
    {"/analysis/cell", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, cell), 9, 'd'},
    {"/frames/position", SCREE_ROWS_BODY, offsetof(scree_FrameBody, position), 3, 'd'},
    {"/frames/orientation", SCREE_ROWS_BODY, offsetof(scree_FrameBody, orientation), 4, 'd'},
    {"/frames/velocity", SCREE_ROWS_BODY, offsetof(scree_FrameBody, velocity), 3, 'd'},
    {"/frames/angular_velocity", SCREE_ROWS_BODY, offsetof(scree_FrameBody, angular), 3, 'd'},
    {"/frames/stretch", SCREE_ROWS_STRETCH, 0, 3, 'd'},
    {"/frames/energy_account", SCREE_ROWS_STRETCH, 3 * sizeof(double), 1, 'd'},
    {"/frames/gradient", SCREE_ROWS_GRADIENT, 0, 9, 'd'},
    {"/frames/gradient_rate", SCREE_ROWS_GRADIENT, 9 * sizeof(double), 9, 'd'},
    {"/frames/node_count", SCREE_ROWS_FRAME, offsetof(scree_FrameHead, nodes), 1, 'i'},
    {"/frames/node_position", SCREE_ROWS_NODE, 0, 3, 'd'},
    {"/frames/node_velocity", SCREE_ROWS_NODE, 3, 3, 'd'},
    {"/frames/node_stress", SCREE_ROWS_NODE, 6, 6, 'd'},
    {"/frames/joint_status", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, status), 1, 's'},
    {"/frames/joint_position", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, position), 3, 'd'},
    {"/frames/joint_axis", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, axis), 3, 'd'},
    {"/frames/joint_force", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, force), 3, 'd'},
    {"/frames/joint_torque", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, torque), 3, 'd'},
    {"/frames/joint_x", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, x), 1, 'd'},
    {"/frames/joint_effort", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, effort), 1, 'd'},
    {"/frames/joint_energy", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, energy), 1, 'd'},
    {"/frames/joint_plastic", SCREE_ROWS_JOINT, offsetof(scree_FrameJoint, plastic), 1, 'd'},
    {"/contacts/body", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, body), 2, 'i'},
    {"/contacts/feature", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, feature), 1, 'u'},
    {"/contacts/status", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, status), 1, 's'},
    {"/contacts/position", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, position), 3, 'd'},
    {"/contacts/normal", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, normal), 3, 'd'},
    {"/contacts/tangent", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, tangent), 3, 'd'},
    {"/contacts/gap", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, gap), 1, 'd'},
    {"/contacts/mu", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, mu), 1, 'd'},
    {"/contacts/error", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, error), 1, 'd'},
    {"/contacts/impulse", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, impulse), 3, 'd'},
    {"/contacts/impulse_world", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, impulse_world), 3,
     'd'},
    {"/contacts/velocity", SCREE_ROWS_CONTACT, offsetof(scree_FrameContact, velocity), 3, 'd'},
    {"/contacts/bond", SCREE_ROWS_MEMORY, offsetof(scree_FrameContact, bond), 1, 's'},
    {"/contacts/moment", SCREE_ROWS_MEMORY, offsetof(scree_FrameContact, moment), 3, 'd'},
    {"/contacts/plastic", SCREE_ROWS_MEMORY, offsetof(scree_FrameContact, plastic), 1, 'd'},
    {"/contacts/energy", SCREE_ROWS_MEMORY, offsetof(scree_FrameContact, energy), 1, 'd'},
    {"/contacts/memory", SCREE_ROWS_LAW, 0, SCREE_CONTACT_MEMORY, 'd'},
};

static int larger(int a, int b) {
  return a > b ? a : b;
}

void scree_column_sizes_add(scree_ColumnSizes *sizes, const scree_FrameHead *head) {
  sizes->bodies = larger(sizes->bodies, head->bodies);
  sizes->nodes = larger(sizes->nodes, head->nodes);
  sizes->joints = larger(sizes->joints, head->joints);
  sizes->deforms = sizes->deforms || head->deforms;
  sizes->affine = sizes->affine || head->affine;
  sizes->remembers = sizes->remembers || head->remembers;
}

/* The number of nodes of each frame is there with the nodes. */
static bool counts_nodes(const scree_ResultsColumn *column) {
  return column->rows == SCREE_ROWS_FRAME && column->offset == offsetof(scree_FrameHead, nodes);
}

bool scree_column_is_there(const scree_ResultsColumn *column, const scree_ColumnSizes *sizes) {
  switch (column->rows) {
  case SCREE_ROWS_FRAME: return !counts_nodes(column) || sizes->nodes > 0;
  case SCREE_ROWS_STRETCH: return sizes->deforms;
  case SCREE_ROWS_GRADIENT: return sizes->affine;
  case SCREE_ROWS_NODE: return sizes->nodes > 0;
  case SCREE_ROWS_JOINT: return sizes->joints > 0;
  case SCREE_ROWS_MEMORY:
  case SCREE_ROWS_LAW: return sizes->remembers;
  default: return true;
  }
}

int scree_column_items(const scree_ResultsColumn *column, const scree_ColumnSizes *sizes) {
  switch (column->rows) {
  case SCREE_ROWS_BODY:
  case SCREE_ROWS_STRETCH:
  case SCREE_ROWS_GRADIENT: return sizes->bodies;
  case SCREE_ROWS_NODE: return sizes->nodes;
  case SCREE_ROWS_JOINT: return sizes->joints;
  default: return 0;
  }
}

size_t scree_column_size(const scree_ResultsColumn *column) {
  return column->type == 'd' || column->type == 'l' ? 8 : 4;
}

size_t scree_column_value(const scree_ResultsColumn *column) {
  return column->type == 's' ? 1 : scree_column_size(column);
}

int scree_column_find(const scree_ResultsColumn *column, scree_Frame *frame, char **first,
                      size_t *stride) {
  const scree_FrameHead *head = &frame->head;
  void *records = &frame->head;
  int rows = 1;
  *stride = 0;
  switch (column->rows) {
  case SCREE_ROWS_FRAME: break;
  case SCREE_ROWS_BODY:
    records = frame->body;
    *stride = sizeof *frame->body;
    rows = head->bodies;
    break;
  case SCREE_ROWS_STRETCH:
    records = frame->stretch;
    *stride = 4 * sizeof(double);
    rows = head->deforms ? head->bodies : 0;
    break;
  case SCREE_ROWS_GRADIENT:
    records = frame->gradient;
    *stride = 18 * sizeof(double);
    rows = head->affine ? head->bodies : 0;
    break;
  case SCREE_ROWS_NODE:
    *first = (char *)(frame->node + column->offset * (size_t)head->nodes);
    *stride = (size_t)column->count * sizeof(double);
    return head->nodes;
  case SCREE_ROWS_JOINT:
    records = frame->joint;
    *stride = sizeof *frame->joint;
    rows = head->joints;
    break;
  case SCREE_ROWS_LAW:
    records = frame->law_memory;
    *stride = SCREE_CONTACT_MEMORY * sizeof(double);
    rows = head->remembers ? head->contacts : 0;
    break;
  default:
    records = frame->contact;
    *stride = sizeof *frame->contact;
    rows = head->contacts;
  }
  *first = (char *)records + column->offset;
  return rows;
}
