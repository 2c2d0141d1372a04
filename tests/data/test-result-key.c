/* SPDX-License-Identifier: Apache-2.0 */

/* Which measurement a result is of: GPUs that exchange through the host are
 * another one, CPUs are not; in which type they sum makes none; what was cut
 * takes the place of nothing that was measured. */

#include "data/results.h"
#include "tests/data/check.h"

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
  CHECK (read_sums (",\"sums\":\"fp8\"", sums, &error) == NULL);
  CHECK_CONTAINS (error.message, "'fp8'");
  CHECK (read_sums (",\"sums\":\"fp16\"", sums, &error) == NULL);
  CHECK_CONTAINS (error.message, "sums: is neither fp32 nor the precision");
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
  test_cut ();
  return check_report ();
}
