/* The kinds of elements: linear simplices with one point of integration, multilinear quadrilaterals
 * and hexahedra with 2 x 2 (x 2) Gauss points. Numbering of corners is that of Gmsh. */
#include "element/mesh.h"

#include <string.h>

#define THIRD 0.33333333333333333333

/* Coordinates of the corners of the square and the cube. */
static const double sign_of[SCREE_ELEMENT_CORNERS][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1},
                                                         {-1, 1, -1},  {-1, -1, 1}, {1, -1, 1},
                                                         {1, 1, 1},    {-1, 1, 1}};

static void shape_simplex(int dimension, const double *xi, double *N, double (*dN)[3]) {
  memset(dN, 0, (size_t)(dimension + 1) * sizeof *dN);
  N[0] = 1;
  for (int k = 0; k < dimension; ++k) {
    N[0] -= xi[k];
    N[k + 1] = xi[k];
    dN[0][k] = -1;
    dN[k + 1][k] = 1;
  }
}

static void shape_cube(int dimension, const double *xi, double *N, double (*dN)[3]) {
  const int corners = 1 << dimension;
  for (int a = 0; a < corners; ++a) {
    double factor[3] = {1, 1, 1}, slope[3] = {0, 0, 0};
    for (int k = 0; k < dimension; ++k) {
      factor[k] = 0.5 * (1 + sign_of[a][k] * xi[k]);
      slope[k] = 0.5 * sign_of[a][k];
    }
    N[a] = factor[0] * factor[1] * factor[2];
    dN[a][0] = slope[0] * factor[1] * factor[2];
    dN[a][1] = factor[0] * slope[1] * factor[2];
    dN[a][2] = factor[0] * factor[1] * slope[2];
  }
}

static void shape_triangle(const double *xi, double *N, double (*dN)[3]) {
  shape_simplex(2, xi, N, dN);
}

static void shape_quadrilateral(const double *xi, double *N, double (*dN)[3]) {
  shape_cube(2, xi, N, dN);
}

static void shape_tetrahedron(const double *xi, double *N, double (*dN)[3]) {
  shape_simplex(3, xi, N, dN);
}

static void shape_hexahedron(const double *xi, double *N, double (*dN)[3]) {
  shape_cube(3, xi, N, dN);
}

#define G 0.57735026918962576451 /* 1/sqrt(3) */

const scree_ElementClass scree_element_classes[SCREE_ELEMENT_KINDS] = {
    [SCREE_ELEMENT_TRIANGLE] = {.name = "triangle",
                                .dimension = 2,
                                .corners = 3,
                                .points = 1,
                                .gmsh = 2,
                                .place = {{THIRD, THIRD, 0}},
                                .weight = {0.5},
                                .faces = 3,
                                .face_corners = 2,
                                .face = {{0, 1}, {1, 2}, {2, 0}},
                                .turned = {0, 2, 1},
                                .shape = shape_triangle},
    [SCREE_ELEMENT_QUADRILATERAL] = {.name = "quadrilateral",
                                     .dimension = 2,
                                     .corners = 4,
                                     .points = 4,
                                     .gmsh = 3,
                                     .place = {{-G, -G, 0}, {G, -G, 0}, {G, G, 0}, {-G, G, 0}},
                                     .weight = {1, 1, 1, 1},
                                     .faces = 4,
                                     .face_corners = 2,
                                     .face = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                                     .turned = {0, 3, 2, 1},
                                     .shape = shape_quadrilateral},
    [SCREE_ELEMENT_TETRAHEDRON] = {.name = "tetrahedron",
                                   .dimension = 3,
                                   .corners = 4,
                                   .points = 1,
                                   .gmsh = 4,
                                   .place = {{0.25, 0.25, 0.25}},
                                   .weight = {1.0 / 6},
                                   .faces = 4,
                                   .face_corners = 3,
                                   .face = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}},
                                   .turned = {0, 2, 1, 3},
                                   .shape = shape_tetrahedron},
    [SCREE_ELEMENT_HEXAHEDRON] = {.name = "hexahedron",
                                  .dimension = 3,
                                  .corners = 8,
                                  .points = 8,
                                  .gmsh = 5,
                                  .place = {{-G, -G, -G},
                                            {G, -G, -G},
                                            {G, G, -G},
                                            {-G, G, -G},
                                            {-G, -G, G},
                                            {G, -G, G},
                                            {G, G, G},
                                            {-G, G, G}},
                                  .weight = {1, 1, 1, 1, 1, 1, 1, 1},
                                  .faces = 6,
                                  .face_corners = 4,
                                  .face = {{0, 3, 2, 1},
                                           {4, 5, 6, 7},
                                           {0, 1, 5, 4},
                                           {1, 2, 6, 5},
                                           {2, 3, 7, 6},
                                           {3, 0, 4, 7}},
                                  .turned = {0, 3, 2, 1, 4, 7, 6, 5},
                                  .shape = shape_hexahedron},
};

const char *scree_element_kind_name(scree_ElementKind kind) {
  return (unsigned)kind < SCREE_ELEMENT_KINDS ? scree_element_classes[kind].name : NULL;
}

int scree_element_kind_corners(scree_ElementKind kind) {
  return (unsigned)kind < SCREE_ELEMENT_KINDS ? scree_element_classes[kind].corners : 0;
}
