/* SPDX-License-Identifier: Apache-2.0 */

/* What stands in the table of configurations, how it sorts, and as CSV. */

#include "ui/machine/qm-bench-column.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static QmBenchRow *
make_row (const char *text)
{
  json_error_t problem;
  json_t *line = json_loads (text, 0, &problem);
  QmBenchRow *row;

  if (line == NULL)
    g_error ("%s: %s", text, problem.text);
  row = qm_bench_row_new (line, "Tiny, or =small");
  json_decref (line);
  return row;
}

static QmBenchRow *
measured_row (void)
{
  return make_row ("{\"model\": \"tiny\", \"settings\": \"free-lunch\","
                   " \"checkpointing\": true, \"sharding\": \"zero_3\","
                   " \"micro_batch\": 8, \"status\": \"measured\","
                   " \"days\": 34.25, \"step_s\": 1.5, \"mfu\": 0.59,"
                   " \"total_bytes\": 34359738368}");
}

/* Four GPUs that share what one keeps in the memory of the host. */
static QmBenchRow *
shared_row (void)
{
  return make_row ("{\"model\": \"tiny\", \"settings\": \"free-lunch\","
                   " \"checkpointing\": false, \"sharding\": \"zero_3\","
                   " \"offloading\": false, \"gpus\": 4,"
                   " \"micro_batch\": 8, \"status\": \"measured\","
                   " \"days\": 9.5, \"step_s\": 0.4}");
}

static QmBenchRow *
waiting_row (void)
{
  return make_row ("{\"model\": \"tiny\", \"settings\": \"naive\","
                   " \"checkpointing\": false, \"sharding\": \"none\","
                   " \"micro_batch\": 4, \"status\": \"left\","
                   " \"fits\": true}");
}

static void
assert_text (QmBenchRow *row, QmBenchColumn column, const char *expected)
{
  g_autofree char *text = qm_bench_column_text (column, row);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_texts (void)
{
  g_autoptr (QmBenchRow) row = measured_row ();
  g_autoptr (QmBenchRow) waiting = waiting_row ();
  g_autoptr (QmBenchRow) failed =
      make_row ("{\"model\": \"tiny\", \"status\": \"failed\","
                " \"reason\": \"the device was lost\"}");

  assert_text (row, QM_BENCH_COLUMN_METHOD,
               "Free lunch, checkpointing, ZeRO 3 offloading");
  assert_text (row, QM_BENCH_COLUMN_STEP, "1.5");
  assert_text (row, QM_BENCH_COLUMN_MFU, "59\u00a0%");
  assert_text (row, QM_BENCH_COLUMN_MEMORY, "32 GiB");
  assert_text (row, QM_BENCH_COLUMN_STATE, "Measured");
  g_assert_false (qm_bench_column_is_predicted (row));

  /* What is not known is empty; what is predicted says so. */
  assert_text (waiting, QM_BENCH_COLUMN_DAYS, "");
  qm_bench_row_set_predicted (waiting, (QmBenchFigure){ 30, 28.1, 45.6 });
  assert_text (waiting, QM_BENCH_COLUMN_DAYS, "≈ 28 to 46 days");
  g_assert_true (qm_bench_column_is_predicted (waiting));

  assert_text (failed, QM_BENCH_COLUMN_STATE, "Failed: the device was lost");
  g_assert_true (qm_bench_column_is_failure (QM_BENCH_COLUMN_STATE, failed));
  g_assert_false (qm_bench_column_is_failure (QM_BENCH_COLUMN_DAYS, failed));
}

/* How many GPUs there are is a part of what a row is. */
static void
test_several (void)
{
  g_autoptr (QmBenchRow) one = measured_row ();
  g_autoptr (QmBenchRow) four = shared_row ();
  g_autofree char *what = qm_bench_column_describe (four);
  g_autofree char *place = qm_bench_column_place (one);
  json_t *line = json_pack ("{s:s, s:s, s:b, s:i}", "model", "tiny", "sharding",
                            "zero_3", "offloading", 0, "micro_batch", 8);
  g_autofree char *key = qm_bench_row_key (line);
  g_autofree char *others = NULL;

  assert_text (one, QM_BENCH_COLUMN_GPUS, "1");
  assert_text (four, QM_BENCH_COLUMN_GPUS, "4");
  assert_text (four, QM_BENCH_COLUMN_METHOD, "Free lunch, ZeRO 3");
  g_assert_cmpstr (qm_bench_row_get_offloading (four), ==, "none");
  g_assert_cmpstr (qm_bench_row_get_sharding (one), ==, "none");
  g_assert_nonnull (strstr (what, "4 GPUs, Free lunch, ZeRO 3"));
  g_assert_null (strstr (place, "GPU"));
  g_assert_cmpint (
      qm_bench_column_compare (QM_BENCH_COLUMN_GPUS, one, four, FALSE), <, 0);
  json_object_set_new (line, "gpus", json_integer (4));
  others = qm_bench_row_key (line);
  g_assert_cmpstr (key, !=, others);
  json_decref (line);
}

/* Empty cells come last, whichever way it is sorted. */
static void
test_sorting (void)
{
  g_autoptr (QmBenchRow) known = measured_row ();
  g_autoptr (QmBenchRow) unknown = waiting_row ();

  for (int descending = 0; descending < 2; descending++)
    {
      g_assert_cmpint (qm_bench_column_compare (QM_BENCH_COLUMN_DAYS, known,
                                                unknown, descending),
                       <, 0);
      g_assert_cmpint (qm_bench_column_compare (QM_BENCH_COLUMN_DAYS, unknown,
                                                known, descending),
                       >, 0);
      g_assert_cmpint (qm_bench_column_compare (QM_BENCH_COLUMN_MFU, unknown,
                                                unknown, descending),
                       ==, 0);
    }
  g_assert_cmpint (qm_bench_column_compare (QM_BENCH_COLUMN_MICRO_BATCH, known,
                                            unknown, FALSE),
                   >, 0);
  g_assert_cmpint (qm_bench_column_compare (QM_BENCH_COLUMN_MICRO_BATCH, known,
                                            unknown, TRUE),
                   <, 0);
  g_assert_cmpint (qm_bench_column_compare (QM_BENCH_COLUMN_METHOD, known,
                                            unknown, FALSE),
                   <, 0);
}

static void
test_csv (void)
{
  g_autoptr (GListStore) rows = g_list_store_new (QM_TYPE_BENCH_ROW);
  g_autoptr (QmBenchRow) row = measured_row ();
  g_autoptr (QmBenchRow) four = shared_row ();
  g_autoptr (QmBenchRow) bad =
      make_row ("{\"model\": \"=cmd\", \"settings\": \"naive\","
                " \"status\": \"failed\", \"reason\": \"a, \\\"b\\\"\"}");
  g_autofree char *csv = NULL;
  g_auto (GStrv) lines = NULL;

  g_list_store_append (rows, row);
  g_list_store_append (rows, bad);
  g_list_store_append (rows, four);
  csv = qm_bench_column_csv (G_LIST_MODEL (rows));
  lines = g_strsplit (csv, "\r\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 5);
  g_assert_true (g_str_has_prefix (lines[0], "model,settings,"));
  g_assert_cmpstr (
      lines[1], ==,
      "tiny,free-lunch,yes,none,zero_3,1,8,measured,measured,1.5,,,"
      "34.25,,,0.5900,34359738368,");
  g_assert_true (g_str_has_prefix (lines[2], "\"'=cmd\",naive,no,"));
  g_assert_true (g_str_has_suffix (lines[2], ",\"a, \"\"b\"\"\""));
  g_assert_true (
      g_str_has_prefix (lines[3], "tiny,free-lunch,no,zero_3,none,4,8,"));
  g_assert_cmpstr (lines[4], ==, "");
}

static void
test_csv_locale (void)
{
  g_autofree char *before = g_strdup (setlocale (LC_ALL, NULL));

  if (setlocale (LC_ALL, "de_DE.utf8") == NULL)
    {
      g_test_skip ("there is no German locale");
      return;
    }
  test_csv ();
  setlocale (LC_ALL, before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bench-column/texts", test_texts);
  g_test_add_func ("/bench-column/several", test_several);
  g_test_add_func ("/bench-column/sorting", test_sorting);
  g_test_add_func ("/bench-column/csv", test_csv);
  g_test_add_func ("/bench-column/csv-locale", test_csv_locale);
  return g_test_run ();
}
