/* SPDX-License-Identifier: Apache-2.0 */

/* A device that fails: whatever call of it fails first, the work ends with that
 * status and message, everything is given back, and no file is left. */

#include "engine/check.h"
#include "engine/measure.h"
#include "engine/train.h"
#include "tests/data/check.h"
#include "tests/engine/failing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef QmStatus (*Work) (QmDevice *device, QmError *error);

static QmSharding sharding; /* with offloading */

/* Lets every call fail in turn, after the first few not every one.  The last
 * calls, one for each stream, wait while everything is being freed and have
 * nobody to tell. */
static void
fail_everywhere (QmDevice *device, Work work)
{
  int64_t all, tried = 0, last = sharding == QM_SHARDING_NONE ? 1 : 3;
  QmError error = { 0 };

  failing_at (-1);
  CHECK_INT (work (device, &error), QM_OK);
  all = failing_calls ();
  CHECK (all > 20);
  for (int64_t n = 0; n < all - last; n += n < 60 ? 1 : 1 + all / 97, tried++)
    {
      QmStatus status;

      error = (QmError){ 0 };
      failing_at (n);
      status = work (device, &error);
      CHECK (status == QM_STATUS_DEVICE || status == QM_STATUS_DEVICE_FULL);
      CHECK_INT (error.status, status);
      CHECK_STRING (error.message, FAILING_MESSAGE);
      failing_check_empty ();
    }
  CHECK (tried > 20);
}

static QmModelConfig config;
static QmRecipe recipe;
static unsigned methods;

static const char config_text[] =
    "{\"model_type\":\"gpt_neox\",\"vocab_size\":96,\"hidden_size\":16,"
    "\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"intermediate_size\":32,\"hidden_act\":\"gelu\","
    "\"max_position_embeddings\":16}";
static const char recipe_text[] =
    "{\"batch_size\":4,\"steps\":10,\"sequence_length\":8,"
    "\"precision\":\"fp16\",\"optimizer\":\"adamw\",\"learning_rate\":0.001,"
    "\"beta1\":0.9,\"beta2\":0.95,\"epsilon\":1e-8,\"weight_decay\":0.01,"
    "\"max_grad_norm\":1.0}";

static QmPlan *
make_plan (void)
{
  QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                            .micro_batch = 2,
                            .methods = methods,
                            .sharding = sharding,
                            .offload = sharding != QM_SHARDING_NONE,
                            .bucket = 512 };
  QmPlan *plan = NULL;

  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  return plan;
}

static QmStatus
do_measure (QmDevice *device, QmError *error)
{
  QmMeasureOptions options = { .repeat = 1,
                               .validate = 2,
                               .profile = sharding == QM_SHARDING_NONE };
  QmMeasureResult result;
  QmPlan *plan = make_plan ();
  QmStatus status = qm_measure (plan, device, &options, &result, error);

  if (status == QM_OK)
    {
      CHECK (!options.profile
             || (result.profile.n > 10 && result.profile.pass > 0));
      qm_measure_result_clear (&result);
    }
  qm_plan_free (plan);
  return status;
}

static bool
on_step (void *data, const QmTrainStep *step)
{
  return true;
}

static QmStatus
do_train (QmDevice *device, QmError *error)
{
  int32_t ids[64];
  QmSamples samples = { .ids = ids, .n = 64 };
  QmTrainOptions options = { .steps = 2,
                             .step = on_step,
                             .out = scratch_path ("out.safetensors") };
  QmPlan *plan = make_plan ();
  QmStatus status;

  for (int i = 0; i < 64; i++)
    ids[i] = i;
  status = qm_train (plan, device, &samples, &options, error);
  if (status == QM_OK)
    CHECK_INT (remove (options.out), 0);
  qm_plan_free (plan);
  return status;
}

static const char *golden;

static QmStatus
do_check (QmDevice *device, QmError *error)
{
  char weights[512], batch[512], out[512];
  QmCheckOptions options = { .config = &config,
                             .precision = QM_PRECISION_FP16,
                             .methods = methods,
                             .weights = weights,
                             .batch = batch,
                             .out = out };
  QmCheckResult result;
  QmStatus status;

  snprintf (weights, sizeof weights, "%s/gpt-neox-parallel.weights.safetensors",
            golden);
  snprintf (batch, sizeof batch, "%s/gpt-neox-parallel.batch.safetensors",
            golden);
  snprintf (out, sizeof out, "%s", scratch_path ("out.safetensors"));
  status = qm_check (&options, device, &result, error);
  if (status == QM_OK)
    CHECK_INT (remove (out), 0);
  return status;
}

static size_t
count_files (const char *path)
{
  DIR *directory = opendir (path);
  size_t n = 0;

  for (struct dirent *entry;
       directory != NULL && (entry = readdir (directory)) != NULL;)
    n += entry->d_name[0] != '.';
  if (directory != NULL)
    closedir (directory);
  return n;
}

static void
read_golden_config (void)
{
  char path[512], text[4096] = "";
  FILE *file;
  size_t n = 0;

  snprintf (path, sizeof path, "%s/gpt-neox-parallel.json", golden);
  file = fopen (path, "rb");
  CHECK (file != NULL);
  if (file != NULL)
    {
      n = fread (text, 1, sizeof text - 1, file);
      fclose (file);
    }
  CHECK_INT (qm_model_config_parse (text, n, path, &config, NULL), QM_OK);
}

int
main (int argc, char **argv)
{
  QmDevice *device = failing_open ();

  if (argc != 2)
    return 2;
  golden = argv[1];
  CHECK_INT (qm_model_config_parse (config_text, strlen (config_text), "",
                                    &config, NULL),
             QM_OK);
  CHECK_INT (qm_recipe_parse (recipe_text, strlen (recipe_text), "", &recipe,
                              NULL),
             QM_OK);
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", NULL), QM_OK);
  scratch_begin ();
  for (methods = 0; methods <= QM_METHOD_ALL; methods += QM_METHOD_ALL)
    {
      check_case ("measure");
      fail_everywhere (device, do_measure);
      check_case ("train");
      fail_everywhere (device, do_train);
    }
  for (int i = QM_SHARDING_ZERO_1; i < QM_N_SHARDINGS; i++)
    {
      sharding = (QmSharding) i;
      methods = i % 2 == 0 ? QM_METHOD_ALL : 0;
      check_case (qm_sharding_name (sharding));
      fail_everywhere (device, do_measure);
      fail_everywhere (device, do_train);
    }
  sharding = QM_SHARDING_NONE;
  methods = QM_METHOD_ALL;
  check_case ("check");
  read_golden_config ();
  fail_everywhere (device, do_check);
  CHECK_INT (count_files (scratch_path (".")), 0);
  scratch_end ();
  failing_close (device);
  return check_report ();
}
