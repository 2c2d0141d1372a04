/* SPDX-License-Identifier: Apache-2.0 */

/* Forecasts rest on what is known, and their interval on what they miss: both
 * are held against the shipped times, with those hidden that they must not
 * know. */

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-forecast.h"

#include <glib/gstdio.h>
#include <string.h>

/* By how much the coverage may differ from what is documented. */
#define ROUNDING 0.01

static QmCatalog *shipped, *published;

static const QmModel *
model (const char *id)
{
  return qm_catalog_model (shipped, id);
}

static const QmGpu *
gpu (const char *id)
{
  return qm_catalog_gpu (shipped, id);
}

/* What is asked for, and what a forecast of it must not know. */
typedef struct
{
  const QmMeasurement *time;
  QmForecastKind kind;
} Asked;

static gboolean
hide_cb (const QmMeasurement *time, gpointer data)
{
  const Asked *asked = data;
  gboolean same_model = time->model == asked->time->model;
  gboolean same_gpu = time->gpu == asked->time->gpu;

  switch (asked->kind)
    {
    case QM_FORECAST_OF_MODEL:
      return same_model;
    case QM_FORECAST_OF_GPU:
      return same_gpu;
    case QM_FORECAST_OF_BOTH:
      return same_model || same_gpu;
    case QM_FORECAST_OF_COUNT:
      return same_model && same_gpu && time->gpus != 1;
    case QM_FORECAST_OF_PAIR:
    default:
      return same_model && same_gpu;
    }
}

/* Whether two times are hidden by the same. */
static gboolean
is_hidden_alike (const Asked *a, const Asked *b)
{
  return (a->kind == QM_FORECAST_OF_GPU || a->time->model == b->time->model)
         && (a->kind == QM_FORECAST_OF_MODEL || a->time->gpu == b->time->gpu);
}

static gboolean
tells (const QmMeasurement *time, QmSettings settings)
{
  return time->settings == settings && time->feasibility == QM_FEASIBLE
         && time->engine != QM_ENGINE_QUARTERMASTER
         && qm_audit_measurement (time, NULL) == QM_VERDICT_OK;
}

typedef struct
{
  guint n, n_within;
} Count;

/* Counts the times that are hidden alike, none of which a forecast knows. */
static void
count_hidden (const QmMeasurement *times,
              size_t n,
              size_t from,
              QmForecastKind kind,
              QmSettings settings,
              Count *count)
{
  Asked asked = { &times[from], kind };
  g_autoptr (QmForecasts) forecasts =
      qm_forecasts_new (shipped, settings, QM_TIMES_OF_PYTORCH, hide_cb,
                        &asked);

  for (size_t i = from; i < n; i++)
    {
      Asked other = { &times[i], kind };
      QmForecast forecast;

      if (!tells (&times[i], settings) || !is_hidden_alike (&asked, &other)
          || !hide_cb (&times[i], &asked)
          || !qm_forecasts_predict (forecasts, times[i].model, times[i].gpu,
                                    times[i].gpus, &forecast)
          || forecast.kind != kind)
        continue;
      count->n++;
      count->n_within += times[i].days >= forecast.low * (1 - 1e-9)
                         && times[i].days <= forecast.high * (1 + 1e-9);
    }
}

static Count
cover (QmForecastKind kind, QmSettings settings)
{
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (shipped, &n);
  Count count = { 0 };

  for (size_t i = 0; i < n; i++)
    {
      Asked asked = { &times[i], kind };
      gboolean seen = !tells (&times[i], settings);

      for (size_t j = 0; j < i && !seen; j++)
        {
          Asked other = { &times[j], kind };

          seen =
              tells (&times[j], settings) && is_hidden_alike (&asked, &other);
        }
      if (!seen)
        count_hidden (times, n, i, kind, settings, &count);
    }
  return count;
}

static void
test_coverage (gconstpointer data)
{
  QmForecastKind kind = (QmForecastKind) GPOINTER_TO_INT (data);

  for (int i = 0; i < 2; i++)
    {
      QmSettings settings = i == 0 ? QM_SETTINGS_OPTIMAL : QM_SETTINGS_NAIVE;
      Count count = cover (kind, settings);
      double share = (double) count.n_within / count.n;

      g_test_message ("%s, %s: %u of %u lie within, %.1f %%",
                      qm_forecast_kind_name (kind), qm_settings_name (settings),
                      count.n_within, count.n, share * 100);
      g_assert_cmpuint (count.n, >=, 40);
      g_assert_cmpfloat (fabs (share - qm_forecast_coverage (kind, settings)),
                         <=, ROUNDING);
    }
}

static QmForecast
forecast (const QmModel *of, const char *on, int gpus, QmTimesOf times_of)
{
  g_autoptr (QmForecasts) forecasts =
      qm_forecasts_new (shipped, QM_SETTINGS_OPTIMAL, times_of, NULL, NULL);
  QmForecast result = { 0 };

  g_assert_true (qm_forecasts_predict (forecasts, of, gpu (on), gpus, &result));
  g_assert_cmpfloat (result.low, >, 0);
  g_assert_cmpfloat (result.low, <=, result.days);
  g_assert_cmpfloat (result.high, >, result.days);
  g_assert_cmpuint (result.n_errors, >=, QM_FORECAST_MIN);
  g_assert_cmpfloat_with_epsilon (qm_audit_utilization (of, gpu (on), gpus,
                                                        QM_SETTINGS_OPTIMAL,
                                                        result.days),
                                  result.share, 1e-9);
  g_assert_cmpfloat (qm_audit_utilization (of, gpu (on), gpus,
                                           QM_SETTINGS_OPTIMAL, result.low),
                     <=, 1 + 1e-9);
  return result;
}

/* A model of nobody's: like the known ones, and twice the steps take twice as
 * long. */
static void
test_own_model (void)
{
  QmModel own = *model ("pythia-1b");
  QmForecast once, twice, elsewhere;

  own.id = "own";
  once = forecast (&own, "h100-80gb-sxm", 4, QM_TIMES_OF_PYTORCH);
  elsewhere = forecast (&own, "rtx4090", 4, QM_TIMES_OF_PYTORCH);
  own.recipe.steps *= 2;
  twice = forecast (&own, "h100-80gb-sxm", 4, QM_TIMES_OF_PYTORCH);
  g_assert_cmpint (once.kind, ==, QM_FORECAST_OF_MODEL);
  g_assert_cmpint (elsewhere.kind, ==, QM_FORECAST_OF_BOTH);
  g_assert_cmpfloat_with_epsilon (twice.days, once.days * 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (twice.high, once.high * 2, 1e-6);
  g_assert_cmpfloat (once.high / once.low, >, 1.5);
}

/* From one GPU, where the model was measured, to several of that type: about as
 * many times faster, and better known than on a type that nobody has tried. */
static void
test_count (void)
{
  QmForecast one =
      forecast (model ("pythia-1b"), "h200-141gb-sxm", 1, QM_TIMES_OF_PYTORCH);
  QmForecast four =
      forecast (model ("pythia-1b"), "h200-141gb-sxm", 4, QM_TIMES_OF_PYTORCH);
  QmForecast other =
      forecast (model ("pythia-1b"), "b200-180gb-sxm", 4, QM_TIMES_OF_PYTORCH);
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (shipped, &n);

  for (size_t i = 0; i < n; i++)
    if (times[i].model == model ("pythia-1b")
        && times[i].gpu == gpu ("h200-141gb-sxm")
        && tells (&times[i], QM_SETTINGS_OPTIMAL))
      g_assert_cmpfloat_with_epsilon (one.days / times[i].days, 1, 1e-6);
  g_assert_cmpint (four.kind, ==, QM_FORECAST_OF_COUNT);
  g_assert_cmpint (other.kind, ==, QM_FORECAST_OF_GPU);
  g_assert_cmpfloat (one.days / four.days, >, 3.5);
  g_assert_cmpfloat (one.days / four.days, <, 4.5);
  g_assert_cmpfloat (four.high / four.low, <, other.high / other.low);
}

/* The engine was not measured on several GPUs: how their number counts is known
 * from the published times. */
static void
test_engine (void)
{
  QmForecast one = forecast (model ("pythia-1b"), "h200-141gb-sxm", 1,
                             QM_TIMES_OF_QUARTERMASTER);
  QmForecast eight = forecast (model ("pythia-1b"), "h200-141gb-sxm", 8,
                               QM_TIMES_OF_QUARTERMASTER);
  QmForecast torch =
      forecast (model ("pythia-1b"), "h200-141gb-sxm", 8, QM_TIMES_OF_PYTORCH);

  g_assert_cmpfloat (one.days / eight.days, >, 7);
  g_assert_cmpfloat (eight.days, <, torch.days);
}

/* Hides all from which it is known how much eight GPUs of a board are, but for
 * one model. */
static gboolean
hide_eight_cb (const QmMeasurement *time, gpointer data)
{
  const QmModel *only = data;

  return time->gpus == 8
         && (time->model != only || !qm_gpu_is_mezzanine (time->gpu));
}

/* What PyTorch took with a model stays known where the times of the engine with
 * it are hidden, and the other way around: each of them has an error. */
static void
test_other_engine (void)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-XXXXXX", NULL);
  g_autofree char *measurements =
      g_build_filename (folder, "measurements", NULL);
  g_autofree char *file = g_build_filename (measurements, "own.csv", NULL);
  QmCatalog *own = NULL;
  QmError error;
  const QmModel *asked;

  g_assert_cmpint (g_mkdir (measurements, 0700), ==, 0);
  g_assert_true (g_file_set_contents (
      file,
      "model,gpu,gpus,settings,feasibility,days,provenance,engine,source\n"
      "pythia-1b,h200-141gb-sxm,8,optimal,feasible,5,measured,quartermaster,"
      "us\n",
      -1, NULL));
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_SHIPPED_DATA_DIR"), folder,
                                    &own, &error),
                   ==, QM_OK);
  asked = qm_catalog_model (own, "pythia-1b");
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (QmForecasts) forecasts =
          qm_forecasts_new (own, QM_SETTINGS_OPTIMAL,
                            i == 0 ? QM_TIMES_OF_PYTORCH
                                   : QM_TIMES_OF_QUARTERMASTER,
                            hide_eight_cb, (gpointer) asked);
      QmModel new = *asked;
      QmForecast forecast;

      new.id = "new";
      g_assert_true (qm_forecasts_predict (
          forecasts, &new, qm_catalog_gpu (own, "h200-141gb-sxm"), 1,
          &forecast));
      g_assert_cmpint (forecast.kind, ==, QM_FORECAST_OF_MODEL);
      g_assert_cmpuint (forecast.n_errors, ==, forecast.n_times);
    }
  qm_catalog_free (own);
  g_unlink (file);
  g_rmdir (measurements);
  g_rmdir (folder);
}

/* What the header says of the number of GPUs. */
static void
test_scaling (void)
{
  static const double documented[2][3] = { { 1.05, 1.08, 0.93 },
                                           { 1.00, 1.02, 0.98 } };
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (published, &n);

  for (int board = 0; board < 2; board++)
    for (int at = 0; at < 3; at++)
      {
        double sum = 0;
        guint pairs = 0;

        for (size_t i = 0; i < n; i++)
          for (size_t j = 0; j < n; j++)
            {
              double one, several;

              if (times[i].gpus != 1 || times[j].gpus != 2 << at
                  || times[i].model != times[j].model
                  || times[i].gpu != times[j].gpu
                  || !tells (&times[i], QM_SETTINGS_OPTIMAL)
                  || !tells (&times[j], QM_SETTINGS_OPTIMAL)
                  || qm_gpu_is_mezzanine (times[i].gpu) != (board == 1))
                continue;
              qm_audit_measurement (&times[i], &one);
              qm_audit_measurement (&times[j], &several);
              sum += log (several / one);
              pairs++;
            }
        g_assert_cmpuint (pairs, >=, 10);
        g_assert_cmpfloat (fabs (exp (sum / pairs) - documented[board][at]), <=,
                           0.005);
      }
}

static gboolean
hide_all_cb (const QmMeasurement *time, gpointer data)
{
  (void) data;
  return time->model != model ("pythia-1b")
         || time->gpu != gpu ("h100-80gb-sxm");
}

/* Where too little is known, nothing is said. */
static void
test_nothing (void)
{
  g_autoptr (QmForecasts) few =
      qm_forecasts_new (shipped, QM_SETTINGS_OPTIMAL, QM_TIMES_OF_PYTORCH,
                        hide_all_cb, NULL);
  g_autoptr (QmForecasts) all =
      qm_forecasts_new (shipped, QM_SETTINGS_OPTIMAL, QM_TIMES_OF_PYTORCH, NULL,
                        NULL);
  g_autoptr (QmForecasts) engine =
      qm_forecasts_new (published, QM_SETTINGS_OPTIMAL,
                        QM_TIMES_OF_QUARTERMASTER, NULL, NULL);
  QmForecast result;

  g_assert_false (qm_forecasts_predict (few, model ("pythia-1b"),
                                        gpu ("h100-80gb-sxm"), 2, &result));
  /* Another maker, no bf16, part of a machine, more than anybody tried. */
  g_assert_false (qm_forecasts_predict (all, model ("pythia-1b"),
                                        gpu ("mi300x"), 1, &result));
  g_assert_false (qm_forecasts_predict (all, model ("pythia-1b"),
                                        gpu ("v100-32gb-sxm2"), 1, &result));
  g_assert_false (qm_forecasts_predict (all, model ("pythia-1b"), gpu ("gb10"),
                                        2, &result));
  g_assert_false (qm_forecasts_predict (all, model ("pythia-1b"),
                                        gpu ("h100-80gb-sxm"), 9, &result));
  g_assert_false (
      qm_forecasts_predict (engine, qm_catalog_model (published, "pythia-1b"),
                            qm_catalog_gpu (published, "a6000"), 1, &result));
}

int
main (int argc, char **argv)
{
  QmError error;
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_SHIPPED_DATA_DIR"), NULL,
                                    &shipped, &error),
                   ==, QM_OK);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &published, &error),
                   ==, QM_OK);
  for (int i = 0; i < QM_N_FORECASTS; i++)
    {
      g_autofree char *path =
          g_strconcat ("/forecast/coverage/",
                       qm_forecast_kind_name ((QmForecastKind) i), NULL);

      g_test_add_data_func (path, GINT_TO_POINTER (i), test_coverage);
    }
  g_test_add_func ("/forecast/own-model", test_own_model);
  g_test_add_func ("/forecast/count", test_count);
  g_test_add_func ("/forecast/engine", test_engine);
  g_test_add_func ("/forecast/other-engine", test_other_engine);
  g_test_add_func ("/forecast/scaling", test_scaling);
  g_test_add_func ("/forecast/nothing", test_nothing);
  status = g_test_run ();
  qm_catalog_free (shipped);
  qm_catalog_free (published);
  return status;
}
