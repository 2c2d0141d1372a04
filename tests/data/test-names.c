/* SPDX-License-Identifier: Apache-2.0 */

/* Suggestions for names that do not exist, and words of files. */

#include "data/catalog.h"
#include "tests/data/check.h"

#include <string.h>

#define N(array) (sizeof (array) / sizeof (array)[0])

static const char *const gpus[] = { "rtx3090",
                                    "rtx3090-ti",
                                    "a6000",
                                    "a100-40gb-sxm",
                                    "a100-80gb-pcie",
                                    "a100-80gb-sxm",
                                    "h100-80gb-pcie",
                                    "h100-80gb-sxm",
                                    "l4",
                                    "l40s" };
static const char *const models[] = { "pythia-160m", "pythia-1b", "pythia-410m",
                                      "vit-large" };

static void
test_nearest (void)
{
  CHECK_STRING (qm_nearest_name ("rtx3009", gpus, N (gpus)), "rtx3090");
  CHECK_STRING (qm_nearest_name ("RTX 3090", gpus, N (gpus)), "rtx3090");
  CHECK_STRING (qm_nearest_name ("3090", gpus, N (gpus)), "rtx3090");
  CHECK_STRING (qm_nearest_name ("h100", gpus, N (gpus)), "h100-80gb-sxm");
  CHECK_STRING (qm_nearest_name ("a100-80gb-smx", gpus, N (gpus)),
                "a100-80gb-sxm");
  CHECK_STRING (qm_nearest_name ("a60000", gpus, N (gpus)), "a6000");
  CHECK_STRING (qm_nearest_name ("pythia-1", models, N (models)), "pythia-1b");
  CHECK_STRING (qm_nearest_name ("pythia1b", models, N (models)), "pythia-1b");
  CHECK_STRING (qm_nearest_name ("vit", models, N (models)), "vit-large");
  CHECK_STRING (qm_nearest_name ("tiv-large", models, N (models)), "vit-large");
  CHECK (qm_nearest_name ("quadro", gpus, N (gpus)) == NULL);
  CHECK (qm_nearest_name ("", gpus, N (gpus)) == NULL);
  CHECK (qm_nearest_name ("x", models, N (models)) == NULL);
  CHECK (qm_nearest_name ("rtx3090", NULL, 0) == NULL);
}

/* Of names that are equally near, the first. */
static void
test_equally_near (void)
{
  static const char *const names[] = { "l40", "l20", "l4x", "l4y" };

  CHECK_STRING (qm_nearest_name ("l30", names, 4), "l40");
  CHECK_STRING (qm_nearest_name ("l30", names + 1, 3), "l20");
  CHECK_STRING (qm_nearest_name ("l4z", names + 1, 3), "l4x");
}

static void
test_long_names (void)
{
  char word[70] = "", longest[66] = "";
  const char *const names[] = { longest };

  memset (word, 'a', 69);
  memset (longest, 'a', 65);
  CHECK (qm_nearest_name (word, gpus, N (gpus)) == NULL);
  word[64] = '\0';
  CHECK (qm_nearest_name (word, names, 1) == NULL);
  longest[64] = '\0';
  CHECK (qm_nearest_name (word, names, 1) == longest);
}

static void
test_words (void)
{
  CHECK_STRING (qm_price_kind_name (QM_PRICE_PUBLISHED), "published");
  CHECK_STRING (qm_price_kind_name (QM_PRICE_CLOUD), "cloud");
  CHECK_STRING (qm_price_unit_name (QM_PRICE_HOUR), "hour");
  CHECK_STRING (qm_machine_kind_name (QM_MACHINE_SERVER), "server");
  CHECK_STRING (qm_provenance_name (QM_PROVENANCE_PREDICTED), "predicted");
  CHECK_STRING (qm_settings_name (QM_SETTINGS_NAIVE), "naive");
  CHECK_STRING (qm_feasibility_name (QM_ILLEGIBLE), "illegible");
  CHECK_STRING (qm_family_name (QM_FAMILY_MAMBA), "mamba");
  CHECK_STRING (qm_precision_name (QM_PRECISION_BF16), "bf16");
  CHECK_STRING (qm_optimizer_name (QM_OPTIMIZER_ADAMW), "adamw");
  CHECK_STRING (qm_optimizer_name (QM_OPTIMIZER_LAMB), "lamb");
  CHECK_STRING (qm_optimizer_name (QM_OPTIMIZER_MUON), "muon");
  CHECK_STRING (qm_muon_scale_name (QM_MUON_SCALE_JORDAN), "jordan");
  CHECK_STRING (qm_muon_scale_name (QM_MUON_SCALE_MOONSHOT), "moonshot");
}

int
main (void)
{
  test_nearest ();
  test_equally_near ();
  test_long_names ();
  test_words ();
  return check_report ();
}
