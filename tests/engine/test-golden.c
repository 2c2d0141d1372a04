/* SPDX-License-Identifier: Apache-2.0 */

/* Loss and gradients against those of Transformers, for every family and
 * setting.  usage: test-golden FOLDER */

#include "data/text.h"
#include "engine/check.h"
#include "engine/plan.h"
#include "engine/safetensors.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOSS_TOLERANCE     1e-5
#define GRADIENT_TOLERANCE 1e-4

/* A gradient that is zero but for rounding, as that of the bias of keys is, is
 * held against the largest gradient of the model. */
#define ROUNDING 4e-8

typedef struct Golden
{
  QmSafetensors *ours, *theirs;
  double largest; /* L2 norm of the largest gradient */
} Golden;

static float *
load (QmSafetensors *file, const QmStoredTensor *tensor)
{
  float *values = malloc ((size_t) (tensor->elements + 1) * sizeof *values);

  if (values != NULL
      && qm_safetensors_read_floats (file, tensor, values, NULL) != QM_OK)
    {
      free (values);
      return NULL;
    }
  return values;
}

static double
norm (const float *a, const float *b, int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++)
    {
      double difference = (double) a[i] - (b != NULL ? b[i] : 0);

      sum += difference * difference;
    }
  return sqrt (sum);
}

static void
find_largest (Golden *golden)
{
  size_t n;
  const QmStoredTensor *all = qm_safetensors_all (golden->theirs, &n);

  for (size_t i = 0; i < n; i++)
    {
      float *values = load (golden->theirs, &all[i]);

      CHECK (values != NULL);
      if (values != NULL && all[i].rank > 0)
        golden->largest =
            fmax (golden->largest, norm (values, NULL, all[i].elements));
      free (values);
    }
}

static void
compare_tensor (const Golden *golden, const QmStoredTensor *theirs)
{
  const QmStoredTensor *ours = qm_safetensors_find (golden->ours, theirs->name);
  float *a, *b;

  CHECK (ours != NULL);
  if (ours == NULL)
    return;
  CHECK (qm_stored_has_shape (ours, theirs->rank, theirs->shape));
  if (ours->elements != theirs->elements)
    return;
  a = load (golden->ours, ours);
  b = load (golden->theirs, theirs);
  CHECK (a != NULL && b != NULL);
  if (a != NULL && b != NULL)
    {
      double size = norm (b, NULL, theirs->elements);
      double difference = norm (a, b, theirs->elements);
      double allowed =
          strcmp (theirs->name, "loss") == 0
              ? LOSS_TOLERANCE * size
              : fmax (GRADIENT_TOLERANCE * size, ROUNDING * golden->largest);

      if (!(difference <= allowed))
        printf ("%s: %g of %g, allowed %g\n", theirs->name, difference, size,
                allowed);
      CHECK (difference <= allowed);
    }
  free (a);
  free (b);
}

static void
compare (const char *ours, const char *theirs)
{
  Golden golden = { NULL };
  const QmStoredTensor *all;
  size_t n, n_ours;

  CHECK_INT (qm_safetensors_open (ours, &golden.ours, NULL), QM_OK);
  CHECK_INT (qm_safetensors_open (theirs, &golden.theirs, NULL), QM_OK);
  if (golden.ours != NULL && golden.theirs != NULL)
    {
      find_largest (&golden);
      all = qm_safetensors_all (golden.theirs, &n);
      qm_safetensors_all (golden.ours, &n_ours);
      CHECK_INT (n_ours, n);
      for (size_t i = 0; i < n; i++)
        compare_tensor (&golden, &all[i]);
    }
  qm_safetensors_close (golden.ours);
  qm_safetensors_close (golden.theirs);
}

static void
read_config (const char *path, QmModelConfig *config)
{
  char *text = NULL;
  size_t length = 0;

  CHECK_INT (qm_text_read_file (path, &text, &length, NULL), QM_OK);
  if (text != NULL)
    CHECK_INT (qm_model_config_parse (text, length, path, config, NULL), QM_OK);
  free (text);
}

static void
test_model (const char *folder,
            const char *model,
            const char *settings,
            QmDevice *device)
{
  static const char *const endings[4] = { "json", "weights.safetensors",
                                          "batch.safetensors",
                                          "golden.safetensors" };
  char name[64], paths[4][512];
  QmModelConfig config = { 0 };
  QmCheckOptions options = { .config = &config,
                             .precision = QM_PRECISION_FP32,
                             .out = scratch_path ("out.safetensors") };
  QmCheckResult result;
  QmError error = { 0 };

  snprintf (name, sizeof name, "%s, %s", model, settings);
  check_case (name);
  for (int i = 0; i < 4; i++)
    snprintf (paths[i], sizeof paths[i], "%s/%s.%s", folder, model, endings[i]);
  options.weights = paths[1];
  options.batch = paths[2];
  CHECK (qm_methods_parse (settings, &options.methods));
  read_config (paths[0], &config);
  CHECK_INT (qm_check (&options, device, &result, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (result.unused, 0);
  compare (options.out, paths[3]);
}

/* The batch of a model with another first label, as batch.safetensors. */
static void
write_batch (const char *path, int64_t label)
{
  static char bytes[65536];
  QmSafetensors *file = NULL;
  const QmStoredTensor *labels = NULL;
  FILE *stream = fopen (path, "rb");
  size_t n = stream != NULL ? fread (bytes, 1, sizeof bytes, stream) : 0;

  CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
  if (file != NULL)
    labels = qm_safetensors_find (file, "labels");
  CHECK (n < sizeof bytes && labels != NULL);
  if (labels != NULL)
    {
      CHECK_STRING (labels->type, "I64");
      memcpy (bytes + labels->begin, &label, sizeof label);
    }
  scratch_write ("batch.safetensors", bytes, n);
  qm_safetensors_close (file);
  if (stream != NULL)
    fclose (stream);
}

/* Of the labels below zero only the one that is ignored is one. */
static void
test_label (const char *folder, QmDevice *device, int64_t label, bool good)
{
  static const char *const endings[3] = { "json", "weights.safetensors",
                                          "batch.safetensors" };
  char paths[3][512], batch[512], out[512];
  QmModelConfig config = { 0 };
  QmCheckOptions options = { .config = &config,
                             .precision = QM_PRECISION_FP32,
                             .weights = paths[1],
                             .batch = batch,
                             .out = out };
  QmCheckResult result;
  QmError error = { 0 };

  check_case ("labels");
  for (int i = 0; i < 3; i++)
    snprintf (paths[i], sizeof paths[i], "%s/bert.%s", folder, endings[i]);
  snprintf (batch, sizeof batch, "%s", scratch_path ("batch.safetensors"));
  snprintf (out, sizeof out, "%s", scratch_path ("out.safetensors"));
  read_config (paths[0], &config);
  write_batch (paths[2], label);
  CHECK_INT (qm_check (&options, device, &result, &error),
             good ? QM_OK : QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, good ? "" : "label");
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "gpt-neox-parallel",
                                        "gpt-neox-sequential",
                                        "bert",
                                        "roberta",
                                        "vit",
                                        "vit-mae",
                                        "vit-mae-half",
                                        "vit-mae-normed",
                                        "dit",
                                        "dit-plain",
                                        "dit-older",
                                        "clip",
                                        "clip-older",
                                        "siglip",
                                        "siglip-alike",
                                        "convnext",
                                        "mamba",
                                        "mamba-biased",
                                        "mamba2",
                                        "mamba2-limited",
                                        "llama",
                                        "llama-linear",
                                        "mistral",
                                        "mistral-wide",
                                        "qwen2",
                                        "qwen2-yarn",
                                        "qwen3",
                                        "qwen3-grouped",
                                        "olmo2",
                                        "olmo3",
                                        "smollm3",
                                        "gemma3",
                                        "gemma3-capped",
                                        "gpt2",
                                        "gpt2-relu2",
                                        "gpt2-scaled",
                                        "starcoder2",
                                        "starcoder2-wide",
                                        "starcoder2-yarn",
                                        "modernbert",
                                        "modernbert-long",
                                        "modernbert-wide",
                                        "esm",
                                        "esm-normed",
                                        "olmoe",
                                        "olmoe-packed",
                                        "qwen3-moe",
                                        "qwen3-moe-sparse",
                                        "mixtral",
                                        "mixtral-wide",
                                        "dinov2",
                                        "dinov2-gated",
                                        "dinov2-registers",
                                        "dinov3",
                                        "dinov3-gated",
                                        "dinov2-pair",
                                        "dinov2-pair-hidden",
                                        "dinov2-pair-registers",
                                        "dinov3-pair",
                                        "gpt2-unscaled",
                                        "bert-untied",
                                        "roberta-untied",
                                        "qwen2-tied",
                                        "olmo2-biased",
                                        "olmo3-unbiased",
                                        "smollm3-unbiased",
                                        "olmoe-tied",
                                        "qwen3-moe-biased",
                                        "vit-unbiased",
                                        "dinov2-unbiased",
                                        "dinov3-unbiased" };
  static const char *const settings[] = { "naive", "kernels", "compile", "tf32",
                                          "free-lunch" };
  QmDevice *device = NULL;

  CHECK_INT (argc, 2);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (argc != 2 || device == NULL)
    return check_report ();
  scratch_begin ();
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    for (size_t j = 0; j < sizeof settings / sizeof settings[0]; j++)
      test_model (argv[1], models[i], settings[j], device);
  test_label (argv[1], device, QM_IGNORE_LABEL, true);
  test_label (argv[1], device, -1, false);
  test_label (argv[1], device, QM_IGNORE_LABEL + 1, false);
  test_label (argv[1], device, QM_IGNORE_LABEL - 1, false);
  scratch_end ();
  qm_device_close (device);
  return check_report ();
}
