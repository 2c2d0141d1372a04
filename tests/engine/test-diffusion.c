/* SPDX-License-Identifier: Apache-2.0 */

/* Diffusion transformers: gradients of their operators, what is drawn of
 * samples, constants, and weights in files.
 * usage: test-diffusion FOLDER [DEVICE] */

#include "engine/passes.h"
#include "engine/plan.h"
#include "engine/weights.h"
#include "kernels/diffusion.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/gradient-bench.h"
#include "tests/engine/small-run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Vectors of three samples: values of their own, or parts of one. */
static void
make_parts (GradientBench *bench, bool apart, QmValueId parts[3])
{
  QmValueId all = apart ? QM_NO_VALUE
                        : gradient_copy (bench, gradient_input2 (bench, 3, 15));

  for (int i = 0; i < 3; i++)
    parts[i] = apart ? gradient_input2 (bench, 3, 5) : part (bench, all, i);
}

/* Three samples of four rows. */
static void
test_samples (bool apart)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, y, parts[3], position;

  gradient_begin (&bench, apart ? "norms and gates" : "norms and gates, parts");
  x = gradient_input2 (&bench, 12, 5);
  position = gradient_input2 (&bench, 4, 5);
  make_parts (&bench, apart, parts);
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

/* The same with the gate in a norm, beside which its sum is read, too, or what
 * is added to, whose gradient there is none of the branch's.  Parts are not
 * used in their order. */
static void
test_gated_samples (bool apart)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, branch, y, sum, both, parts[3];

  gradient_begin (&bench, apart ? "gated norm" : "gated norm, parts");
  x = gradient_input2 (&bench, 12, 5);
  branch = gradient_input2 (&bench, 12, 5);
  make_parts (&bench, apart, parts);
  y = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  sum = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  both = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  node = gradient_append (&bench, QM_OP_ADAPTIVE_NORM);
  node->attributes.epsilon = 1e-3;
  node->inputs[0] = x;
  node->inputs[1] = parts[0];
  node->inputs[2] = parts[2];
  node->inputs[3] = branch;
  node->inputs[4] = parts[1];
  node->outputs[0] = y;
  node->outputs[1] = gradient_value (&bench, 1, (int64_t[]){ 12 });
  node->outputs[2] = gradient_value (&bench, 1, (int64_t[]){ 12 });
  node->outputs[3] = sum;
  node = gradient_append (&bench, QM_OP_ADD);
  node->inputs[0] = y;
  node->inputs[1] = apart ? sum : x;
  node->outputs[0] = both;
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 12, 5 });
  node = gradient_append (&bench, QM_OP_ACTIVATION);
  node->attributes.activation = QM_FUNCTION_TANH;
  node->inputs[0] = both;
  node->outputs[0] = bench.output;
  bench.pass = qm_pass_fuse_backward;
  gradient_end (&bench);
}

/* Operators of the residual stream: how many norms, of which how many have
 * taken a gate in; those of the backward pass; gates that are left in each
 * direction; sums. */
typedef struct Stream
{
  int norms, gated, backward, gated_backward, gates, gates_backward, sums;
} Stream;

static Stream
count_stream (const QmGraph *graph)
{
  Stream count = { 0 };

  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];
      bool norm =
          node->op == QM_OP_ADAPTIVE_NORM && node->phase == QM_PHASE_FORWARD;
      bool backward = node->op == QM_OP_ADAPTIVE_NORM_BACKWARD;

      count.norms += norm;
      count.gated += norm && node->inputs[3] != QM_NO_VALUE;
      count.backward += backward;
      count.gated_backward += backward && node->outputs[3] != QM_NO_VALUE;
      count.gates += node->op == QM_OP_GATED_ADD;
      count.gates_backward += node->op == QM_OP_GATED_ADD_BACKWARD;
      count.sums += node->op == QM_OP_ADD && node->phase == QM_PHASE_BACKWARD;
    }
  return count;
}

/* Every gated sum goes into the norm behind it, in a block, between blocks and
 * before the last layer, and no gradients have to be added up by themselves.
 * With checkpointing, the gradient of a gate is apart where the branch is
 * another block's. */
static void
test_stream (const char *folder)
{
  const QmRecipe recipe = { .batch_size = 4,
                            .steps = 1,
                            .precision = QM_PRECISION_BF16,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .dropout = NAN };
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                            .micro_batch = 2,
                            .methods = QM_METHOD_ALL };
  QmModelConfig config;

  check_case ("gated sums in norms");
  golden_config (folder, "dit", &config);
  for (int checkpoint = 0; checkpoint < 2; checkpoint++)
    {
      int layers = (int) config.dit.layers;
      QmRecipe sized = recipe;
      QmPlan *plan = NULL;
      Stream count;

      sized.image_size = config.dit.image_size;
      options.checkpoint = checkpoint;
      CHECK_INT (qm_plan_new (&config, &sized, &options, &plan, NULL), QM_OK);
      if (plan == NULL)
        return;
      count = count_stream (plan->graph);
      CHECK_INT (count.norms, 2 * layers + 1);
      CHECK_INT (count.gated, 2 * layers);
      CHECK_INT (count.gates, 0);
      CHECK_INT (count.backward, 2 * layers + 1);
      CHECK_INT (count.gated_backward, checkpoint ? layers : 2 * layers);
      CHECK_INT (count.gates_backward, checkpoint ? layers : 0);
      CHECK_INT (count.sums, 0);
      qm_plan_free (plan);
    }
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

#define SAMPLES 12

static bool
load (SmallRun *run, const char *folder, const char *model)
{
  QmSafetensors *file = NULL;
  QmError error = { 0 };
  char path[512];
  bool loaded;

  snprintf (path, sizeof path, "%s/%s.weights.safetensors", folder, model);
  CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
  loaded =
      file != NULL
      && qm_weights_load (run->plan, run->executor, file, path, NULL, &error)
             == QM_OK;
  CHECK (loaded);
  CHECK_STRING (error.message, "");
  qm_safetensors_close (file);
  return loaded;
}

/* One step, and the mean of its losses. */
static float
pass_all (SmallRun *run)
{
  const QmGraph *graph = run->plan->graph;
  const QmTensor *shape = qm_graph_tensor (graph, graph->pixels);
  int64_t n = qm_tensor_elements (shape), batch = shape->shape[0];
  float *pixels = malloc ((size_t) n * sizeof *pixels), loss = 0;
  int32_t labels[SAMPLES];

  CHECK_INT (qm_executor_clear (run->executor, NULL), QM_OK);
  for (int64_t first = 0; first < SAMPLES; first += batch)
    {
      for (int64_t i = 0; i < n; i++)
        pixels[i] = (float) sin ((double) (first * (n / batch) + i) * 0.37);
      for (int64_t i = 0; i < batch; i++)
        labels[i] = (int32_t) (first + i) % 11;
      CHECK_INT (qm_executor_write_floats (run->executor, graph->pixels, pixels,
                                           NULL),
                 QM_OK);
      CHECK_INT (qm_executor_write_ints (run->executor, graph->labels, labels,
                                         NULL),
                 QM_OK);
      CHECK_INT (qm_executor_pass (run->executor, true, NULL), QM_OK);
    }
  CHECK_INT (qm_executor_read_floats (run->executor, graph->loss, &loss, NULL),
             QM_OK);
  free (pixels);
  return loss;
}

/* The same is drawn of the same samples, whatever the micro-batch: so the mean
 * over all of them is the same; and more of it where classes are left out. */
static void
test_micro_batches (const char *folder, QmDevice *device)
{
  QmModelConfig config = { 0 };
  SmallRun whole, parts, without;

  check_case ("micro-batches");
  golden_config (folder, "dit", &config);
  if (small_run_begin (&whole, &config, config.dit.image_size, SAMPLES, device,
                       SAMPLES)
      && small_run_begin (&parts, &config, config.dit.image_size, SAMPLES,
                          device, 3)
      && load (&whole, folder, "dit") && load (&parts, folder, "dit"))
    {
      float wanted = pass_all (&whole), loss = pass_all (&parts);

      CHECK (wanted > 0);
      CHECK_NEAR (loss, wanted, 1e-5 * wanted);
      /* Those of the next step are others. */
      CHECK (fabsf (pass_all (&whole) - wanted) > 1e-4f * wanted);
      config.dit.class_dropout = 0.99;
      if (small_run_begin (&without, &config, config.dit.image_size, SAMPLES,
                           device, SAMPLES)
          && load (&without, folder, "dit"))
        CHECK (fabsf (pass_all (&without) - wanted) > 1e-4f * wanted);
      small_run_end (&without);
    }
  small_run_end (&whole);
  small_run_end (&parts);
}

/* Of Ho et al. 2020: what is left of an image at the end is 4.0358e-5. */
static void
test_constants (const char *folder, QmDevice *device)
{
  static float schedule[QM_DIT_TIMES][QM_SCHEDULE_SIZE];
  static float waves[QM_DIT_TIMES][QM_DIT_FREQUENCIES];
  QmModelConfig config = { 0 };
  float table[25][20];
  SmallRun run;

  check_case ("constants");
  golden_config (folder, "dit-older", &config);
  if (small_run_begin (&run, &config, config.dit.image_size, SAMPLES, device,
                       2))
    {
      const QmGraph *graph = run.plan->graph;

      CHECK_INT (qm_executor_read_floats (run.executor,
                                          graph->diffusion.schedule,
                                          &schedule[0][0], NULL),
                 QM_OK);
      CHECK_INT (qm_executor_read_floats (run.executor, graph->diffusion.waves,
                                          &waves[0][0], NULL),
                 QM_OK);
      CHECK_INT (qm_executor_read_floats (run.executor, graph->tables[0].value,
                                          &table[0][0], NULL),
                 QM_OK);
      CHECK_NEAR (schedule[0][QM_SCHEDULE_SIGNAL], sqrt (0.9999), 1e-7);
      CHECK_NEAR (schedule[0][QM_SCHEDULE_NOISE], 0.01, 1e-7);
      CHECK_NEAR (schedule[0][QM_SCHEDULE_MEAN], 1, 1e-6);
      CHECK_NEAR (schedule[0][QM_SCHEDULE_MEAN_NOISY], 0, 1e-6);
      CHECK_NEAR (schedule[0][QM_SCHEDULE_LEAST],
                  schedule[1][QM_SCHEDULE_LEAST], 0);
      CHECK_NEAR (schedule[999][QM_SCHEDULE_SIGNAL], sqrt (4.03583e-5), 1e-7);
      CHECK_NEAR (schedule[999][QM_SCHEDULE_MOST], log (0.02), 1e-6);
      CHECK_NEAR (waves[0][127], 1, 0);
      CHECK_NEAR (waves[0][255], 0, 0);
      CHECK_NEAR (waves[7][64], cos (0.07), 1e-6);
      CHECK_NEAR (waves[999][128 + 64], sin (9.99), 1e-6);
      /* Patch 7 of 5 x 5 is in row 1, column 2; there is no class token. */
      CHECK_NEAR (table[0][5], 1, 0);
      CHECK_NEAR (table[7][1], sin (2 / pow (10000, 1.0 / 5)), 1e-6);
      CHECK_NEAR (table[7][15], cos (1), 1e-6);
      CHECK_NEAR (table[24][19], cos (4 / pow (10000, 4.0 / 5)), 1e-6);
    }
  small_run_end (&run);
}

/* Positions of a file are those of the model, and of the file that it writes.
 */
static void
test_files (const char *folder, QmDevice *device)
{
  QmModelConfig config = { 0 };
  QmSafetensors *written = NULL;
  char out[512];
  float table[25 * 20], again[25 * 20];
  SmallRun run;

  check_case ("files");
  golden_config (folder, "dit-older", &config);
  snprintf (out, sizeof out, "%s", scratch_path ("dit.safetensors"));
  if (small_run_begin (&run, &config, config.dit.image_size, SAMPLES, device, 2)
      && load (&run, folder, "dit-older"))
    {
      CHECK_INT (qm_executor_read_floats (run.executor,
                                          run.plan->graph->tables[0].value,
                                          table, NULL),
                 QM_OK);
      CHECK_INT (qm_weights_save (run.plan, run.executor, false, out, NULL),
                 QM_OK);
      CHECK_INT (qm_safetensors_open (out, &written, NULL), QM_OK);
    }
  if (written != NULL)
    {
      const QmStoredTensor *stored = qm_safetensors_find (written, "pos_embed");

      CHECK (stored != NULL && stored->rank == 3
             && stored->elements == 25 * 20);
      if (stored != NULL && stored->elements == 25 * 20)
        CHECK_INT (qm_safetensors_read_floats (written, stored, again, NULL),
                   QM_OK);
      CHECK (memcmp (table, again, sizeof table) == 0);
      CHECK (qm_safetensors_find (written, "blocks.0.adaLN_modulation.1.weight")
             != NULL);
      CHECK (qm_safetensors_find (written, "y_embedder.embedding_table.weight")
             != NULL);
    }
  qm_safetensors_close (written);
  small_run_end (&run);
}

int
main (int argc, char **argv)
{
  QmDevice *device = NULL;

  CHECK (argc >= 2);
  CHECK_INT (qm_device_open (argc > 2 ? argv[2] : "cpu", 0, &device, NULL),
             QM_OK);
  if (argc < 2 || device == NULL)
    return check_report ();
  scratch_begin ();
  test_samples (true);
  test_samples (false);
  test_gated_samples (true);
  test_gated_samples (false);
  test_stream (argv[1]);
  test_loss (false);
  test_loss (true);
  test_micro_batches (argv[1], device);
  test_constants (argv[1], device);
  test_files (argv[1], device);
  scratch_end ();
  qm_device_close (device);
  return check_report ();
}
