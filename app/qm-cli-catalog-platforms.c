/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-table.h"
#include "data/carry.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const char *
form_text (QmPlatformForm form)
{
  switch (form)
    {
    case QM_PLATFORM_DESKTOP:
      return _ ("desktop");
    case QM_PLATFORM_WORKSTATION:
      return _ ("workstation");
    case QM_PLATFORM_RACK:
    default:
      return _ ("rack");
    }
}

/* "4 × 2,000 W, 2 spare"; NULL where unknown. */
static char *
supplies_text (const QmPlatform *platform)
{
  g_autofree char *watts = NULL;

  if (platform->psus == 0 || !qm_known (platform->psu_watts))
    return NULL;
  watts = qm_format_number (platform->psu_watts, 0);
  if (platform->psu_spare == 0)
    /* Translators: a number of power supplies, the watts of each. */
    return g_strdup_printf (_ ("%d × %s W"), platform->psus, watts);
  /* Translators: a number of power supplies, the watts of each, how many of
   * them may fail. */
  return g_strdup_printf (_ ("%d × %s W, %d spare"), platform->psus, watts,
                          platform->psu_spare);
}

/* What it takes, or what it is sold with. */
static char *
gpus_text (const QmCatalog *catalog, const QmPlatform *platform)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const QmGpu *gpu = qm_catalog_gpu (catalog, platform->sold_with);

  if (gpu != NULL)
    return g_strdup_printf ("%d × %s", platform->gpus, gpu->name);
  for (int i = QM_GPU_COOLING_OPEN; i < QM_GPU_COOLING_BOARD; i++)
    if (platform->takes & 1u << i)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                              i == QM_GPU_COOLING_OPEN ? C_ ("card", "open")
                              : i == QM_GPU_COOLING_BLOWER
                                  ? C_ ("card", "blower")
                                  : C_ ("card", "passive"));
  /* Translators: a number of cards, kinds of cards such as "blower, passive".
   */
  return g_strdup_printf (_ ("%d × %s"), platform->gpus, text->str);
}

static char *
whole_or_nothing (double value)
{
  return qm_known (value) ? qm_format_number (value, 0) : NULL;
}

/* Whether it carries the load; of none everything carries it. */
static QmCarry
fit_of (const QmPlatform *platform, const QmCliLoad *load)
{
  if (load->gpu == NULL)
    return (QmCarry){ QM_CARRY_NONE, NAN, NAN, NAN };
  return qm_carry (platform, load->gpu, load->gpus, load->memory_gib,
                   load->circuit_watts);
}

static void
add_platform (QmCliTable *table,
              const QmCatalog *catalog,
              QmRates *rates,
              const QmPlatform *platform,
              const QmCliLoad *load,
              QmDate today)
{
  QmCarry fit = fit_of (platform, load);
  const QmPrice *price = qm_price_choose (catalog, rates, platform->id,
                                          QM_PRICE_EACH, QM_PRICES_CURRENT);
  QmDate date = price != NULL ? price->observed_on : (QmDate){ 0 };
  g_autofree char *gpus = gpus_text (catalog, platform);
  g_autofree char *watts = whole_or_nothing (platform->gpu_watts);
  g_autofree char *supplies = supplies_text (platform);
  g_autofree char *memory = whole_or_nothing (platform->memory_gib);
  g_autofree char *amount =
      price != NULL ? qm_cli_catalog_price_amount (price) : NULL;
  g_autofree char *day = qm_cli_date_text (date);
  g_autofree char *age = date.year > 0 ? qm_format_age (date, today) : NULL;
  g_autofree char *fits =
      load->gpu != NULL ? qm_prose_carry (&fit, platform, load->gpu) : NULL;
  const char *cells[] = { platform->id,
                          fits,
                          platform->name,
                          form_text (platform->form),
                          gpus,
                          watts,
                          supplies,
                          memory,
                          amount,
                          day,
                          age,
                          platform->source };

  if (load->gpu == NULL)
    memmove (cells + 1, cells + 2, sizeof cells - 2 * sizeof *cells);
  qm_cli_table_add_row (
      table, fit.problem == QM_CARRY_NONE ? QM_CLI_PLAIN : QM_CLI_BAD, cells);
}

QmCliTable *
qm_cli_catalog_platforms_table (const QmCatalog *catalog,
                                QmRates *rates,
                                const QmCliLoad *load,
                                QmDate today,
                                gboolean sources)
{
  const QmCliColumn all[] = {
    { _ ("ID") },
    { _ ("Fits"), .shrink = 36 },
    { _ ("Name"), .drop = 6, .shrink = 12 },
    { _ ("Form"), .drop = 5 },
    { _ ("GPUs"), .shrink = 12 },
    /* Translators: the most watts for each card. */
    { _ ("Watt each"), QM_CLI_RIGHT, .drop = 2 },
    { _ ("Power supplies"), .drop = 4, .shrink = 12 },
    /* Translators: the host's memory. */
    { _ ("GiB"), QM_CLI_RIGHT, .drop = 3 },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("Date"), .drop = 7 },
    { _ ("Age"), .drop = 1 },
    { _ ("Source"), .shrink = 24 },
  };
  QmCliColumn columns[G_N_ELEMENTS (all)];
  guint n_columns = G_N_ELEMENTS (all) - !sources;
  QmCliTable *table;
  size_t n;
  const QmPlatform *platforms = qm_catalog_platforms (catalog, &n);

  memcpy (columns, all, sizeof all);
  if (load->gpu == NULL)
    {
      memmove (columns + 1, columns + 2, sizeof all - 2 * sizeof *all);
      n_columns--;
    }
  table = qm_cli_table_new (columns, n_columns);
  for (size_t i = 0; i < n; i++)
    add_platform (table, catalog, rates, &platforms[i], load, today);
  return table;
}

static json_t *
takes_json (const QmPlatform *platform)
{
  json_t *array = json_array ();

  for (int i = QM_GPU_COOLING_OPEN; i < QM_GPU_COOLING_BOARD; i++)
    if (platform->takes & 1u << i)
      json_array_append_new (array, json_string (qm_gpu_cooling_name (
                                        (QmGpuCooling) i)));
  return array;
}

/* Whether it fits, what does not, by how much, and what it draws. */
static void
set_fit (json_t *object, const QmPlatform *platform, const QmCliLoad *load)
{
  QmCarry fit = fit_of (platform, load);

  json_object_set_new (object, "fits",
                       json_boolean (fit.problem == QM_CARRY_NONE));
  json_object_set_new (object, "problem",
                       qm_cli_json_text (qm_carry_problem_name (fit.problem)));
  json_object_set_new (object, "needed", qm_cli_json_number (fit.needed, 6));
  json_object_set_new (object, "available",
                       qm_cli_json_number (fit.available, 6));
  json_object_set_new (object, "wall_watts",
                       qm_cli_json_number (fit.wall_watts, 6));
}

json_t *
qm_cli_catalog_platform_json (const QmPlatform *platform, const QmCliLoad *load)
{
  const struct
  {
    const char *key;
    double value;
  } numbers[] = {
    { "rack_units", platform->rack_units },
    { "slot_width", platform->slot_width },
    { "gpu_watts", platform->gpu_watts },
    { "pcie_generation", platform->pcie_generation },
    { "pcie_lanes", platform->pcie_lanes },
    { "psu_watts", platform->psu_watts },
    { "psus", platform->psus > 0 ? platform->psus : NAN },
    { "psu_spare", platform->psus > 0 ? platform->psu_spare : NAN },
    { "host_watts", platform->host_watts },
    { "memory_gib", platform->memory_gib },
    { "memory_max_gib", platform->memory_max_gib },
    { "cpu_cores", platform->cpu_cores },
  };
  const struct
  {
    const char *key;
    const char *value;
  } texts[] = {
    { "id", platform->id },
    { "name", platform->name },
    { "vendor", platform->vendor },
    { "form", qm_platform_form_name (platform->form) },
    { "sold_with", platform->sold_with },
    { "memory_kind", qm_memory_kind_name (platform->memory_kind) },
    { "cooling", qm_liquid_name (platform->liquid) },
    { "noise", qm_noise_name (platform->noise) },
    { "networks", platform->networks },
    { "source", platform->source },
    { "unverified", platform->unverified },
    { "notes", platform->notes },
  };
  json_t *object = json_object ();

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    json_object_set_new (object, texts[i].key,
                         qm_cli_json_text (texts[i].value));
  json_object_set_new (object, "gpus", json_integer (platform->gpus));
  json_object_set_new (object, "takes", takes_json (platform));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    json_object_set_new (object, numbers[i].key,
                         qm_known (numbers[i].value)
                             ? json_real (numbers[i].value)
                             : json_null ());
  if (load->gpu != NULL)
    set_fit (object, platform, load);
  return object;
}
