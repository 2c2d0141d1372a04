/* SPDX-License-Identifier: Apache-2.0 */

/* Loss and gradients against those of Transformers, for every family and
 * setting.  usage: test-golden FOLDER */

#include "data/text.h"
#include "engine/check.h"
#include "engine/plan.h"
#include "engine/safetensors.h"
#include "tests/engine/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOSS_TOLERANCE     1e-5
#define GRADIENT_TOLERANCE 1e-4

typedef struct Golden
{
  QmTest *test;
  const char *name; /* of the case, for messages */
  QmSafetensors *ours, *theirs;
} Golden;

static float *
load (QmSafetensors *file, const QmStoredTensor *tensor)
{
  float *values = malloc ((size_t) (tensor->elements + 1) * sizeof *values);

  if (qm_safetensors_read_floats (file, tensor, values, NULL) != QM_OK)
    {
      free (values);
      return NULL;
    }
  return values;
}

static void
compare_tensor (const Golden *golden, const QmStoredTensor *theirs)
{
  const QmStoredTensor *ours = qm_safetensors_find (golden->ours, theirs->name);
  double difference = 0, size = 0, error;
  float *a, *b;

  if (!QM_CHECK (golden->test, ours != NULL, "%s: no %s", golden->name,
                 theirs->name)
      || !QM_CHECK (golden->test,
                    qm_stored_has_shape (ours, theirs->rank, theirs->shape),
                    "%s: shape of %s", golden->name, theirs->name))
    return;
  a = load (golden->ours, ours);
  b = load (golden->theirs, theirs);
  for (int64_t i = 0; a != NULL && b != NULL && i < theirs->elements; i++)
    {
      difference += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
      size += (double) b[i] * b[i];
    }
  error = sqrt (difference / (size > 0 ? size : 1));
  QM_CHECK (golden->test,
            a != NULL && b != NULL
                && error < (theirs->rank == 0 ? LOSS_TOLERANCE
                                              : GRADIENT_TOLERANCE),
            "%s: %s differs by %g (%g)", golden->name, theirs->name, error,
            sqrt (size));
  free (a);
  free (b);
}

static void
compare (Golden *golden, const char *ours, const char *theirs)
{
  QmError error = { 0 };
  const QmStoredTensor *all;
  size_t n, n_ours;

  if (QM_CHECK (golden->test,
                qm_safetensors_open (ours, &golden->ours, &error) == QM_OK
                    && qm_safetensors_open (theirs, &golden->theirs, &error)
                           == QM_OK,
                "%s: %s", golden->name, error.message))
    {
      all = qm_safetensors_all (golden->theirs, &n);
      qm_safetensors_all (golden->ours, &n_ours);
      QM_CHECK (golden->test, n == n_ours, "%s: %zu tensors, not %zu",
                golden->name, n_ours, n);
      for (size_t i = 0; i < n; i++)
        compare_tensor (golden, &all[i]);
    }
  qm_safetensors_close (golden->ours);
  qm_safetensors_close (golden->theirs);
}

static bool
read_config (const char *path, QmModelConfig *config, QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, error);

  if (status != QM_OK)
    return false;
  status = qm_model_config_parse (text, length, path, config, error);
  free (text);
  return status == QM_OK;
}

static void
test_model (QmTest *test,
            const char *folder,
            const char *model,
            const char *settings,
            QmDevice *device)
{
  char name[64], paths[4][512], out[] = "/tmp/qm-golden-XXXXXX";
  static const char *const endings[4] = { "json", "weights.safetensors",
                                          "batch.safetensors",
                                          "golden.safetensors" };
  Golden golden = { .test = test, .name = name };
  QmModelConfig config;
  QmCheckOptions options = { .config = &config,
                             .precision = QM_PRECISION_FP32,
                             .out = out };
  QmCheckResult result;
  QmError error = { 0 };
  int file = mkstemp (out);

  snprintf (name, sizeof name, "%s, %s", model, settings);
  for (int i = 0; i < 4; i++)
    snprintf (paths[i], sizeof paths[i], "%s/%s.%s", folder, model, endings[i]);
  options.weights = paths[1];
  options.batch = paths[2];
  if (QM_CHECK (test,
                file >= 0 && qm_methods_parse (settings, &options.methods),
                "%s: settings", name)
      && QM_CHECK (test, read_config (paths[0], &config, &error), "%s: %s",
                   name, error.message)
      && QM_CHECK (test, qm_check (&options, device, &result, &error) == QM_OK,
                   "%s: %s", name, error.message))
    {
      QM_CHECK (test, result.unused == 0, "%s: %s is not used", name,
                result.first_unused);
      compare (&golden, out, paths[3]);
    }
  close (file);
  unlink (out);
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "gpt-neox-parallel",
                                        "gpt-neox-sequential", "bert",
                                        "roberta", "vit" };
  static const char *const settings[] = { "naive", "kernels", "compile", "tf32",
                                          "free-lunch" };
  QmTest test = { 0 };
  QmDevice *device;
  QmError error = { 0 };

  if (argc != 2
      || !QM_CHECK (&test, qm_device_open ("cpu", &device, &error) == QM_OK,
                    "%s", error.message))
    return 1;
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    for (size_t j = 0; j < sizeof settings / sizeof settings[0]; j++)
      test_model (&test, argv[1], models[i], settings[j], device);
  qm_device_close (device);
  return qm_test_end (&test);
}
