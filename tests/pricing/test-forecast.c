/* SPDX-License-Identifier: Apache-2.0 */

/* What qm-bench predicts is kept by model, level, GPU and number, and nothing
 * is taken of what is not what it should be. */

#include "config.h"

#include "tests/pricing/forecasts.h"

#include <math.h>

#define GIB (G_GINT64_CONSTANT (1) << 30)

static const QmGpu gpu = { .id = "g" };
static const QmGpu other = { .id = "h" };

static gboolean
add (QmForecasts *forecasts, json_t *line)
{
  gboolean taken = qm_forecasts_add (forecasts, "m", line);

  json_decref (line);
  return taken;
}

static void
test_places (void)
{
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();
  const QmForecast *one, *two;

  g_assert_true (add (forecasts, forecast_line ("tuned", "g", 1, 10, 0)));
  g_assert_true (add (forecasts, forecast_line ("tuned", "g", 2, 6, 3 * GIB)));

  one = qm_forecasts_look (forecasts, "m", "tuned", &gpu, 1);
  g_assert_cmpint (one->fit, ==, QM_FIT_WELL);
  g_assert_cmpfloat (one->days, ==, 10);
  g_assert_cmpfloat (one->low, ==, 8);
  g_assert_cmpfloat (one->high, ==, 12.5);
  g_assert_cmpint (one->host_bytes, ==, 0);
  g_assert_cmpstr (one->level, ==, "tuned");
  g_assert_cmpstr (one->bound, ==, "power");
  g_assert_cmpint (one->micro_batch, ==, 16);
  two = qm_forecasts_look (forecasts, "m", "tuned", &gpu, 2);
  g_assert_cmpint (two->fit, ==, QM_FIT_OFFLOADING);
  g_assert_cmpint (two->host_bytes, ==, 3 * GIB);
  g_assert_cmpstr (two->sharding, ==, "zero_2");

  g_assert_null (qm_forecasts_look (forecasts, "m", "tuned", &gpu, 4));
  g_assert_null (qm_forecasts_look (forecasts, "m", "eager", &gpu, 1));
  g_assert_null (qm_forecasts_look (forecasts, "n", "tuned", &gpu, 1));
  g_assert_null (qm_forecasts_look (forecasts, "m", "tuned", &other, 1));
  g_assert_null (qm_forecasts_look (NULL, "m", "tuned", &gpu, 1));

  /* The last word counts. */
  g_assert_true (add (forecasts, forecast_line ("tuned", "g", 1, 20, 0)));
  one = qm_forecasts_look (forecasts, "m", "tuned", &gpu, 1);
  g_assert_cmpfloat (one->days, ==, 20);
}

/* What GPUs exchange through is known where it is said, and what bridges
 * change.
 */
static void
test_links (void)
{
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();
  json_t *line = forecast_line ("tuned", "g", 2, 6, 0);
  const QmForecast *known;

  json_object_set_new (line, "link", json_string ("pcie"));
  json_object_set_new (line, "bridged",
                       json_pack ("{s:f, s:f, s:f}", "days", 5.0, "days_low",
                                  4.0, "days_high", 6.0));
  g_assert_true (add (forecasts, line));
  known = qm_forecasts_look (forecasts, "m", "tuned", &gpu, 2);
  g_assert_cmpstr (known->link, ==, "pcie");
  g_assert_cmpfloat (known->bridged, ==, 5);

  line = forecast_line ("tuned", "g", 2, 6, 0);
  json_object_set_new (line, "bridged", json_null ());
  g_assert_true (add (forecasts, line));
  known = qm_forecasts_look (forecasts, "m", "tuned", &gpu, 2);
  g_assert_null (known->link);
  g_assert_true (isnan (known->bridged));
}

static void
test_misfit (void)
{
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();
  const QmForecast *known;

  g_assert_true (add (forecasts, misfit_line ("tuned", "g", 1, 30 * GIB)));
  known = qm_forecasts_look (forecasts, "m", "tuned", &gpu, 1);
  g_assert_cmpint (known->fit, ==, QM_FIT_NOT);
  g_assert_true (isnan (known->days));
  g_assert_true (add (forecasts, json_pack ("{s:s, s:s, s:i, s:s}", "gpu_id",
                                            "h", "level", "tuned", "gpus", 1,
                                            "unsupported", "no rates")));
  known = qm_forecasts_look (forecasts, "m", "tuned", &other, 1);
  g_assert_cmpint (known->fit, ==, QM_FIT_UNKNOWN);
  g_assert_cmpstr (known->unsupported, ==, "no rates");
  g_assert_true (isnan (known->days));
}

/* Lines of which one thing is wrong. */
static void
test_hostile (void)
{
  static const struct
  {
    const char *name;
    const char *value; /* JSON; NULL: the thing is not there */
  } cases[] = {
    { "gpu_id", NULL },     { "gpu_id", "7" },        { "level", NULL },
    { "level", "null" },    { "gpus", NULL },         { "gpus", "0" },
    { "gpus", "1.5" },      { "gpus", "4294967297" }, { "fits", NULL },
    { "fits", "\"yes\"" },  { "days", NULL },         { "days", "0" },
    { "days", "-3" },       { "days", "\"1\"" },      { "days_low", "11" },
    { "days_high", "9" },   { "days_low", NULL },     { "days_high", "[]" },
    { "host_bytes", "-1" }, { "host_bytes", NULL },   { "micro_batch", NULL },
    { "sharding", NULL },   { "bridged", "7" },       { "bridged", "{}" },
    { "half_lanes", "7" },
  };
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      json_t *line = forecast_line ("tuned", "g", 1, 10, 0);

      json_object_del (line, cases[i].name);
      if (cases[i].value != NULL)
        json_object_set_new (line, cases[i].name,
                             json_loads (cases[i].value, JSON_DECODE_ANY,
                                         NULL));
      g_assert_false (add (forecasts, line));
    }
  g_assert_false (qm_forecasts_add (forecasts, "m", NULL));
  g_assert_null (qm_forecasts_look (forecasts, "m", "tuned", &gpu, 1));
  g_assert_false (add (forecasts, json_array ()));
}

static void
test_state (void)
{
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();

  g_assert_false (qm_forecasts_is_pending (NULL));
  g_assert_false (qm_forecasts_is_pending (forecasts));
  qm_forecasts_set_pending (forecasts, TRUE);
  g_assert_true (qm_forecasts_is_pending (forecasts));
  g_assert_null (qm_forecasts_get_problem (forecasts, "m", "tuned"));
  qm_forecasts_set_problem (forecasts, "m", "tuned", "gone");
  g_assert_cmpstr (qm_forecasts_get_problem (forecasts, "m", "tuned"), ==,
                   "gone");
  g_assert_null (qm_forecasts_get_problem (forecasts, "n", "tuned"));
  g_assert_null (qm_forecasts_get_problem (forecasts, "m", "eager"));
  qm_forecasts_set_problem (forecasts, "m", "tuned", NULL);
  g_assert_null (qm_forecasts_get_problem (forecasts, "m", "tuned"));
  g_assert_cmpstr (qm_fit_name (QM_FIT_OFFLOADING), ==, "offloading");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/forecast/places", test_places);
  g_test_add_func ("/forecast/links", test_links);
  g_test_add_func ("/forecast/misfit", test_misfit);
  g_test_add_func ("/forecast/hostile", test_hostile);
  g_test_add_func ("/forecast/state", test_state);
  return g_test_run ();
}
