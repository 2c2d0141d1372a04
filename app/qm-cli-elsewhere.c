/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-elsewhere.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-table.h"
#include "app/qm-cli.h"
#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-question.h"
#include "pricing/qm-format.h"
#include "ui/machine/qm-elsewhere.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Hours that measuring may take: six minutes to a year. */
#define HOURS_MIN 0.1
#define HOURS_MAX 8760.0
#define NODES_MAX 1024

/* The values of the options as they were typed. */
typedef struct
{
  GStrv model, methods, hours, gpu, partition, account, gpus, nodes;
  gboolean no_library, slurm;
} Typed;

static void
typed_clear (Typed *typed)
{
  g_clear_pointer (&typed->model, g_strfreev);
  g_clear_pointer (&typed->methods, g_strfreev);
  g_clear_pointer (&typed->hours, g_strfreev);
  g_clear_pointer (&typed->gpu, g_strfreev);
  g_clear_pointer (&typed->partition, g_strfreev);
  g_clear_pointer (&typed->account, g_strfreev);
  g_clear_pointer (&typed->gpus, g_strfreev);
  g_clear_pointer (&typed->nodes, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, typed_clear)

static gboolean
read_models (const Typed *typed,
             const QmCatalog *catalog,
             QmElsewhere *asked,
             GError **error)
{
  if (!qm_cli_option_list ("model", typed->model, &asked->models, error))
    return FALSE;
  if (asked->models == NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("--model is needed: what is to be measured"));
      return FALSE;
    }
  if (g_strv_length (asked->models) == 1
      && g_str_equal (asked->models[0], "all"))
    {
      g_strfreev (asked->models);
      asked->models = qm_catalog_list_models (catalog);
    }
  for (guint i = 0; asked->models[i] != NULL; i++)
    if (!qm_cli_catalog_check_model (catalog, asked->models[i], error))
      return FALSE;
  return TRUE;
}

/* A word of a batch script; *word stays as it is where it is not given. */
static gboolean
read_word (const char *name, GStrv typed, char **word, GError **error)
{
  const char *value;

  if (!qm_cli_option_single (name, typed, &value, error))
    return FALSE;
  if (value != NULL && !qm_elsewhere_is_word (value))
    return qm_cli_set_value_error (
        error, name, value, _ ("has more than letters, digits and _.,:@+-"));
  *word = g_strdup (value);
  return TRUE;
}

static gboolean
read_nodes (const Typed *typed, QmElsewhere *asked, GError **error)
{
  const char *value;
  guint64 nodes = 0;

  if (!qm_cli_option_single ("nodes", typed->nodes, &value, error))
    return FALSE;
  if (value != NULL
      && !g_ascii_string_to_unsigned (value, 10, 1, NODES_MAX, &nodes, NULL))
    return qm_cli_set_value_error (error, "nodes", value,
                                   _ ("is no number from 1 to 1024"));
  asked->nodes = (int) nodes;
  return TRUE;
}

/* What a batch script needs, and only that. */
static gboolean
check_slurm (const Typed *typed, GError **error)
{
  const GStrv words[] = { typed->partition, typed->account, typed->gpus,
                          typed->nodes };

  for (guint i = 0; i < G_N_ELEMENTS (words) && !typed->slurm; i++)
    if (words[i] != NULL)
      {
        g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                             _ ("--partition, --account, --gpus and --nodes "
                                "are of a cluster: they need --slurm"));
        return FALSE;
      }
  if (!typed->slurm || (typed->gpus != NULL && typed->hours != NULL))
    return TRUE;
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("--slurm needs --gpus, those of a node, and --hours, "
                          "which a job may take"));
  return FALSE;
}

static gboolean
read_hours (const Typed *typed, double *hours, GError **error)
{
  const char *value;

  *hours = 0;
  if (!qm_cli_option_single ("hours", typed->hours, &value, error))
    return FALSE;
  if (value == NULL
      || (qm_cli_read_number (value, HOURS_MAX, hours) && *hours >= HOURS_MIN))
    return TRUE;
  return qm_cli_set_value_error (error, "hours", value,
                                 _ ("is no number from 0.1 to 8760"));
}

/* What to measure where; the library of products is that of this computer. */
static gboolean
read_asked (const Typed *typed,
            const QmCatalog *catalog,
            QmElsewhere *asked,
            double *hours,
            GError **error)
{
  static const char *const methods[] = { "naive", "free-lunch", "all" };
  int method = 2;

  if (!read_models (typed, catalog, asked, error)
      || !qm_cli_option_choice ("methods", typed->methods, methods,
                                G_N_ELEMENTS (methods), &method, error)
      || !check_slurm (typed, error) || !read_hours (typed, hours, error)
      || !read_word ("partition", typed->partition, &asked->partition, error)
      || !read_word ("account", typed->account, &asked->account, error)
      || !read_word ("gpus", typed->gpus, &asked->gpus, error)
      || !read_nodes (typed, asked, error))
    return FALSE;
  asked->methods = g_strdup (methods[method]);
  asked->time_limit_s = (gint64) (*hours * 3600);
  asked->slurm = typed->slurm;
  if (!typed->no_library)
    asked->library = qm_elsewhere_find_library (NULL);
  return TRUE;
}

/* *gpu is NULL where none was named. */
static gboolean
find_gpu (const Typed *typed,
          const QmCatalog *catalog,
          const QmGpu **gpu,
          GError **error)
{
  const char *id;

  *gpu = NULL;
  if (!qm_cli_option_single ("gpu", typed->gpu, &id, error)
      || (id != NULL && !qm_cli_check_gpu (catalog, id, error)))
    return FALSE;
  if (id != NULL)
    *gpu = qm_catalog_gpu (catalog, id);
  return TRUE;
}

/* The price at which the GPUs of all machines are the cheapest, of an hour and
 * of as many as are rented at once: what is rented with eight is not shared.
 * *rent is then of all of them; NULL: there is none. */
static const QmPrice *
find_cheapest (GPtrArray *prices, const QmElsewhere *asked, QmRent *rent)
{
  int gpus = qm_elsewhere_count_gpus (asked);
  const QmPrice *cheapest = NULL;

  for (guint i = 0; i < prices->len; i++)
    {
      const QmPrice *price = g_ptr_array_index (prices, i);
      QmRent one;
      int times;

      if (!qm_rent_of_price (price, &one))
        continue;
      times = (gpus + one.gpus - 1) / one.gpus * MAX (asked->nodes, 1);
      one.gpus *= times;
      one.hour_micros *= times;
      if (cheapest != NULL && one.hour_micros >= rent->hour_micros)
        continue;
      cheapest = price;
      *rent = one;
    }
  return cheapest;
}

/* What measuring on rented GPUs of a type costs, at the cheapest price; of an
 * hour where nothing limits it.  (transfer full) */
static char *
describe_rent (const QmCatalog *catalog,
               const QmElsewhere *asked,
               const QmGpu *gpu,
               double hours)
{
  g_autoptr (GPtrArray) prices = qm_rent_prices (catalog, gpu->id, "USD");
  g_autofree char *time = NULL;
  g_autofree char *amount = NULL;
  g_autofree char *date = NULL;
  QmRent rent;
  const QmPrice *price = find_cheapest (prices, asked, &rent);

  if (price == NULL)
    return g_strdup (_ ("The catalog knows no price at which that GPU is "
                        "rented."));
  hours = hours > 0 ? hours : 1;
  time = qm_format_number (hours, 1);
  amount =
      qm_format_money (hours * (double) rent.hour_micros / QM_MICROS_PER_UNIT,
                       rent.currency, TRUE);
  date = qm_format_date (price->observed_on);
  /* Translators: a number of GPUs, their name, a number of hours, an amount,
   * who rents them out, a date. */
  return g_strdup_printf (_ ("To rent %d × %s for %s h costs %s at %s (%s), "
                             "without tax."),
                          rent.gpus, gpu->name, time, amount, price->source,
                          date);
}

static gboolean
write_folder (const QmElsewhere *asked, const char *folder, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *shown = NULL;

  if (qm_elsewhere_write (asked, folder, NULL, NULL, NULL, &problem))
    return TRUE;
  shown = qm_cli_escape (problem->message);
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT, shown);
  return FALSE;
}

static gboolean
tell (const QmElsewhere *asked,
      const char *folder,
      const char *rent,
      GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *name = qm_cli_quote (folder);
  g_autofree char *size = g_format_size (qm_elsewhere_measure (asked));
  g_autofree char *written =
      /* Translators: a folder, its size. */
      g_strdup_printf (_ ("Written: %s, %s. Copy it to the other machine and "
                          "run run.sh in it; its README says the rest."),
                       name, size);

  qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0, written);
  if (rent != NULL)
    qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0, rent);
  return qm_cli_write_text (out->str, error);
}

static int
run (const Typed *typed, GStrv folders, GError **error)
{
  g_autoptr (QmElsewhere) asked = qm_elsewhere_new ();
  g_autoptr (QmCatalog) catalog = NULL;
  g_autofree char *rent = NULL;
  const QmGpu *gpu;
  double hours;

  if (g_strv_length (folders) != 1)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("one FOLDER is needed, which is not there yet"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  if ((catalog = qm_cli_catalog_load (error)) == NULL
      || !find_gpu (typed, catalog, &gpu, error)
      || !read_asked (typed, catalog, asked, &hours, error)
      || !write_folder (asked, folders[0], error))
    return QM_CLI_EXIT_BAD_INPUT;
  if (gpu != NULL)
    rent = describe_rent (catalog, asked, gpu, hours);
  return tell (asked, folders[0], rent, error) ? QM_CLI_EXIT_FOUND
                                               : QM_CLI_EXIT_BAD_INPUT;
}

static void
add_options (Typed *typed, GArray *options)
{
  qm_cli_options_add_value (options, "model", 0, _ ("MODEL,…"),
                            _ ("What to measure; all is every model"),
                            &typed->model);
  qm_cli_options_add_value (options, "methods", 0, "naive|free-lunch|all",
                            _ ("Which ways to train; all if not given"),
                            &typed->methods);
  qm_cli_options_add_value (options, "hours", 0, _ ("N"),
                            _ ("To stop after, with the most telling measured "
                               "first"),
                            &typed->hours);
  qm_cli_options_add_value (options, "gpu", 0, _ ("ID"),
                            _ ("Say what renting such GPUs for it costs"),
                            &typed->gpu);
  qm_cli_options_add_flag (options, "no-library",
                           _ ("Without NVIDIA’s library for products of "
                              "matrices, which is large"),
                           &typed->no_library);
  qm_cli_options_add_flag (options, "slurm",
                           _ ("With a batch script for a cluster"),
                           &typed->slurm);
  qm_cli_options_add_value (options, "partition", 0, _ ("NAME"),
                            _ ("Of the cluster"), &typed->partition);
  qm_cli_options_add_value (options, "account", 0, _ ("NAME"),
                            _ ("Of the cluster"), &typed->account);
  qm_cli_options_add_value (options, "gpus", 0, _ ("GPUS"),
                            _ ("Those of a node, as 1 or a100:1"),
                            &typed->gpus);
  qm_cli_options_add_value (options, "nodes", 0, _ ("N"),
                            _ ("That work together; 1 if not given"),
                            &typed->nodes);
}

int
qm_cli_elsewhere (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "elsewhere",
    .parameters = _ ("FOLDER"),
    .summary = _ ("Writes a benchmark for another machine, as one that is "
                  "rented for an hour before\nanything is bought: a folder "
                  "that needs nothing there but NVIDIA’s driver."),
    .description = _ ("FOLDER must not exist.  What was measured comes back as "
                      "a file that the window imports."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) folders = NULL;
  int status;

  add_options (&typed, options);
  if (!qm_cli_options_parse (&verb, options, arguments, &folders, &status,
                             error))
    return status;
  return run (&typed, folders, error);
}
