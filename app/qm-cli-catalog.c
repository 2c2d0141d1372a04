/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli-table.h"
#include "app/qm-cli.h"
#include "data/datadir.h"
#include "data/flops.h"
#include "pricing/advice/qm-prose-comparison.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <limits.h>

/* What a table is made for. */
typedef struct
{
  const QmCatalog *catalog;
  QmRates *rates;
  QmDate today;
  gboolean sources; /* with a column of sources */
  QmCliLoad load;
  const QmCliTrained *trained; /* NULL: they are not asked for */
} Context;

/* What was typed of a load. */
typedef struct
{
  GStrv gpu, gpus, memory, circuit;
} TypedLoad;

QmCatalog *
qm_cli_catalog_load (GError **error)
{
  char shipped[PATH_MAX], own[PATH_MAX];
  QmCatalog *catalog = NULL;
  QmError trouble = { 0 };
  size_t n;
  const QmError *problems;

  if (!qm_data_dir (shipped, sizeof shipped))
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_CATALOG,
                           _ ("the path of the catalog is too long"));
      return NULL;
    }
  /* Without a home there is simply nothing of the user's. */
  if (qm_catalog_load (shipped, qm_user_data_dir (own, sizeof own) ? own : NULL,
                       &catalog, &trouble)
      != QM_OK)
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_CATALOG,
                   /* Translators: a directory, what is wrong with it. */
                   _ ("cannot load the catalog in %s: %s"), shipped,
                   trouble.message);
      return NULL;
    }
  problems = qm_catalog_problems (catalog, &n);
  for (size_t i = 0; i < n; i++)
    qm_cli_warn (&problems[i]);
  problems = qm_catalog_notices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    qm_cli_note (&problems[i]);
  return catalog;
}

const char *
qm_cli_catalog_price_kind (const QmPrice *price)
{
  switch (price->kind)
    {
    case QM_PRICE_PUBLISHED:
      return C_ ("price", "published");
    case QM_PRICE_QUOTE:
      return C_ ("price", "quote");
    case QM_PRICE_STREET:
      return C_ ("price", "street");
    case QM_PRICE_LIST:
      return C_ ("price", "list");
    case QM_PRICE_RESALE:
      return C_ ("price", "resale");
    case QM_PRICE_CLAIM:
      return C_ ("price", "claim");
    case QM_PRICE_ESTIMATE:
      return C_ ("price", "estimate");
    case QM_PRICE_CLOUD:
    default:
      return C_ ("price", "cloud");
    }
}

static char *
amount_text (gint64 micros, const char *currency)
{
  return qm_format_money ((double) micros / QM_MICROS_PER_UNIT, currency, TRUE);
}

char *
qm_cli_catalog_price_amount (const QmPrice *price)
{
  g_autofree char *amount = NULL;

  if (price->micros >= 0)
    amount = amount_text (price->micros, price->currency);
  else
    {
      g_autofree char *low = amount_text (price->low_micros, price->currency);
      g_autofree char *high = amount_text (price->high_micros, price->currency);

      /* Translators: the lowest and the highest price. */
      amount = g_strdup_printf (_ ("%s to %s"), low, high);
    }
  if (price->unit == QM_PRICE_EACH)
    return g_steal_pointer (&amount);
  if (price->unit == QM_PRICE_GIB)
    /* Translators: an amount. */
    return g_strdup_printf (_ ("%s a GiB"), amount);
  /* Translators: an amount, a number of GPUs. */
  return g_strdup_printf (_ ("%s an hour for %d"), amount, price->gpus);
}

/* A number of the catalog, NULL where unknown. */
static char *
number_or_nothing (double value)
{
  return qm_known (value) ? qm_format_number (value, 2) : NULL;
}

static char *
count_text (int64_t value)
{
  return value > 0 ? qm_format_number ((double) value, 0) : NULL;
}

/* A rate or bandwidth: "none" for zero. */
static char *
rate_text (double value)
{
  return value == 0 ? g_strdup (_ ("none")) : number_or_nothing (value);
}

/* What one costs today, or that it is sold in machines, or that no price is
 * known. */
static char *
price_of_gpu (const Context *context, const char *gpu)
{
  const QmPrice *price = qm_price_choose (context->catalog, context->rates, gpu,
                                          QM_PRICE_EACH, QM_PRICES_CURRENT);
  size_t n;
  const QmPlatform *platforms = qm_catalog_platforms (context->catalog, &n);

  if (price != NULL)
    return qm_cli_catalog_price_amount (price);
  for (size_t i = 0; i < n; i++)
    if (strcmp (platforms[i].sold_with, gpu) == 0)
      return g_strdup (_ ("in machines"));
  return g_strdup (_ ("none known"));
}

static QmCliTable *
gpus_table (const Context *context)
{
  const QmCliColumn columns[] = {
    { _ ("ID") },
    { _ ("Name"), .drop = 4, .shrink = 12 },
    { _ ("GiB"), QM_CLI_RIGHT },
    { _ ("GB/s"), QM_CLI_RIGHT, .drop = 3 },
    /* Translators: 10^12 operations a second in that number format. */
    { _ ("fp16 TFLOPS"), QM_CLI_RIGHT },
    { _ ("FP8"), QM_CLI_RIGHT, .drop = 5 },
    { _ ("TF32"), QM_CLI_RIGHT, .drop = 5 },
    { _ ("fp32"), QM_CLI_RIGHT, .drop = 6 },
    { _ ("Watt"), QM_CLI_RIGHT, .drop = 2 },
    /* Translators: how many multiprocessors a GPU has. */
    { _ ("SMs"), QM_CLI_RIGHT, .drop = 10 },
    { _ ("MHz"), QM_CLI_RIGHT, .drop = 11 },
    /* Translators: the size of its second level of cache. */
    { _ ("L2 MiB"), QM_CLI_RIGHT, .drop = 12 },
    { _ ("NVLink GB/s"), QM_CLI_RIGHT, .drop = 7 },
    { _ ("Released"), .drop = 8 },
    { _ ("Launch price"), QM_CLI_RIGHT, .drop = 9 },
    { _ ("Price"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("Source"), .shrink = 24 },
  };
  QmCliTable *table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns) - !context->sources);
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (context->catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmGpu *gpu = &gpus[i];
      g_autofree char *memory = number_or_nothing (gpu->memory_gib);
      g_autofree char *bandwidth =
          number_or_nothing (gpu->memory_bandwidth_gbs);
      g_autofree char *fp16 = number_or_nothing (gpu->fp16_tflops);
      g_autofree char *fp8 = number_or_nothing (gpu->fp8_tflops);
      g_autofree char *tf32 = rate_text (gpu->tf32_tflops);
      g_autofree char *fp32 = number_or_nothing (gpu->fp32_tflops);
      g_autofree char *watt = number_or_nothing (gpu->tdp_w);
      g_autofree char *multiprocessors =
          number_or_nothing (gpu->multiprocessors);
      g_autofree char *clock = number_or_nothing (gpu->boost_mhz);
      g_autofree char *l2 = number_or_nothing (gpu->l2_mib);
      g_autofree char *nvlink = rate_text (gpu->nvlink_gbs);
      g_autofree char *released = qm_cli_date_text (gpu->released_on);
      g_autofree char *launch =
          qm_known (gpu->launch_price_usd)
              ? qm_format_money (gpu->launch_price_usd, "USD", FALSE)
              : NULL;
      g_autofree char *price = price_of_gpu (context, gpu->id);

      qm_cli_table_add_row (
          table, QM_CLI_PLAIN,
          (const char *[]){ gpu->id, gpu->name, memory, bandwidth, fp16, fp8,
                            tf32, fp32, watt, multiprocessors, clock, l2,
                            nvlink, released, launch, price, gpu->source });
    }
  return table;
}

static QmCliTable *
machines_table (const Context *context)
{
  const QmCliColumn columns[] = {
    { _ ("ID") },
    { _ ("Name"), .drop = 2, .shrink = 12 },
    { _ ("Kind"), .drop = 1 },
    { _ ("GPUs"), QM_CLI_RIGHT },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("Date"), .drop = 4 },
    { _ ("Age"), .drop = 3 },
    { _ ("Source"), .shrink = 24 },
  };
  QmCliTable *table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns) - !context->sources);
  size_t n;
  const QmMachine *machines = qm_catalog_machines (context->catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmMachine *machine = &machines[i];
      const QmPrice *price =
          qm_price_choose (context->catalog, context->rates, machine->id,
                           QM_PRICE_EACH, QM_PRICES_PUBLISHED);
      QmDate date = price != NULL ? price->observed_on : (QmDate){ 0 };
      g_autofree char *gpus = count_text (machine->gpus);
      g_autofree char *amount =
          price != NULL ? qm_cli_catalog_price_amount (price) : NULL;
      g_autofree char *day = qm_cli_date_text (date);
      g_autofree char *age =
          date.year > 0 ? qm_format_age (date, context->today) : NULL;

      qm_cli_table_add_row (
          table, QM_CLI_PLAIN,
          (const char *[]){ machine->id, machine->name,
                            machine->kind == QM_MACHINE_DESKTOP ? _ ("desktop")
                                                                : _ ("server"),
                            gpus, amount, day, age, machine->source });
    }
  return table;
}

static QmCliTable *
parts_table (const Context *context)
{
  const QmCliColumn columns[] = {
    { _ ("Part") },
    { _ ("Detail"), .shrink = 12 },
    { _ ("Price"), QM_CLI_RIGHT },
  };
  QmCliTable *table = qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  size_t n;
  const QmMachine *machines = qm_catalog_machines (context->catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      if (machines[i].n_parts > 0)
        qm_cli_table_add_heading (table, machines[i].name);
      for (size_t j = 0; j < machines[i].n_parts; j++)
        {
          const QmMachinePart *part = &machines[i].parts[j];
          g_autofree char *amount =
              part->price_micros >= 0
                  ? amount_text (part->price_micros, part->currency)
                  : NULL;

          qm_cli_table_add_row (table, QM_CLI_PLAIN,
                                (const char *[]){ part->part, part->detail,
                                                  amount });
        }
    }
  return table;
}

/* "2,049 tokens" or "224 pixels". */
static char *
sample_text (const QmRecipe *recipe)
{
  g_autofree char *tokens = count_text (recipe->sequence_length);
  g_autofree char *pixels = count_text (recipe->image_size);

  if (tokens != NULL)
    return g_strdup_printf (_ ("%s tokens"), tokens);
  /* Translators: the side of a square image. */
  return pixels != NULL ? g_strdup_printf (_ ("%s pixels"), pixels) : NULL;
}

/* "1.76e21". */
static char *
flops_text (double flops)
{
  g_autofree char *text = g_strdup_printf ("%.2e", flops);
  g_auto (GStrv) halves = g_strsplit (text, "e+", 2);

  return g_strjoinv ("e", halves);
}

static QmCliTable *
models_table (const Context *context)
{
  const QmCliColumn columns[] = {
    { _ ("ID") },
    { _ ("Name"), .drop = 2, .shrink = 12 },
    { _ ("Parameters"), QM_CLI_RIGHT },
    { _ ("Training FLOPs"), QM_CLI_RIGHT },
    { _ ("Batch"), QM_CLI_RIGHT, .drop = 5 },
    { _ ("Steps"), QM_CLI_RIGHT, .drop = 4 },
    { _ ("Sample"), QM_CLI_RIGHT, .drop = 6 },
    { _ ("Precision"), .drop = 1 },
    { _ ("Optimizer"), .drop = 3 },
    { _ ("Source"), .shrink = 24 },
  };
  QmCliTable *table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns) - !context->sources);
  size_t n;
  g_autofree const QmModel **models =
      qm_catalog_models_sorted (context->catalog, &n);

  for (size_t i = 0; models != NULL && i < n; i++)
    {
      const QmModel *model = models[i];
      const QmRecipe *recipe = &model->recipe;
      g_autofree char *parameters =
          count_text (qm_parameter_count (&model->config));
      g_autofree char *flops =
          flops_text (qm_flops_train (&model->config, recipe));
      g_autofree char *batch = count_text (recipe->batch_size);
      g_autofree char *steps = count_text (recipe->steps);
      g_autofree char *sample = sample_text (recipe);

      qm_cli_table_add_row (
          table, QM_CLI_PLAIN,
          (const char *[]){
              model->id, model->name, parameters, flops, batch, steps, sample,
              qm_precision_name (recipe->precision),
              qm_optimizer_name (recipe->optimizer), model->source });
    }
  return table;
}

static QmCliTable *
prices_table (const Context *context)
{
  const QmCliColumn columns[] = {
    { _ ("Item") },
    { _ ("Kind") },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("Date") },
    { _ ("Age"), .drop = 1 },
    { _ ("Source"), .drop = context->sources ? 0 : 2, .shrink = 12 },
  };
  QmCliTable *table = qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  size_t n;
  const QmPrice *prices = qm_catalog_prices (context->catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmPrice *price = &prices[i];
      g_autofree char *amount = qm_cli_catalog_price_amount (price);
      g_autofree char *date = qm_cli_date_text (price->observed_on);
      g_autofree char *age =
          price->observed_on.year > 0
              ? qm_format_age (price->observed_on, context->today)
              : NULL;

      qm_cli_table_add_row (table, QM_CLI_PLAIN,
                            (const char *[]){
                                price->item, qm_cli_catalog_price_kind (price),
                                amount, date, age, price->source });
    }
  return table;
}

static const char *
tristate_text (QmTristate value)
{
  if (value == QM_UNSTATED)
    return NULL;
  return value == QM_YES ? _ ("yes") : _ ("no");
}

static const char *
settings_text (QmSettings settings)
{
  switch (settings)
    {
    case QM_SETTINGS_NAIVE:
      return C_ ("settings", "naive");
    case QM_SETTINGS_EAGER:
      return C_ ("settings", "eager");
    case QM_SETTINGS_OPTIMAL:
    default:
      return C_ ("settings", "optimal");
    }
}

/* How many GPUs, and what makes it no time of a machine with so many. */
static char *
gpus_of_time (const QmMeasurement *measurement)
{
  g_autofree char *gpus = count_text (measurement->gpus);

  switch (measurement->aside)
    {
    case QM_ASIDE_MACHINES:
      return g_strdup_printf (
          /* Translators: a number of GPUs, of machines together. */
          ngettext ("%s of %d machine", "%s of %d machines",
                    (gulong) measurement->machines),
          gpus, measurement->machines);
    case QM_ASIDE_PATH:
      /* Translators: a number of GPUs that did not exchange as they can. */
      return g_strdup_printf (_ ("%s, held back"), gpus);
    case QM_ASIDE_NOT:
    default:
      return g_steal_pointer (&gpus);
    }
}

static void
add_measurement (QmCliTable *table,
                 const QmMeasurement *measurement,
                 const QmForecasts *forecasts)
{
  QmAudit audit;
  QmVerdict verdict = qm_audit_measurement (measurement, forecasts, &audit);
  g_autofree char *gpus = gpus_of_time (measurement);
  g_autofree char *days = number_or_nothing (measurement->days);
  g_autofree char *share = qm_known (audit.utilization)
                               ? qm_format_percent (audit.utilization)
                               : NULL;
  g_autofree char *micro_batch = count_text (measurement->micro_batch_size);
  g_autofree char *accumulation = count_text (measurement->accumulation);
  g_autofree char *engine = qm_prose_engine (measurement);
  g_autofree char *date = qm_cli_date_text (measurement->measured_on);

  qm_cli_table_add_row (
      table, verdict == QM_VERDICT_IMPOSSIBLE ? QM_CLI_BAD : QM_CLI_PLAIN,
      (const char *[]){
          measurement->model->id, measurement->gpu->id, gpus,
          settings_text (measurement->settings), days, share,
          qm_prose_verdict_name (verdict),
          tristate_text (measurement->checkpointing), measurement->sharding,
          tristate_text (measurement->offloading), micro_batch, accumulation,
          qm_prose_compared_provenance (measurement), engine, date,
          measurement->source });
}

static QmCliTable *
measurements_table (const Context *context)
{
  const QmCliColumn columns[] = {
    { _ ("Model") },
    { _ ("GPU") },
    { _ ("GPUs"), QM_CLI_RIGHT },
    { _ ("Settings"), .drop = 2 },
    { _ ("Days"), QM_CLI_RIGHT },
    /* Translators: model FLOPs utilisation. */
    { _ ("MFU"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("Verdict"), .drop = 3 },
    { _ ("Checkpointing"), .drop = 5 },
    { _ ("Sharding"), .drop = 6 },
    { _ ("Offloading"), .drop = 7 },
    { _ ("Micro-batch"), QM_CLI_RIGHT, .drop = 8 },
    { _ ("Accumulation"), QM_CLI_RIGHT, .drop = 9 },
    { _ ("Provenance"), .drop = 4 },
    { _ ("Engine"), .drop = 4, .shrink = 12 },
    { _ ("Date"), .drop = 5 },
    { _ ("Source"), .shrink = 24 },
  };
  QmCliTable *table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns) - !context->sources);
  size_t n;
  const QmMeasurement *measurements =
      qm_catalog_measurements (context->catalog, &n);
  g_autoptr (QmForecasts) forecasts = qm_cli_forecast_audits (context->catalog);

  for (size_t i = 0; i < n; i++)
    add_measurement (table, &measurements[i], forecasts);
  measurements = qm_catalog_aside (context->catalog, &n);
  for (size_t i = 0; i < n; i++)
    add_measurement (table, &measurements[i], NULL);
  return table;
}

static QmCliTable *
platforms_table (const Context *context)
{
  return qm_cli_catalog_platforms_table (context->catalog, context->rates,
                                         &context->load, context->today,
                                         context->sources);
}

static QmCliTable *
rates_table (const Context *context)
{
  return qm_cli_trained_table (context->trained, context->sources);
}

typedef struct
{
  const char *name;
  QmCliTable *(*table) (const Context *context);
  QmCliTable *(*details) (const Context *context); /* or NULL */
} Topic;

static const Topic topics[] = {
  { "gpus", gpus_table, NULL },
  { "machines", machines_table, parts_table },
  { "platforms", platforms_table, NULL },
  { "models", models_table, NULL },
  { "prices", prices_table, NULL },
  { "measurements", measurements_table, NULL },
  { "rates", rates_table, NULL },
};

static const Topic *
find_topic (GStrv words, GError **error)
{
  const char *names[G_N_ELEMENTS (topics)];

  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    {
      names[i] = topics[i].name;
      if (words[0] != NULL && words[1] == NULL
          && g_str_equal (words[0], names[i]))
        return &topics[i];
    }
  if (words[0] == NULL || words[1] != NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("one part of the catalog is needed: gpus, "
                              "machines, platforms, models, prices, "
                              "measurements or rates"));
      return NULL;
    }
  qm_cli_set_unknown (error, _ ("the catalog has no %s"), words[0], names,
                      G_N_ELEMENTS (names),
                      _ ("choose from gpus, machines, platforms, models, "
                         "prices, measurements, rates"));
  return NULL;
}

static gboolean
write_topic_json (const Topic *topic, const Context *context, GError **error)
{
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  json_auto_t *root = json_object ();

  json_object_set_new (root, topic->name,
                       context->trained != NULL
                           ? qm_cli_trained_json (context->trained)
                           : qm_cli_catalog_json (context->catalog, topic->name,
                                                  &context->load));
  qm_cli_json_add_problems (root, context->catalog);
  return qm_cli_json_write (root, error);
}

static gboolean
write_topic_text (const Topic *topic, const Context *context, GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (QmCliTable) table = topic->table (context);
  g_autoptr (QmCliTable) details =
      topic->details != NULL ? topic->details (context) : NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  qm_cli_table_append (table, out, &screen);
  if (details != NULL)
    {
      g_string_append_c (out, '\n');
      qm_cli_table_append (details, out, &screen);
    }
  return qm_cli_write_text (out->str, error);
}

/* Reads a number of that option, which keeps its value where it was not given.
 */
static gboolean
read_option (
    const char *name, GStrv typed, double most, double *value, GError **error)
{
  const char *text;

  if (!qm_cli_option_single (name, typed, &text, error))
    return FALSE;
  if (text == NULL || (qm_cli_read_number (text, most, value) && *value > 0))
    return TRUE;
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               /* Translators: the name of an option. */
               _ ("--%s takes a number above 0"), name);
  return FALSE;
}

/* What the platforms are to carry, of those options. */
static gboolean
read_load (const TypedLoad *typed,
           const Topic *topic,
           Context *context,
           GError **error)
{
  gboolean given = typed->gpus != NULL || typed->memory != NULL
                   || typed->circuit != NULL || typed->gpu != NULL;
  const char *id;
  double gpus = 1;

  context->load = (QmCliLoad){ .circuit_watts = INFINITY };
  if (!given)
    return TRUE;
  if (!qm_cli_option_single ("gpu", typed->gpu, &id, error)
      || !read_option ("gpus", typed->gpus, 1024, &gpus, error)
      || !read_option ("host-memory", typed->memory, 1e6,
                       &context->load.memory_gib, error)
      || !read_option ("circuit", typed->circuit, 1e6,
                       &context->load.circuit_watts, error))
    return FALSE;
  if (id == NULL || topic->table != platforms_table || gpus != (int) gpus)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("what platforms are to carry is asked so: "
                              "“catalog platforms --gpu rtx5090 --gpus 4”"));
      return FALSE;
    }
  if (!qm_cli_check_gpu (context->catalog, id, error))
    return FALSE;
  context->load.gpu = qm_catalog_gpu (context->catalog, id);
  context->load.gpus = (int) gpus;
  return TRUE;
}

static void
free_load (TypedLoad *typed)
{
  g_strfreev (typed->gpu);
  g_strfreev (typed->gpus);
  g_strfreev (typed->memory);
  g_strfreev (typed->circuit);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TypedLoad, free_load)

static void
add_catalog_options (GArray *options,
                     gboolean *json,
                     Context *context,
                     TypedLoad *typed)
{
  qm_cli_options_add_json (options, json);
  qm_cli_options_add_flag (options, "sources",
                           _ ("With the source of each row"),
                           &context->sources);
  qm_cli_options_add_value (options, "gpu", 0, _ ("ID"),
                            _ ("Of platforms: whether they carry this GPU"),
                            &typed->gpu);
  qm_cli_options_add_value (options, "gpus", 0, _ ("NUMBER"),
                            _ ("so many of it (1)"), &typed->gpus);
  qm_cli_options_add_value (options, "host-memory", 0, _ ("GIB"),
                            _ ("with so much memory in the host"),
                            &typed->memory);
  qm_cli_options_add_value (options, "circuit", 0, _ ("WATTS"),
                            _ ("where the circuits give no more than this"),
                            &typed->circuit);
}

gboolean
qm_cli_catalog_check_model (const QmCatalog *catalog,
                            const char *id,
                            GError **error)
{
  size_t n;
  const QmModel *models = qm_catalog_models (catalog, &n);
  g_autofree const char **names = NULL;

  if (qm_catalog_model (catalog, id) != NULL)
    return TRUE;
  names = g_new0 (const char *, n + 1);
  for (size_t i = 0; i < n; i++)
    names[i] = models[i].id;
  return qm_cli_set_unknown (error, _ ("unknown model %s"), id, names, n,
                             _ ("“quartermaster catalog models” lists all"));
}

int
qm_cli_catalog (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "catalog",
    .parameters = "gpus|machines|platforms|models|prices|measurements|rates",
    .summary = _ ("Shows the facts that advice rests on.  Unknown is shown as "
                  "a dash, never as zero."),
    .description =
        _ ("Your own files in “quartermaster” in the XDG data directory extend "
           "or override the catalog."),
  };
  gboolean json = FALSE;
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmRates) rates = NULL;
  g_autoptr (QmCliTrained) trained = NULL;
  g_auto (GStrv) words = NULL;
  Context context = { .today = qm_date_today () };
  g_auto (TypedLoad) typed = { 0 };
  const Topic *topic;
  int status;
  gboolean written;

  add_catalog_options (options, &json, &context, &typed);
  if (!qm_cli_options_parse (&verb, options, arguments, &words, &status, error))
    return status;
  if ((topic = find_topic (words, error)) == NULL
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || (rates = qm_cli_shipped_rates (error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  if (topic->table == rates_table
      && (trained = qm_cli_trained_new (error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  context.trained = trained;
  context.catalog = catalog;
  context.rates = rates;
  if (!read_load (&typed, topic, &context, error))
    return QM_CLI_EXIT_BAD_INPUT;
  written = json ? write_topic_json (topic, &context, error)
                 : write_topic_text (topic, &context, error);
  return written ? QM_CLI_EXIT_FOUND : QM_CLI_EXIT_BAD_INPUT;
}
