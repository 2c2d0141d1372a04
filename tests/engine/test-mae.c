/* SPDX-License-Identifier: Apache-2.0 */

/* Masked autoencoders: gradients of their operators, what is hidden of samples,
 * and weights in files.  usage: test-mae FOLDER [DEVICE] */

#include "data/flops.h"
#include "engine/plan.h"
#include "engine/weights.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/gradient-bench.h"
#include "tests/engine/small-run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static QmValueId
ints (GradientBench *bench, int64_t rows, int64_t columns)
{
  return qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                         (int64_t[]){ rows, columns }, "whole numbers");
}

/* Which of 9 patches of two samples are kept; `kept` may be NULL. */
static QmValueId
append_mask (GradientBench *bench, int64_t keeps, QmValueId *kept)
{
  QmValueId places = ints (bench, 2, 9), others = ints (bench, 2, keeps);
  QmNode *node = gradient_append (bench, QM_OP_MASK_PATCHES);

  node->inputs[1] = bench->graph->rng;
  node->outputs[0] = others;
  node->outputs[1] = places;
  if (kept != NULL)
    *kept = others;
  return places;
}

/* What no gradient goes to. */
static QmValueId
append_random (GradientBench *bench, int32_t rank, const int64_t *shape)
{
  QmValueId value = gradient_value (bench, rank, shape);
  QmNode *node = gradient_append (bench, QM_OP_RANDOM);

  node->attributes.scale = 1;
  node->inputs[0] = bench->graph->rng;
  node->outputs[0] = value;
  return value;
}

/* Kept patches under a class token, whose positions are not trained, and all
 * patches again. */
static void
test_tokens (bool positions)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, token, kept, places, y, table = QM_NO_VALUE;

  gradient_begin (&bench, "hidden patches");
  x = gradient_input2 (&bench, 2 * 4, 5);
  token = gradient_input1 (&bench, 5);
  places = append_mask (&bench, 4, &kept);
  if (positions)
    table = append_random (&bench, 2, (int64_t[]){ 10, 5 });
  y = gradient_value (&bench, 2, (int64_t[]){ 2 * 5, 5 });
  node = gradient_append (&bench, QM_OP_CLASS_TOKEN);
  node->inputs[0] = x;
  node->inputs[1] = token;
  node->inputs[2] = table;
  node->inputs[4] = kept;
  node->outputs[0] = y;
  token = gradient_input1 (&bench, 5);
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 2 * 10, 5 });
  node = gradient_append (&bench, QM_OP_RESTORE_TOKENS);
  node->inputs[0] = y;
  node->inputs[1] = token;
  node->inputs[2] = places;
  node->inputs[3] = table;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_loss (bool normalized)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, copy, images, losses, places, dx;
  int64_t rows = 2 * 10;

  gradient_begin (&bench, "loss of hidden pixels");
  x = gradient_input2 (&bench, rows, 12);
  images = append_random (&bench, 4, (int64_t[]){ 2, 3, 6, 6 });
  places = append_mask (&bench, 3, NULL);
  copy = gradient_copy (&bench, x);
  dx = gradient_value (&bench, 2, (int64_t[]){ rows, 12 });
  losses = gradient_value (&bench, 1, &rows);
  node = gradient_append (&bench, QM_OP_PIXEL_LOSS);
  node->attributes.patch = 2;
  node->attributes.count = 6;
  node->attributes.scale = 0.5;
  node->attributes.epsilon = 1e-6;
  node->attributes.normalized = normalized;
  node->inputs[0] = copy;
  node->inputs[1] = images;
  node->inputs[2] = places;
  node->inputs[3] = bench.graph->state;
  node->outputs[0] = dx;
  node->outputs[1] = losses;
  gradient_sum (&bench, losses);
  gradient_end (&bench);
}

#define SAMPLES 12

/* One step, and the mean of its losses. */
static float
pass_all (SmallRun *run)
{
  const QmGraph *graph = run->plan->graph;
  const QmTensor *shape = qm_graph_tensor (graph, graph->pixels);
  int64_t n = qm_tensor_elements (shape), each = n / shape->shape[0];
  float *pixels = malloc ((size_t) n * sizeof *pixels), loss = 0;

  for (int64_t first = 0; first < SAMPLES; first += shape->shape[0])
    {
      for (int64_t i = 0; i < n; i++)
        pixels[i] = (float) sin ((double) (first * each + i) * 0.37);
      CHECK_INT (qm_executor_write_floats (run->executor, graph->pixels, pixels,
                                           NULL),
                 QM_OK);
      CHECK_INT (qm_executor_pass (run->executor, true, NULL), QM_OK);
    }
  CHECK_INT (qm_executor_read_floats (run->executor, graph->loss, &loss, NULL),
             QM_OK);
  free (pixels);
  return loss;
}

/* The same patches of the same samples are hidden, whatever the micro-batch:
 * so the mean over all of them is the same. */
static void
test_micro_batches (const char *folder, QmDevice *device)
{
  QmModelConfig config = { 0 };
  SmallRun whole, parts;

  check_case ("micro-batches");
  golden_config (folder, "vit-mae-half", &config);
  if (small_run_begin (&whole, &config, config.mae.image_size, SAMPLES, device,
                       SAMPLES)
      && small_run_begin (&parts, &config, config.mae.image_size, SAMPLES,
                          device, 3))
    {
      float wanted = pass_all (&whole), loss = pass_all (&parts);

      CHECK (wanted > 0);
      CHECK_NEAR (loss, wanted, 1e-5);
      /* Those of the next step are others. */
      CHECK (fabsf (pass_all (&whole) - 2 * wanted) > 1e-4f * wanted);
    }
  small_run_end (&whole);
  small_run_end (&parts);
}

static void
read_table (const SmallRun *run, int i, float *values)
{
  CHECK_INT (qm_executor_read_floats (run->executor,
                                      run->plan->graph->tables[i].value, values,
                                      NULL),
             QM_OK);
}

/* Of 3 x 3 patches: the class token has none, the last is in column and row 2.
 */
static void
test_positions (const char *folder, QmDevice *device)
{
  QmModelConfig config = { 0 };
  float table[10][24];
  SmallRun run;

  check_case ("positions");
  golden_config (folder, "vit-mae", &config);
  if (small_run_begin (&run, &config, config.mae.image_size, SAMPLES, device,
                       2))
    {
      read_table (&run, 0, &table[0][0]);
      for (int j = 0; j < 24; j++)
        CHECK_NEAR (table[0][j], 0, 0);
      /* Patch 5 is in row 1, column 2. */
      CHECK_NEAR (table[6][1], sin (2 / pow (10000, 1.0 / 6)), 1e-6);
      CHECK_NEAR (table[6][7], cos (2 / pow (10000, 1.0 / 6)), 1e-6);
      CHECK_NEAR (table[6][14], sin (1 / pow (10000, 2.0 / 6)), 1e-6);
      CHECK_NEAR (table[6][23], cos (1 / pow (10000, 5.0 / 6)), 1e-6);
    }
  small_run_end (&run);
}

/* Positions of a file are those of the model, and of the file that it writes,
 * where layers of the decoder have the names that both versions know. */
static void
test_files (const char *folder, QmDevice *device)
{
  QmModelConfig config = { 0 };
  QmSafetensors *file = NULL, *written = NULL;
  char path[512], out[512];
  float first[50 * 24], second[50 * 24];
  SmallRun run;

  check_case ("files");
  golden_config (folder, "vit-mae-normed", &config);
  snprintf (path, sizeof path, "%s/vit-mae-normed.weights.safetensors", folder);
  snprintf (out, sizeof out, "%s", scratch_path ("mae.safetensors"));
  CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
  if (small_run_begin (&run, &config, config.mae.image_size, SAMPLES, device, 2)
      && file != NULL)
    {
      QmError error = { 0 };

      read_table (&run, 0, first);
      CHECK_INT (qm_weights_load (run.plan, run.executor, file, path, NULL,
                                  &error),
                 QM_OK);
      CHECK_STRING (error.message, "");
      read_table (&run, 0, second);
      CHECK (memcmp (first, second, sizeof first) != 0);
      CHECK_INT (qm_weights_save (run.plan, run.executor, false, out, &error),
                 QM_OK);
      CHECK_STRING (error.message, "");
      CHECK_INT (qm_safetensors_open (out, &written, NULL), QM_OK);
    }
  if (written != NULL)
    {
      const QmStoredTensor *table =
          qm_safetensors_find (written, "vit.embeddings.position_embeddings");

      CHECK (table != NULL && table->rank == 3 && table->elements == 50 * 24);
      if (table != NULL && table->elements == 50 * 24)
        CHECK_INT (qm_safetensors_read_floats (written, table, first, NULL),
                   QM_OK);
      CHECK (memcmp (first, second, sizeof first) == 0);
      CHECK (qm_safetensors_find (written, "decoder.decoder_pos_embed")
             != NULL);
      CHECK (qm_safetensors_find (
                 written,
                 "decoder.decoder_layers.2.attention.attention.query.weight")
             != NULL);
    }
  qm_safetensors_close (written);
  qm_safetensors_close (file);
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
  test_tokens (false);
  test_tokens (true);
  test_loss (false);
  test_loss (true);
  test_micro_batches (argv[1], device);
  test_positions (argv[1], device);
  test_files (argv[1], device);
  qm_device_close (device);
  return check_report ();
}
