/* SPDX-License-Identifier: Apache-2.0 */

/* Files are read alike where the decimal point is a comma. */

#include "data/catalog.h"
#include "data/flops.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A locale with a decimal comma, or NULL. */
static const char *
set_comma_locale (void)
{
  static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
                                       "fr_FR.UTF-8", "es_ES.UTF-8",
                                       "pt_BR.UTF-8", "de_DE" };

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (setlocale (LC_ALL, names[i]) != NULL
        && strcmp (localeconv ()->decimal_point, ",") == 0)
      return names[i];
  return NULL;
}

static QmCatalog *
load (void)
{
  QmCatalog *catalog = NULL;
  QmError error;
  size_t n;

  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
         == QM_OK);
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  return catalog;
}

static void
check_same (double a, double b)
{
  CHECK (qm_known (a) == qm_known (b));
  if (qm_known (a))
    CHECK_NEAR (a, b, 0);
}

static void
compare (const QmCatalog *comma, const QmCatalog *point)
{
  size_t n, n_point;
  const QmGpu *a = qm_catalog_gpus (comma, &n);
  const QmGpu *b = qm_catalog_gpus (point, &n_point);
  const QmModel *c, *d;

  CHECK_INT ((int64_t) n, (int64_t) n_point);
  for (size_t i = 0; i < n; i++)
    {
      check_same (a[i].memory_gib, b[i].memory_gib);
      check_same (a[i].fp16_tflops, b[i].fp16_tflops);
      check_same (a[i].fp32_tflops, b[i].fp32_tflops);
      check_same (a[i].nvlink_gbs, b[i].nvlink_gbs);
    }
  c = qm_catalog_models (comma, &n);
  d = qm_catalog_models (point, &n_point);
  CHECK_INT ((int64_t) n, (int64_t) n_point);
  for (size_t i = 0; i < n; i++)
    {
      check_same (c[i].recipe.learning_rate, d[i].recipe.learning_rate);
      check_same (c[i].recipe.beta2, d[i].recipe.beta2);
      check_same (c[i].recipe.dropout, d[i].recipe.dropout);
      check_same (qm_flops_train (&c[i].config, &c[i].recipe),
                  qm_flops_train (&d[i].config, &d[i].recipe));
    }
}

int
main (void)
{
  QmCatalog *comma, *point = load ();
  double value = 0;

  if (set_comma_locale () == NULL)
    {
      printf ("no locale with a decimal comma is installed\n");
      qm_catalog_free (point);
      return CHECK_SKIPPED;
    }
  comma = load ();
  compare (comma, point);
  CHECK_NEAR (qm_catalog_gpu (comma, "rtx3090")->nvlink_gbs, 56.25, 0);
  CHECK_NEAR (qm_catalog_model (comma, "pythia-1b")->recipe.beta2, 0.95, 0);
  CHECK (qm_number_parse ("1.5", &value));
  CHECK_NEAR (value, 1.5, 0);
  CHECK (!qm_number_parse ("1,5", &value));
  CHECK_STRING (localeconv ()->decimal_point, ",");
  qm_catalog_free (comma);
  qm_catalog_free (point);
  return check_report ();
}
