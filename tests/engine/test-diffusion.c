/* SPDX-License-Identifier: Apache-2.0 */

/* Diffusion transformers: gradients of their operators.
 * usage: test-diffusion FOLDER [DEVICE] */

#include "engine/graph.h"
#include "kernels/diffusion.h"
#include "tests/data/check.h"
#include "tests/engine/gradient-bench.h"

/* What no gradient goes to. */
static QmValueId
append_random (GradientBench *bench,
               QmType type,
               int32_t rank,
               const int64_t *shape)
{
  QmValueId value =
      qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, type, rank, shape, "x");
  QmNode *node = gradient_append (bench, QM_OP_RANDOM);

  node->attributes.scale = 1;
  node->attributes.count = 3;
  if (type == QM_TYPE_I32)
    node->attributes.distribution = QM_DISTRIBUTION_INDEX;
  node->inputs[0] = bench->graph->rng;
  node->outputs[0] = value;
  return value;
}

/* Parts of what one product could make, as models have them. */
static QmValueId
part (GradientBench *bench, QmValueId vectors, int i)
{
  return qm_graph_view (bench->graph, vectors, 2, (int64_t[]){ 3, 5 },
                        (int64_t[]){ 15, 1 }, 5 * i);
}

/* Three samples of four rows. */
static void
test_samples (bool apart)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, y, parts[3], vectors, position;

  gradient_begin (&bench, apart ? "norms and gates" : "norms and gates, parts");
  x = gradient_input2 (&bench, 12, 5);
  position = gradient_input2 (&bench, 4, 5);
  vectors = apart ? QM_NO_VALUE : gradient_input2 (&bench, 3, 15);
  if (!apart)
    vectors = gradient_copy (&bench, vectors);
  for (int i = 0; i < 3; i++)
    parts[i] =
        apart ? gradient_input2 (&bench, 3, 5) : part (&bench, vectors, i);
  y = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  node = gradient_append (&bench, QM_OP_ADD_POSITIONS);
  node->inputs[0] = x;
  node->inputs[1] = position;
  node->outputs[0] = x = y;
  y = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  node = gradient_append (&bench, QM_OP_ADAPTIVE_NORM);
  node->attributes.epsilon = 1e-3;
  node->inputs[0] = x;
  node->inputs[1] = parts[0];
  node->inputs[2] = parts[1];
  node->outputs[0] = y;
  node->outputs[1] = gradient_value (&bench, 1, (int64_t[]){ 12 });
  node->outputs[2] = gradient_value (&bench, 1, (int64_t[]){ 12 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  node = gradient_append (&bench, QM_OP_GATED_ADD);
  node->inputs[0] = y;
  node->inputs[1] = parts[2];
  node->inputs[2] = x;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* Row 0 of the first two columns of the schedule are positive; a random one is
 * not that of any betas, and its logarithms need not be ordered. */
static QmValueId
append_schedule (GradientBench *bench)
{
  QmValueId schedule =
      gradient_value (bench, 2, (int64_t[]){ 3, QM_SCHEDULE_SIZE });
  static const double columns[QM_SCHEDULE_SIZE] = { 0.8, 0.6,  0.3,
                                                    0.5, -2.3, -1.1 };

  for (int i = 0; i < QM_SCHEDULE_SIZE; i++)
    {
      QmNode *node;
      QmValueId column =
          qm_graph_view (bench->graph, schedule, 2, (int64_t[]){ 3, 1 },
                         (int64_t[]){ QM_SCHEDULE_SIZE, 1 }, i);

      node = gradient_append (bench, QM_OP_FILL);
      node->attributes.value = columns[i];
      node->outputs[0] = column;
    }
  return schedule;
}

/* With `learned` the gradient to the noise leaves the bound out, and so is not
 * that of the loss: variances alone have one here. */
static void
test_loss (bool learned)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, told, losses, image, noise, times, schedule, dx;
  int64_t rows = 3 * 6, width = learned ? 4 : 2;
  int64_t shape[4] = { 3, 2, 2, 3 };

  gradient_begin (&bench, learned ? "loss of variances" : "loss of noise");
  x = gradient_input2 (&bench, rows, 2);
  told = gradient_value (&bench, 2, (int64_t[]){ rows, width });
  if (learned)
    {
      QmValueId constant =
          append_random (&bench, QM_TYPE_F32, 2, (int64_t[]){ rows, 2 });

      node = gradient_append (&bench, QM_OP_COPY);
      node->inputs[0] = constant;
      node->outputs[0] =
          qm_graph_view (bench.graph, told, 2, (int64_t[]){ rows, 2 },
                         (int64_t[]){ width, 1 }, 0);
    }
  node = gradient_append (&bench, QM_OP_COPY);
  node->inputs[0] = x;
  node->outputs[0] =
      qm_graph_view (bench.graph, told, 2, (int64_t[]){ rows, 2 },
                     (int64_t[]){ width, 1 }, width - 2);
  image = append_random (&bench, QM_TYPE_F32, 4, shape);
  noise = append_random (&bench, QM_TYPE_F32, 4, shape);
  times = append_random (&bench, QM_TYPE_I32, 2, (int64_t[]){ 3, 1 });
  schedule = append_schedule (&bench);
  dx = gradient_value (&bench, 2, (int64_t[]){ rows, width });
  losses = gradient_value (&bench, 1, &rows);
  node = gradient_append (&bench, QM_OP_NOISE_LOSS);
  node->attributes.patch = 1;
  node->attributes.scale = 0.5;
  node->attributes.learned = learned;
  node->inputs[0] = told;
  node->inputs[1] = image;
  node->inputs[2] = noise;
  node->inputs[3] = times;
  node->inputs[4] = schedule;
  node->inputs[5] = bench.graph->state;
  node->outputs[0] = dx;
  node->outputs[1] = losses;
  gradient_sum (&bench, losses);
  gradient_end (&bench);
}

int
main (int argc, char **argv)
{
  CHECK (argc >= 2);
  test_samples (true);
  test_samples (false);
  test_loss (false);
  test_loss (true);
  return check_report ();
}
