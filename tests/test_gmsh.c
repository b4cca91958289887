/* Gmsh's mesh files: both versions of the format, and files and materials that are refused. */
#include "element/elastic.h"
#include "math/vec3.h"
#include "test_world_scene.h"

static char last_message[512];

static void keep_message(void *user, scree_LogLevel level, const char *message) {
  (void)user, (void)level;
  if (!last_message[0]) snprintf(last_message, sizeof last_message, "%s", message);
}

static const char tetrahedron_2[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                                    "$PhysicalNames\n1\n3 1 \"solid\"\n$EndPhysicalNames\n"
                                    "$Nodes\n5\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n"
                                    "99 7 7 7\n$EndNodes\n$Elements\n2\n1 2 2 0 1 10 20 30\n"
                                    "2 4 2 1 1 10 20 30 40\n$EndElements\n";
static const char square_4[] = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
                               "$Entities\n0 0 1 0\n1 0 0 0 1 1 0 0 0\n$EndEntities\n"
                               "$Nodes\n2 6 1 6\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
                               "2 1 0 2\n5\n6\n2 0 0\n2 1 0\n$EndNodes\n"
                               "$Elements\n2 3 1 3\n2 1 3 1\n1 1 2 3 4\n2 1 2 2\n2 2 5 6\n"
                               "3 2 6 3\n$EndElements\n";

static void test_gmsh(void **state) {
  (void)state;
  scree_ElementMesh *m;
  OK(scree_element_mesh_parse("t.msh", tetrahedron_2, sizeof tetrahedron_2 - 1, 3, &m, &test_log));
  assert_int_equal(scree_element_mesh_node_count(m), 4);
  assert_int_equal(scree_element_mesh_element_count(m), 1);
  NEAR(scree_element_mesh_volume(m), 1.0 / 6, 1e-15);
  NEAR(scree_norm(scree_sub(scree_element_mesh_centroid(m), vec(0.25, 0.25, 0.25))), 0, 1e-15);
  scree_element_mesh_destroy(m);
  OK(scree_element_mesh_parse("s.msh", square_4, sizeof square_4 - 1, 2, &m, &test_log));
  assert_int_equal(scree_element_mesh_node_count(m), 6);
  assert_int_equal(scree_element_mesh_element_count(m), 3);
  scree_ElementKind kind;
  scree_element_mesh_element(m, 2, &kind);
  assert_string_equal(scree_element_kind_name(kind), "triangle");
  NEAR(scree_element_mesh_volume(m), 2, 1e-15);
  assert_int_equal(scree_element_mesh_face_count(m), 6);
  scree_element_mesh_destroy(m);
}

/* Replaces `old` in a good file and expects a message. */
static void refuse(const char *good, const char *old, const char *new, int dimension,
                   const char *message) {
  char text[2048];
  const char *at = strstr(good, old);
  assert_non_null(at);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, new, at + strlen(old));
  const scree_Log log = {keep_message, NULL};
  scree_ElementMesh *m;
  last_message[0] = '\0';
  assert_int_equal(scree_element_mesh_parse("f.msh", text, strlen(text), dimension, &m, &log),
                   SCREE_BAD_INPUT);
  assert_null(m);
  if (!strstr(last_message, message)) print_message("%s\nlacks %s\n", last_message, message);
  assert_non_null(strstr(last_message, message));
}

static void test_gmsh_refusals(void **state) {
  (void)state;
  const char *t = tetrahedron_2;
  refuse(t, "2.2 0 8", "3.0 0 8", 3, "f.msh:2: found 3.0, expected version 2.2 or 4.1");
  refuse(t, "2.2 0 8", "2.2 1 8", 3, "f.msh:2: found 1, expected 0: an ASCII file");
  refuse(t, "20 1 0 0", "20 1 nan 0", 3, "found nan, expected a finite coordinate");
  refuse(t, "20 1 0 0", "10 1 0 0", 3, "found node 10 twice");
  refuse(t, "2 4 2 1 1 10 20 30 40", "2 4 2 1 1 10 20 30 41", 3, "f.msh:19: found node 41");
  refuse(t, "2 4 2 1 1", "2 6 2 1 1", 3, "f.msh:19: found 6, expected an element of type");
  refuse(t, "2 4 2 1 1", "2 11 2 1 1", 3, "found 11, expected an element of type");
  refuse(t, "40 0 0 1\n", "40 0.5 0.5 0\n", 3, "flat or folded");
  refuse(t, "$EndElements", "", 3, "f.msh:21: found the end of the file, expected $EndElements");
  refuse(t, "$EndNodes", "", 3, "expected $EndNodes");
  refuse(t, "$EndPhysicalNames", "", 3, "expected $EndPhysicalNames");
  refuse(t, "$MeshFormat", "$Nodes", 3, "expected $MeshFormat first");
  refuse(t, "2 4 2 1 1 10 20 30 40", "2 15 2 1 1 10", 3,
         "found no elements, expected tetrahedra or hexahedra");
  refuse(square_4, "2 1 3 1\n", "2 1 5 1\n", 2, "expected");
  refuse(square_4, "2 6 1 6", "2 -6 1 6", 2, "found -6");
  const scree_Log log = {keep_message, NULL};
  scree_ElementMesh *m;
  last_message[0] = '\0';
  assert_int_equal(scree_element_mesh_read("/nowhere/x.msh", 3, &m, &log), SCREE_BAD_INPUT);
  assert_non_null(strstr(last_message, "/nowhere/x.msh: "));
  const scree_Elastic def = {.young = 1e6, .poisson = 0.5};
  scree_ElasticMaterial elastic;
  last_message[0] = '\0';
  assert_int_equal(scree_elastic_init(&elastic, &def, 1000, &log), SCREE_BAD_INPUT);
  assert_non_null(strstr(last_message, "poisson: found 0.5"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gmsh),
      cmocka_unit_test(test_gmsh_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
