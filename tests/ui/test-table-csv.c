/* SPDX-License-Identifier: Apache-2.0 */

/* The table as CSV against text written down here, in the user's locale and in
 * one with decimal commas. */

#include "ui/advisor/qm-table-csv.h"

#include <locale.h>
#include <string.h>

#define HEADER                                                         \
  "model,gpu,gpus,machine,machines,cost_usd,days,experiment_cost_usd," \
  "implied_utilization,verdict,recommended,provenance,source,"         \
  "engine,engine_version,measured_on,days_low,days_high,"              \
  "gpu_price_usd,gpu_price_date,machine_price_usd,machine_price_date," \
  "price_usd,use_gpu_hour_usd,use_walltime_hours\r\n"

static const QmGpu gpu = { .id = "rtx3090", .name = "GeForce RTX 3090" };
static const QmMachine machine = { .id = "server-8gpu", .name = "Server" };

static const QmMeasurement measurement = {
  .gpu = &gpu,
  .provenance = QM_PROVENANCE_PUBLISHED,
  .engine_version = "",
  .days_low = NAN,
  .days_high = NAN,
  .source = "arXiv 2410.23261, table 1",
};

static const QmPrice gpu_price = {
  .currency = "USD",
  .micros = 1300 * (gint64) QM_MICROS_PER_UNIT,
  .observed_on = { 2024, 9, 21 },
};

static const QmPrice machine_price = {
  .currency = "USD",
  .micros = 10499990000,
  .observed_on = { 2024, 9, 0 },
};

static QmCandidate
full_candidate (void)
{
  return (QmCandidate){
    .gpu = &gpu,
    .gpus = 8,
    .machine = &machine,
    .machines = 1,
    .price_minor = 1979999,
    .cost_minor = 2089999,
    .days = 29.5,
    .experiment_cost = 344.123,
    .implied_utilization = 1.19314,
    .verdict = QM_VERDICT_IMPOSSIBLE,
    .measurement = &measurement,
    .gpu_price = &gpu_price,
    .machine_price = &machine_price,
  };
}

static void
expect (const QmTableRow *rows, guint n, const char *expected)
{
  g_autofree char *csv = qm_table_csv (rows, n);
  g_autofree char *all = g_strconcat (HEADER, expected, NULL);

  g_assert_cmpstr (csv, ==, all);
}

static void
test_empty (void)
{
  expect (NULL, 0, "");
}

static void
test_full (void)
{
  QmCandidate candidate = full_candidate ();
  QmTableRow row = { "pythia-1b", &candidate, TRUE };

  expect (&row, 1,
          "pythia-1b,rtx3090,8,server-8gpu,1,20899.99,29.5,344.12,1.1931,"
          "impossible,yes,published,\"arXiv 2410.23261, table 1\",,,,,,"
          "1300.00,2024-09-21,10499.99,2024-09,19799.99,,\r\n");
}

/* Whose time it is and when it was taken, and the interval of a predicted one.
 */
static void
test_engine (void)
{
  QmCandidate candidate = full_candidate ();
  QmMeasurement m = measurement;
  QmTableRow row = { "pythia-1b", &candidate, TRUE };

  m.provenance = QM_PROVENANCE_PREDICTED;
  m.engine = QM_ENGINE_PYTORCH;
  m.engine_version = "torch 2.11.0, cuda 13.0";
  m.measured_on = (QmDate){ 2026, 11, 21 };
  m.days_low = 25.25;
  m.days_high = 31;
  m.source = "f";
  candidate.measurement = &m;
  candidate.predicted = TRUE;
  candidate.days_low = m.days_low;
  candidate.days_high = m.days_high;
  expect (
      &row, 1,
      "pythia-1b,rtx3090,8,server-8gpu,1,20899.99,29.5,344.12,1.1931,"
      "impossible,yes,predicted,f,pytorch,\"torch 2.11.0, cuda 13.0\","
      "2026-11-21,25.25,31,1300.00,2024-09-21,10499.99,2024-09,19799.99,,\r\n");
}

static void
test_unknown (void)
{
  QmCandidate candidate = full_candidate ();
  QmTableRow row = { "pythia-1b", &candidate, FALSE };
  QmPrice undated = gpu_price;

  undated.observed_on = (QmDate){ 0, 0, 0 };
  candidate.machine = NULL;
  candidate.price_minor = -1;
  candidate.cost_minor = -1;
  candidate.days = NAN;
  candidate.experiment_cost = NAN;
  candidate.implied_utilization = NAN;
  candidate.verdict = QM_VERDICT_UNKNOWN;
  candidate.measurement = NULL;
  candidate.gpu_price = &undated;
  candidate.machine_price = NULL;
  expect (&row, 1,
          "pythia-1b,rtx3090,8,,1,,,,,unknown,no,,,,,,,,1300.00,,,,,,\r\n");
}

/* What is used instead of bought says so, and on which terms. */
static void
test_use (void)
{
  QmUse use = { (char *) "rtx3090", 8, 62500, 24.5 };
  QmCandidate candidate = full_candidate ();
  QmTableRow row = { "pythia-1b", &candidate, FALSE };

  candidate.machine = NULL;
  candidate.gpu_price = NULL;
  candidate.machine_price = NULL;
  candidate.price_minor = 0;
  candidate.cost_minor = 35400;
  candidate.here = TRUE;
  candidate.use = &use;
  expect (&row, 1,
          "pythia-1b,rtx3090,8,,1,354.00,29.5,344.12,1.1931,impossible,no,"
          "published,\"arXiv 2410.23261, table 1\",,,,,,,,,,0.00,0.0625,"
          "24.5\r\n");
  use.hour_micros = 0;
  use.walltime_hours = NAN;
  candidate.cost_minor = 0;
  expect (&row, 1,
          "pythia-1b,rtx3090,8,,1,0.00,29.5,344.12,1.1931,impossible,no,"
          "published,\"arXiv 2410.23261, table 1\",,,,,,,,,,0.00,0,\r\n");
}

static void
test_quotes (void)
{
  QmCandidate candidate = full_candidate ();
  QmMeasurement quoted = measurement;
  QmTableRow row = { "a \"large\" model", &candidate, FALSE };

  quoted.source = "two\nlines";
  candidate.measurement = &quoted;
  expect (&row, 1,
          "\"a \"\"large\"\" model\",rtx3090,8,server-8gpu,1,20899.99,29.5,"
          "344.12,1.1931,impossible,no,published,\"two\nlines\",,,,,,"
          "1300.00,2024-09-21,10499.99,2024-09,19799.99,,\r\n");
}

/* What a spreadsheet would run. */
static void
test_formulas (void)
{
  static const char *const formulas[] = { "=1+1",     "+1",   "-1",
                                          "@SUM(A1)", "\t=1", "\r=1" };
  QmCandidate candidate = full_candidate ();

  for (gsize i = 0; i < G_N_ELEMENTS (formulas); i++)
    {
      QmTableRow row = { formulas[i], &candidate, FALSE };
      g_autofree char *csv = qm_table_csv (&row, 1);
      g_autofree char *cell = g_strdup_printf ("\"'%s\",", formulas[i]);

      g_assert_true (g_str_has_prefix (csv + strlen (HEADER), cell));
    }
}

/* The same again where a comma is the decimal point. */
static void
test_locale (void)
{
  g_autofree char *before = g_strdup (setlocale (LC_ALL, NULL));

  if (setlocale (LC_ALL, "de_DE.utf8") == NULL)
    {
      g_test_skip ("the locale de_DE.utf8 is not installed");
      return;
    }
  g_assert_cmpstr (localeconv ()->decimal_point, ==, ",");
  test_full ();
  test_engine ();
  test_unknown ();
  test_use ();
  setlocale (LC_ALL, before);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-csv/empty", test_empty);
  g_test_add_func ("/table-csv/full", test_full);
  g_test_add_func ("/table-csv/engine", test_engine);
  g_test_add_func ("/table-csv/unknown", test_unknown);
  g_test_add_func ("/table-csv/use", test_use);
  g_test_add_func ("/table-csv/quotes", test_quotes);
  g_test_add_func ("/table-csv/formulas", test_formulas);
  g_test_add_func ("/table-csv/locale", test_locale);
  return g_test_run ();
}
