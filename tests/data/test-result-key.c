/* SPDX-License-Identifier: Apache-2.0 */

/* Which measurement a result is of: GPUs that exchange through the host are
 * another one, CPUs are not; in which type they sum makes none; what was cut
 * takes the place of nothing that was measured. */

#include "data/result-terms.h"
#include "data/results.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
test_transport (void)
{
  QmResult a = qm_result_nothing (), b = qm_result_nothing ();
  char keys[2][QM_RESULT_KEY_BYTES];

  a.gpus = b.gpus = 2;
  a.transport = "nccl";
  b.transport = "host";
  for (int architecture = 0; architecture < 100; architecture += 90)
    {
      a.architecture = b.architecture = architecture;
      CHECK (qm_result_key (&a, keys[0]) && qm_result_key (&b, keys[1]));
      CHECK ((strcmp (keys[0], keys[1]) == 0) == (architecture == 0));
    }
  /* Older lines do not say. */
  a.transport = "";
  b.transport = "nccl";
  CHECK (qm_result_key (&a, keys[0]) && qm_result_key (&b, keys[1]));
  CHECK_STRING (keys[0], keys[1]);
}

/* Reads a line that ends so; its type of sums, or NULL, and why in `error`. */
static const char *
read_sums (const char *end, char sums[8], QmError *error)
{
  char text[1024];
  size_t n, whole;
  QmResults *results = qm_results_new ();
  const QmResult *list;
  const char *found = NULL;

  snprintf (text, sizeof text,
            "{\"schema\":1,\"status\":\"cut\",\"reason\":\"slow\","
            "\"time\":\"2026-11-21T06:40:00Z\",\"model\":\"tiny\","
            "\"model_key\":\"0123456789abcdef\",\"device\":{\"name\":\"H200\"},"
            "\"engine\":\"quartermaster\",\"version\":\"0.1.0\",\"gpus\":2,"
            "\"settings\":\"naive\",\"checkpointing\":false,"
            "\"sharding\":\"zero_2\",\"offloading\":false,"
            "\"precision\":\"bf16\",\"micro_batch\":8%s}\n",
            end);
  if (qm_results_parse (results, text, strlen (text), "r", &whole, error)
      == QM_OK)
    {
      list = qm_results_list (results, &n);
      CHECK_INT ((int64_t) n, 1);
      CHECK (strstr (list[0].key, "fp32") == NULL);
      found = strcpy (sums, list[0].sums);
    }
  qm_results_free (results);
  return found;
}

/* Older lines do not say in which type sums were made. */
static void
test_sums (void)
{
  QmError error = { 0 };
  char sums[8];

  CHECK_STRING (read_sums ("", sums, &error), "");
  CHECK_STRING (read_sums (",\"sums\":null", sums, &error), "");
  CHECK_STRING (read_sums (",\"sums\":\"fp32\"", sums, &error), "fp32");
  CHECK_STRING (read_sums (",\"sums\":\"bf16\"", sums, &error), "bf16");
  CHECK (read_sums (",\"sums\":\"fp4\"", sums, &error) == NULL);
  CHECK_CONTAINS (error.message, "'fp4'");
  CHECK (read_sums (",\"sums\":\"fp8\"", sums, &error) == NULL);
  CHECK_CONTAINS (error.message, "sums: is neither fp32 nor the precision");
  CHECK (read_sums (",\"sums\":\"fp16\"", sums, &error) == NULL);
  CHECK_CONTAINS (error.message, "sums: is neither fp32 nor the precision");
}

/* One line of a training in FP8, with what else it says of it. */
static QmStatus
read_line_of_fp8 (const char *end, QmError *error)
{
  char text[1024];
  size_t n, whole;
  QmResults *results = qm_results_new ();
  const QmResult *list;
  QmStatus status;

  snprintf (text, sizeof text,
            "{\"schema\":1,\"status\":\"cut\",\"reason\":\"slow\","
            "\"time\":\"2026-11-21T06:40:00Z\",\"model\":\"tiny\","
            "\"model_key\":\"0123456789abcdef\",\"device\":{\"name\":\"H200\"},"
            "\"engine\":\"quartermaster\",\"version\":\"0.1.0\",\"gpus\":2,"
            "\"settings\":\"naive\",\"checkpointing\":false,"
            "\"sharding\":\"zero_2\",\"offloading\":false,"
            "\"precision\":\"fp8\",\"micro_batch\":8%s}\n",
            end);
  status = qm_results_parse (results, text, strlen (text), "r", &whole, error);
  if (status == QM_OK)
    {
      list = qm_results_list (results, &n);
      CHECK_INT ((int64_t) n, 1);
      CHECK_STRING (list[0].precision, "fp8");
      CHECK_STRING (list[0].fp8_scales, "row");
      CHECK_STRING (list[0].fp8_amax, "current");
      CHECK_STRING (list[0].fp8_gradients, "e4m3");
    }
  qm_results_free (results);
  return status;
}

/* A line says how, and its gradients are summed in fp32 or in bf16. */
static void
test_fp8 (void)
{
#define HOW                                           \
  ",\"fp8_scales\":\"row\",\"fp8_amax\":\"current\"," \
  "\"fp8_gradients\":\"e4m3\""
  QmError error = { 0 };

  check_case ("fp8");
  CHECK_INT (read_line_of_fp8 (HOW, &error), QM_OK);
  CHECK_INT (read_line_of_fp8 (HOW ",\"sums\":\"bf16\"", &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK (read_line_of_fp8 (HOW ",\"sums\":\"fp8\"", &error) != QM_OK);
  CHECK_CONTAINS (error.message, "sums: is neither");
  CHECK (read_line_of_fp8 ("", &error) != QM_OK);
  CHECK_CONTAINS (error.message, "fp8_scales: is missing");
  CHECK (read_line_of_fp8 (",\"fp8_scales\":\"row\",\"fp8_amax\":\"delayed\","
                           "\"fp8_gradients\":\"e4m3\"",
                           &error)
         != QM_OK);
  CHECK_CONTAINS (error.message, "fp8_amax: is not delayed");
#undef HOW
}

/* The part of the peak is what a line says, whatever the precision. */
static void
test_part_of_peak (void)
{
  static const char *const precisions[] = {
    "bf16", "fp8\",\"fp8_scales\":\"tensor\",\"fp8_amax\":\"delayed\","
            "\"fp8_gradients\":\"e5m2"
  };

  check_case ("a part of the peak");
  for (int i = 0; i < 2; i++)
    {
      QmResults *results = qm_results_new ();
      const QmResult *list;
      QmError error = { 0 };
      size_t n, whole;
      char text[1024];

      snprintf (
          text, sizeof text,
          "{\"schema\":1,\"status\":\"measured\","
          "\"time\":\"2026-11-21T06:40:00Z\",\"model\":\"tiny\","
          "\"model_key\":\"0123456789abcdef\",\"device\":{\"name\":\"H200\"},"
          "\"engine\":\"quartermaster\",\"version\":\"0.1.0\",\"gpus\":1,"
          "\"settings\":\"naive\",\"checkpointing\":false,"
          "\"sharding\":\"none\",\"offloading\":false,"
          "\"micro_batch\":8,\"days\":2,\"step\":{\"mean_s\":1},\"mfu\":0.5,"
          "\"precision\":\"%s\"}\n",
          precisions[i]);
      CHECK_INT (qm_results_parse (results, text, strlen (text), "r", &whole,
                                   &error),
                 QM_OK);
      CHECK_STRING (error.message, "");
      list = qm_results_list (results, &n);
      CHECK (n == 1 && list[0].mfu == 0.5);
      qm_results_free (results);
    }
}

/* A line without a key is believed, but not that FP8 is another precision. */
static void
test_without_key (void)
{
  QmResult result = qm_result_nothing ();
  QmModel model = { 0 };

  check_case ("no key");
  result.precision = "bf16";
  model.recipe.precision = QM_PRECISION_BF16;
  CHECK (qm_result_is_of_model (&result, &model));
  model.recipe.precision = QM_PRECISION_FP8;
  CHECK (!qm_result_is_of_model (&result, &model));
  result.precision = "fp8";
  CHECK (qm_result_is_of_model (&result, &model));
  model.recipe.precision = QM_PRECISION_BF16;
  CHECK (!qm_result_is_of_model (&result, &model));
}

static void
test_cut (void)
{
  QmResult a = qm_result_nothing (), b = qm_result_nothing ();

  CHECK_STRING (qm_result_status_name (QM_RESULT_CUT), "cut");
  a.status = QM_RESULT_CUT;
  b.status = QM_RESULT_MEASURED;
  a.time = "2026-11-22T00:00:00Z";
  b.time = "2026-11-21T00:00:00Z";
  CHECK (!qm_result_replaces (&a, &b));
  CHECK (qm_result_replaces (&b, &a));
  b.status = QM_RESULT_FAILED;
  CHECK (qm_result_replaces (&a, &b));
}

int
main (void)
{
  test_transport ();
  test_sums ();
  test_fp8 ();
  test_part_of_peak ();
  test_without_key ();
  test_cut ();
  return check_report ();
}
