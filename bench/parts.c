/* Memory, messages and synchronisations of a divided world:
 *
 *     mpirun -n 4 build/mpi/bench/parts BODIES [STEPS [TOUCHING [SOLVER [ITERATIONS]]]]
 *
 * About BODIES spheres on a disturbed lattice fall on a floor; with a third argument they touch
 * each other from the start, and with a fourth every step is one solve of 20 or ITERATIONS
 * iterations of that solver, for counts that do not depend on how hard the problem is. Each rank
 * makes only its own bodies. Every step prints the largest counts of a rank, and with ITERATIONS a
 * line of JSON for each rank, from which scripts/ranks_cost.py makes its model; at the end each
 * rank tells its bodies, copies of bodies of other ranks, contacts, bytes of the world and its
 * solver, and the most memory of its process. */
#include "bench/own_time.h"
#include "bench/process.h"
#include "parallel/ranks.h"
#include "scree/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scree_Status fill(scree_World *world, int side, double spacing) {
  scree_Shape ball, floor_;
  scree_Status status = scree_shape_init_sphere(&ball, 0.05, NULL);
  if (!status) status = scree_shape_init_half_space(&floor_, NULL);
  scree_BodyDef def = scree_body_def();
  def.shape = &floor_;
  def.obstacle = true;
  def.pose.position.z = -0.5 * spacing;
  if (!status) status = scree_world_add_body(world, &def, NULL);
  def.shape = &ball;
  def.obstacle = false;
  uint32_t seed = 1;
  for (int k = 0; !status && k < side * side * side; ++k) {
    double x[3] = {k % side, k / side % side, (double)(k / side / side)};
    for (int i = 0; i < 3; ++i) {
      seed = seed * 1664525u + 1013904223u;
      x[i] = spacing * x[i] + 1e-4 * (seed / 4294967296.0 - 0.5);
    }
    def.pose.position = (scree_Vec3){x[0], x[1], x[2]};
    status = scree_world_add_body(world, &def, NULL);
  }
  return status;
}

/* What a rank has done in a step. */
typedef struct Record {
  double contacts, bodies, copies, neighbours, messages, bytes, synchronisations, own, wall;
} Record;

static void print_records(const scree_Ranks *ranks, const Record *mine, int step, int iterations) {
  const Record *all = scree_ranks_gather(ranks, mine, sizeof *mine);
  for (int k = 0; k < scree_ranks_size(ranks) && scree_ranks_rank(ranks) == 0; ++k)
    printf("{\"ranks\": %d, \"rank\": %d, \"step\": %d, \"iterations\": %d, \"contacts\": %.0f, "
           "\"bodies\": %.0f, \"copies\": %.0f, \"neighbours\": %.0f, \"messages\": %.0f, "
           "\"bytes\": %.0f, "
           "\"synchronisations\": %.0f, \"own\": %.9g, \"wall\": %.9g}\n",
           scree_ranks_size(ranks), k, step, iterations, all[k].contacts, all[k].bodies,
           all[k].copies, all[k].neighbours, all[k].messages, all[k].bytes, all[k].synchronisations,
           all[k].own, all[k].wall);
}

static int measure(const scree_Ranks *ranks, int bodies, int steps, bool touching,
                   const char *solver, int iterations) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.step = 1e-3;
  settings.gravity.z = -9.81;
  settings.solve.threads = 1;
  settings.solve.tolerance = 1e-3;
  if (solver) {
    settings.solve.solver = solver;
    settings.solve.tolerance = 0;
    settings.solve.max_iterations = iterations > 0 ? iterations : 20;
    settings.max_retries = settings.max_halvings = 0;
  }
  const int side = (int)floor(cbrt(bodies) + 0.5), rank = scree_ranks_rank(ranks);
  if (scree_world_create(&settings, NULL, &world) || scree_world_divide(world, ranks) ||
      fill(world, side, touching ? 0.1 : 0.104))
    return 3;
  for (int k = 0; k < steps; ++k) {
    scree_StepReport report;
    const scree_RankCounts before = scree_ranks_counts(ranks);
    const double own = own_seconds(), clock = scree_seconds();
    const scree_Status status = scree_world_step(world, &report);
    const scree_RankCounts after = scree_ranks_counts(ranks);
    if (status > SCREE_NOT_CONVERGED) return (int)status;
    if (iterations > 0) {
      const scree_WorldPart part = scree_world_part(world);
      const Record mine = {.contacts = part.contacts,
                           .bodies = part.owned,
                           .copies = part.copies,
                           .neighbours = part.neighbours,
                           .messages = (double)(after.messages - before.messages),
                           .bytes = (double)(after.bytes - before.bytes),
                           .synchronisations =
                               (double)(after.synchronisations - before.synchronisations),
                           .own = own_seconds() - own,
                           .wall = scree_seconds() - clock};
      print_records(ranks, &mine, k + 1, report.iterations);
      continue;
    }
    const double messages = (double)(after.messages - before.messages);
    const int neighbours = scree_world_part(world).neighbours;
    const double each = neighbours > 0 ? messages / neighbours : 0;
    double most[5] = {messages, (double)(after.bytes - before.bytes), neighbours, each, -each};
    scree_ranks_most(ranks, most, 5);
    if (rank == 0)
      printf("step %d: %s, %d contacts, error %.1e, %d iterations in %d solves; of a rank at most "
             "%.0f messages, %.0f bytes, %.0f neighbours, %.1f to %.1f messages to a neighbour; "
             "%lld synchronisations\n",
             k + 1, report.certified ? "certified" : "not certified", report.contacts, report.error,
             report.iterations, report.solves, most[0], most[1], most[2], -most[4], most[3],
             after.synchronisations - before.synchronisations);
  }
  const scree_WorldPart part = scree_world_part(world);
  printf("rank %d of %d: %d bodies of %d, %d copies, %d contacts, %.1f MB in the world, %.1f MB of "
         "memory at most; %lld builds, %lld cuts, %lld migrated, imbalance %.3f\n",
         rank, scree_ranks_size(ranks), part.owned, part.whole, part.copies, part.contacts,
         (double)part.memory / 1048576.0, peak_memory(), part.builds, part.cuts, part.migrated,
         part.imbalance);
  scree_world_destroy(world);
  return 0;
}

int main(int argc, char **argv) {
  scree_Ranks *ranks;
  if (argc < 2 || atoi(argv[1]) < 1) {
    fprintf(stderr,
            "usage: mpirun -n RANKS parts BODIES [STEPS [TOUCHING [SOLVER [ITERATIONS]]]]\n");
    return 2;
  }
  if (scree_ranks_create(&ranks, NULL)) return 3;
  const int status = measure(ranks, atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 3, argc > 3,
                             argc > 4 ? argv[4] : NULL, argc > 5 ? atoi(argv[5]) : 0);
  scree_ranks_destroy(ranks);
  return status;
}
