/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-store.h"
#include "data/results-file.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

#define DEADLINE_MAX 1e6 /* days */
#define LIFETIME_MAX 100 /* years */
#define RUNS_MAX     1e5 /* a year */
#define AT_ONCE_MAX  1000
#define COUNT_MAX    1024
#define ROOM_MAX     1e9 /* watts */
#define WALLTIME_MAX 1e6 /* hours */

void
qm_cli_question_add_options (QmCliQuestion *typed, GArray *options)
{
  qm_cli_options_add_value (options, "model", 0, _ ("MODEL"),
                            _ ("What to train, as “catalog models” names it"),
                            &typed->model);
  qm_cli_options_add_value (
      options, "runs", 0, _ ("MODEL=N,…"),
      _ ("Instead of a model: the runs of a year, as in pythia-1b=3"),
      &typed->runs);
  qm_cli_options_add_value (options, "at-once", 0, _ ("N"),
                            _ ("With --runs: machines needed side by side"),
                            &typed->at_once);
  qm_cli_money_add_options (&typed->money, options);
  qm_cli_options_add_value (
      options, "deadline", 0, _ ("DAYS"),
      _ ("Longest that training may take; with --runs, all runs of a year"),
      &typed->deadline);
  qm_cli_options_add_value (
      options, "deadline-per-run", 0, _ ("DAYS"),
      _ ("With --runs: longest that a single one of them may take"),
      &typed->run_deadline);
  qm_cli_options_add_value (
      options, "gpu", 0, _ ("GPU,…"),
      _ ("Only these types, as “catalog gpus” names them"), &typed->gpu);
  qm_cli_options_add_value (options, "gpus", 0, _ ("N,…"),
                            _ ("Only so many GPUs in a machine, as in 1,2,4"),
                            &typed->gpus);
  qm_cli_options_add_value (options, "machine", 0, "desktop|server|all",
                            _ ("Only this kind of machine"), &typed->machine);
  qm_cli_options_add_value (
      options, "use", 0, _ ("NxGPU[@USD][/HOURS]"),
      _ ("Compare GPUs at hand: 4xa6000, 8xa100-80gb-sxm@1.5/24"), &typed->use);
  qm_cli_options_add_value (
      options, "room", 0, _ ("POWER"),
      _ ("Power: one-circuit, two-circuits, three-phases, any, or watts"),
      &typed->room);
  qm_cli_options_add_value (options, "times-of", 0, _ ("WHOSE"),
                            _ ("Whose times: pytorch or quartermaster"),
                            &typed->times_of);
  qm_cli_options_add_value (
      options, "predictions", 0, _ ("WHICH"),
      _ ("Predict what nobody measured: all (the default) or none"),
      &typed->predictions);
  qm_cli_question_add_link (typed, options);
  qm_cli_options_add_flag (
      options, "any-price",
      _ ("Used, claimed and undated prices compete with those of dealers"),
      &typed->any_price);
  qm_cli_options_add_flag (
      options, "as-in-the-paper",
      _ ("Times, prices and machines of “$100K or 100 Days”, and no others"),
      &typed->as_in_paper);
  qm_cli_options_add_value (
      options, "settings", 0, _ ("METHODS"),
      _ ("Times with optimal methods, eager (not compiled), or naive"),
      &typed->settings);
  qm_cli_options_add_value (
      options, "lifetime", 0, _ ("YEARS"),
      _ ("How long the machine will serve; 5 if not given"), &typed->lifetime);
  qm_cli_options_add_value (options, "time-factor", 0, _ ("N"),
                            _ ("A run takes so many times as long as its "
                               "steps; 1.1 if not given"),
                            &typed->time_factor);
  qm_cli_options_add_value (
      options, "slack", 0, _ ("PERCENT"),
      _ ("Times so close to the shortest count as equal, and the cheapest "
         "training of them is advised; 5 if not given"),
      &typed->slack);
  qm_cli_options_add_value (
      options, "costs", 0, "prices|total",
      _ ("What counts as cost: prices, or all that --ownership says"),
      &typed->costs);
  qm_cli_ownership_add_options (&typed->ownership, options);
  qm_cli_options_add_flag (options, "no-quotes",
                           _ ("Leave your quotes out of account"),
                           &typed->no_quotes);
  qm_cli_options_add_flag (
      options, "expired-quotes",
      _ ("Quotes that do not hold today count too, where none does"),
      &typed->expired_quotes);
  qm_cli_options_add_flag (
      options, "no-this-machine",
      _ ("Leave out what qm-bench measured on this machine"),
      &typed->no_this_machine);
  qm_cli_store_add_option (options, &typed->store);
}

void
qm_cli_question_add_link (QmCliQuestion *typed, GArray *options)
{
  qm_cli_options_add_value (
      options, "link", 0, "auto|nvlink|pcie",
      _ ("Between GPUs, of predicted times; auto: as they are sold"),
      &typed->link);
}

void
qm_cli_question_clear (QmCliQuestion *typed)
{
  g_clear_pointer (&typed->asked, qm_asked_free);
  g_clear_pointer (&typed->model, g_strfreev);
  g_clear_pointer (&typed->runs, g_strfreev);
  g_clear_pointer (&typed->at_once, g_strfreev);
  qm_cli_money_clear (&typed->money);
  g_clear_pointer (&typed->deadline, g_strfreev);
  g_clear_pointer (&typed->run_deadline, g_strfreev);
  g_clear_pointer (&typed->gpu, g_strfreev);
  g_clear_pointer (&typed->gpus, g_strfreev);
  g_clear_pointer (&typed->machine, g_strfreev);
  g_clear_pointer (&typed->times_of, g_strfreev);
  g_clear_pointer (&typed->predictions, g_strfreev);
  g_clear_pointer (&typed->link, g_strfreev);
  g_clear_pointer (&typed->room, g_strfreev);
  g_clear_pointer (&typed->use, g_strfreev);
  g_clear_pointer (&typed->settings, g_strfreev);
  g_clear_pointer (&typed->lifetime, g_strfreev);
  g_clear_pointer (&typed->time_factor, g_strfreev);
  g_clear_pointer (&typed->slack, g_strfreev);
  g_clear_pointer (&typed->costs, g_strfreev);
  qm_cli_ownership_clear (&typed->ownership);
  g_clear_pointer (&typed->store, g_strfreev);
  g_clear_pointer (&typed->troubles, g_ptr_array_unref);
}

gboolean
qm_cli_check_gpu (const QmCatalog *catalog, const char *id, GError **error)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  g_autofree const char **names = NULL;

  if (qm_catalog_gpu (catalog, id) != NULL)
    return TRUE;
  names = g_new0 (const char *, n + 1);
  for (size_t i = 0; i < n; i++)
    names[i] = gpus[i].id;
  return qm_cli_set_unknown (error, _ ("unknown GPU %s"), id, names, n,
                             _ ("“quartermaster catalog gpus” lists all"));
}

static gboolean
set_usage_error (GError **error, const char *message)
{
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, message);
  return FALSE;
}

/* (transfer full) */
static GStrv
without_repetition (GStrv items)
{
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; items[i] != NULL; i++)
    if (!g_ptr_array_find_with_equal_func (kept, items[i], g_str_equal, NULL))
      g_ptr_array_add (kept, g_strdup (items[i]));
  g_ptr_array_add (kept, NULL);
  return (GStrv) g_ptr_array_steal (kept, NULL);
}

gboolean
qm_cli_question_open (QmCliQuestion *typed,
                      GStrv arguments,
                      const QmCatalog *catalog,
                      GError **error)
{
  g_autoptr (GError) problem = NULL;
  const char *path = arguments[0];
  g_autofree char *quoted = NULL;

  if (path == NULL)
    return TRUE;
  quoted = qm_cli_quote (arguments[1] != NULL ? arguments[1] : path);
  if (arguments[1] != NULL || !g_str_has_suffix (path, QM_ASKED_SUFFIX))
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("%s is no option and no question; write “--model "
                      "pythia-1b”, or one file whose name ends with “%s”"),
                   quoted, QM_ASKED_SUFFIX);
      return FALSE;
    }
  typed->asked = qm_asked_load (path, &problem);
  if (typed->asked != NULL && qm_asked_check (typed->asked, catalog, &problem))
    return TRUE;
  if (typed->asked != NULL)
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s: %s", quoted,
                 problem->message);
  else
    g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                         problem->message);
  return FALSE;
}

gboolean
qm_cli_question_ownership (const QmCliQuestion *typed,
                           const QmQuestion *question,
                           QmOwnershipSettings *ownership,
                           gboolean *owning,
                           GError **error)
{
  gboolean is_typed = qm_cli_ownership_is_asked (&typed->ownership);

  *owning = is_typed || question->ownership != NULL;
  if (!is_typed && question->ownership != NULL)
    {
      *ownership = *question->ownership;
      return TRUE;
    }
  return !*owning
         || qm_cli_ownership_read (&typed->ownership,
                                   question->ownership != NULL
                                       ? NULL
                                       : &question->purse,
                                   question->lifetime_years, ownership, error);
}

/* Those of the file, where none are typed. */
static gboolean
models_of_file (const QmCliQuestion *typed, GStrv *models)
{
  if (*models != NULL || typed->runs != NULL || typed->asked == NULL)
    return FALSE;
  *models = g_strdupv (typed->asked->models);
  return TRUE;
}

GStrv
qm_cli_question_models (const QmCliQuestion *typed,
                        const QmCatalog *catalog,
                        gboolean several,
                        GError **error)
{
  g_auto (GStrv) models = NULL;

  if (!qm_cli_option_list ("model", typed->model, &models, error))
    return NULL;
  if (models_of_file (typed, &models) && models[0] == NULL)
    return g_steal_pointer (&models);
  if (models == NULL && typed->runs == NULL)
    {
      set_usage_error (error,
                       _ ("--model is needed, as in “--model pythia-1b”; "
                          "“quartermaster catalog models” lists all"));
      return NULL;
    }
  if (models != NULL && typed->runs != NULL)
    {
      set_usage_error (error, _ ("--model and --runs exclude each other; give "
                                 "the model as one of the runs"));
      return NULL;
    }
  if (models == NULL)
    return g_new0 (char *, 1);
  if (!several && models[1] != NULL)
    {
      set_usage_error (error, _ ("--model takes one model here; ask once for "
                                 "each, or for all together with --runs"));
      return NULL;
    }
  for (guint i = 0; models[i] != NULL; i++)
    if (!qm_cli_catalog_check_model (catalog, models[i], error))
      return NULL;
  return without_repetition (models);
}

static gboolean
read_days (const char *name, GStrv typed, double *days, GError **error)
{
  const char *value;

  if (!qm_cli_option_single (name, typed, &value, error))
    return FALSE;
  if (value == NULL || qm_cli_read_number (value, DEADLINE_MAX, days))
    return TRUE;
  return qm_cli_set_value_error (
      error, name, value,
      _ ("is not a number of days above zero; write it "
         "like 60 or 0.5"));
}

static gboolean
read_deadlines (const QmCliQuestion *typed,
                QmQuestion *question,
                GError **error)
{
  return read_days ("deadline", typed->deadline, &question->deadline_days,
                    error)
         && read_days ("deadline-per-run", typed->run_deadline,
                       &question->run_deadline_days, error);
}

static gboolean
read_lifetime (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  const char *value;

  if (!qm_cli_option_single ("lifetime", typed->lifetime, &value, error))
    return FALSE;
  if (value == NULL
      || qm_cli_read_number (value, LIFETIME_MAX, &question->lifetime_years))
    return TRUE;
  return qm_cli_set_value_error (
      error, "lifetime", value,
      _ ("is not a number of years above 0 and up to 100; "
         "write it like 5"));
}

static gboolean
read_time_factor (const QmCliQuestion *typed,
                  QmQuestion *question,
                  GError **error)
{
  const char *value;

  if (!qm_cli_option_single ("time-factor", typed->time_factor, &value, error))
    return FALSE;
  if (value == NULL
      || (qm_cli_read_number (value, QM_TIME_FACTOR_MAX, &question->time_factor)
          && question->time_factor >= QM_TIME_FACTOR_MIN))
    return TRUE;
  return qm_cli_set_value_error (
      error, "time-factor", value,
      _ ("is not a number from 1 to 10; write it like 1.1 "
         "where data, evaluation, checkpoints and restarts "
         "take a tenth of what the steps take"));
}

static gboolean
read_slack (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  const char *value;

  if (!qm_cli_option_single ("slack", typed->slack, &value, error))
    return FALSE;
  if (g_strcmp0 (value, "0") == 0)
    question->slack_percent = 0;
  else if (value != NULL
           && !qm_cli_read_number (value, QM_SLACK_MAX,
                                   &question->slack_percent))
    return qm_cli_set_value_error (
        error, "slack", value,
        _ ("is not a percentage from 0 to 100; write it like 5, or 0 for the "
           "shortest time, whatever it costs"));
  return TRUE;
}

static gboolean
read_gpu (const QmCliQuestion *typed,
          const QmCatalog *catalog,
          QmQuestion *question,
          GError **error)
{
  g_auto (GStrv) items = NULL;

  if (!qm_cli_option_list ("gpu", typed->gpu, &items, error))
    return FALSE;
  if (items == NULL)
    return TRUE;
  for (guint i = 0; items[i] != NULL; i++)
    if (!qm_cli_check_gpu (catalog, items[i], error))
      return FALSE;
  g_strfreev (question->gpus);
  question->gpus = without_repetition (items);
  return TRUE;
}

static gboolean
read_gpus (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  g_auto (GStrv) items = NULL;

  if (!qm_cli_option_list ("gpus", typed->gpus, &items, error))
    return FALSE;
  if (items == NULL)
    return TRUE;
  g_clear_pointer (&question->counts, g_array_unref);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  for (guint i = 0; items[i] != NULL; i++)
    {
      guint64 value;
      int count;

      if (!g_ascii_string_to_unsigned (items[i], 10, 1, COUNT_MAX, &value,
                                       NULL))
        return qm_cli_set_value_error (
            error, "gpus", items[i],
            _ ("is not a number of GPUs in a machine; "
               "write them like 1,2,4,8"));
      count = (int) value;
      g_array_append_val (question->counts, count);
    }
  return TRUE;
}

static gboolean
read_choices (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  static const char *const machines[] = { "all", "desktop", "server" };
  static const QmMachineKinds kinds[] = { QM_KINDS_ALL, QM_KINDS_DESKTOP,
                                          QM_KINDS_SERVER };
  const char *times_of[QM_TIMES_OF_PUBLICATION];
  const char *predictions[QM_N_PREDICTIONS];
  const char *links[QM_N_GPU_LINKS];
  const char *settings[QM_N_SETTINGS];
  int machine = 0;
  int link = (int) question->link;
  int whose = (int) question->times_of;
  int predicted = (int) question->predictions;
  int setting = (int) question->settings;

  for (int i = 0; i < QM_TIMES_OF_PUBLICATION; i++)
    times_of[i] = qm_times_of_name ((QmTimesOf) i);
  for (int i = 0; i < QM_N_PREDICTIONS; i++)
    predictions[i] = qm_predictions_name ((QmPredictions) i);
  for (int i = 0; i < QM_N_GPU_LINKS; i++)
    links[i] = qm_gpu_link_name ((QmGpuLink) i);
  for (int i = 0; i < QM_N_SETTINGS; i++)
    settings[i] = qm_settings_name ((QmSettings) i);
  if (!qm_cli_option_choice ("machine", typed->machine, machines,
                             G_N_ELEMENTS (machines), &machine, error)
      || !qm_cli_option_choice ("times-of", typed->times_of, times_of,
                                G_N_ELEMENTS (times_of), &whose, error)
      || !qm_cli_option_choice ("predictions", typed->predictions, predictions,
                                G_N_ELEMENTS (predictions), &predicted, error)
      || !qm_cli_option_choice ("link", typed->link, links,
                                G_N_ELEMENTS (links), &link, error)
      || !qm_cli_option_choice ("settings", typed->settings, settings,
                                G_N_ELEMENTS (settings), &setting, error))
    return FALSE;
  if (typed->machine != NULL)
    question->kinds = kinds[machine];
  question->times_of = (QmTimesOf) whose;
  question->predictions = (QmPredictions) predicted;
  question->link = (QmGpuLink) link;
  question->any_price |= typed->any_price;
  question->settings = (QmSettings) setting;
  return TRUE;
}

/* A name, or watts. */
static gboolean
read_room (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  const char *value;

  if (!qm_cli_option_single ("room", typed->room, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  for (int i = 0; i < QM_N_ROOMS; i++)
    if (strcmp (value, qm_room_name ((QmRoom) i)) == 0)
      {
        question->room_watts = qm_room_watts ((QmRoom) i);
        return TRUE;
      }
  if (qm_cli_read_number (value, ROOM_MAX, &question->room_watts))
    return TRUE;
  return qm_cli_set_value_error (
      error, "room", value,
      _ ("is no power of a room; write one-circuit, "
         "two-circuits, three-phases, any, or a number of "
         "watts like 3600"));
}

/* "4xa100-80gb-sxm@1.50/24": how many of which, what an hour of each costs, and
 * how long a job may run. */
static gboolean
read_use (const char *item,
          const QmCatalog *catalog,
          QmQuestion *question,
          GError **error)
{
  const char *form =
      _ ("is no number of GPUs to use; write it like 4xa6000, or "
         "8xa100-80gb-sxm@1.50/24 where an hour of each costs "
         "$1.50 and a job may run 24 hours");
  g_autofree char *gpu = g_strdup (item);
  char *x = strchr (gpu, 'x');
  char *at = strchr (gpu, '@');
  char *slash = strchr (gpu, '/');
  double walltime = NAN;
  gint64 micros = 0;
  guint64 gpus;

  if (x == NULL || (slash != NULL && at != NULL && slash < at))
    return qm_cli_set_value_error (error, "use", item, form);
  *x = '\0';
  if (slash != NULL)
    *slash = '\0';
  if (at != NULL)
    *at = '\0';
  if (!g_ascii_string_to_unsigned (gpu, 10, 1, COUNT_MAX, &gpus, NULL)
      || (at != NULL
          && (!g_ascii_isdigit (at[1]) || !qm_micros_parse (at + 1, &micros)))
      || (slash != NULL
          && !qm_cli_read_number (slash + 1, WALLTIME_MAX, &walltime)))
    return qm_cli_set_value_error (error, "use", item, form);
  if (!qm_cli_check_gpu (catalog, x + 1, error))
    return FALSE;
  qm_question_add_use (question, x + 1, (int) gpus, micros, walltime);
  return TRUE;
}

static gboolean
read_uses (const QmCliQuestion *typed,
           const QmCatalog *catalog,
           QmQuestion *question,
           GError **error)
{
  g_auto (GStrv) items = NULL;

  if (!qm_cli_option_list ("use", typed->use, &items, error))
    return FALSE;
  if (items != NULL)
    g_clear_pointer (&question->uses, g_array_unref);
  for (guint i = 0; items != NULL && items[i] != NULL; i++)
    if (!read_use (items[i], catalog, question, error))
      return FALSE;
  return TRUE;
}

/* The paper answers one question; what would change it contradicts it. */
static gboolean
read_paper (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  if (!typed->as_in_paper && !question->as_in_paper)
    return TRUE;
  if (typed->times_of != NULL || typed->predictions != NULL
      || typed->link != NULL || typed->any_price || typed->room != NULL
      || typed->lifetime != NULL || typed->time_factor != NULL
      || typed->slack != NULL || typed->costs != NULL || typed->expired_quotes
      || typed->store != NULL || qm_cli_money_is_particular (&typed->money)
      || qm_cli_ownership_is_asked (&typed->ownership))
    return set_usage_error (
        error,
        _ ("--as-in-the-paper has times, prices, machines and a "
           "lifetime of its own: --times-of, --predictions, --link, "
           "--any-price, --room, --lifetime, --time-factor, --slack, "
           "--costs, --ownership, --currency, --tax, --gross, --machine-least, "
           "--machine-most, --expired-quotes and --store do not go with "
           "it"));
  qm_question_set_as_in_paper (question);
  return TRUE;
}

static gboolean
read_run (const char *item,
          const QmCatalog *catalog,
          QmQuestion *question,
          GError **error)
{
  const char *sign = strrchr (item, '=');
  g_autofree char *model = NULL;
  double runs;

  if (sign == NULL || sign == item
      || !qm_cli_read_number (sign + 1, RUNS_MAX, &runs))
    return qm_cli_set_value_error (
        error, "runs", item,
        _ ("is not a model and its runs a year; write it "
           "like pythia-1b=3"));
  model = g_strndup (item, (gsize) (sign - item));
  if (!qm_cli_catalog_check_model (catalog, model, error))
    return FALSE;
  qm_question_add_run (question, model, runs);
  return TRUE;
}

static gboolean
read_portfolio (const QmCliQuestion *typed,
                const QmCatalog *catalog,
                QmQuestion *question,
                GError **error)
{
  g_auto (GStrv) items = NULL;
  const char *value;
  guint64 at_once;

  if (!qm_cli_option_list ("runs", typed->runs, &items, error)
      || !qm_cli_option_single ("at-once", typed->at_once, &value, error))
    return FALSE;
  if (items != NULL || typed->model != NULL)
    g_clear_pointer (&question->runs, g_array_unref);
  for (guint i = 0; items != NULL && items[i] != NULL; i++)
    if (!read_run (items[i], catalog, question, error))
      return FALSE;
  if (value == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (value, 10, 1, AT_ONCE_MAX, &at_once, NULL))
    return qm_cli_set_value_error (
        error, "at-once", value,
        _ ("is not a number of machines from 1 to 1000; "
           "write it like 2"));
  if (!qm_question_is_portfolio (question))
    return set_usage_error (error, _ ("--at-once needs --runs, as in “--runs "
                                      "pythia-1b=3 --at-once 2”"));
  question->at_once = (int) at_once;
  return TRUE;
}

/* Quotes of the store, and the exchange rates: those that were fetched into it,
 * too. */
static gboolean
read_quotes (QmCliQuestion *typed,
             const QmCatalog *catalog,
             QmQuestion *question,
             GError **error)
{
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  QmRates *rates;
  g_autoptr (GError) trouble = NULL;

  if (typed->no_quotes && (typed->expired_quotes || typed->store != NULL))
    return set_usage_error (error, _ ("--no-quotes leaves nothing to "
                                      "--expired-quotes and --store"));
  question->expired_offers |= typed->expired_quotes;
  if ((question->rates = qm_cli_shipped_rates (error)) == NULL)
    return FALSE;
  if (typed->no_quotes)
    return TRUE;
  typed->troubles = g_ptr_array_new_with_free_func (g_free);
  store =
      qm_cli_store_open_for_advice (typed->store, typed->troubles, &trouble);
  if (trouble != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  if (store == NULL)
    return TRUE;
  if ((quotes = qm_quote_store_get_all (store, TRUE, typed->troubles, NULL,
                                        &trouble))
          == NULL
      || (rates = qm_cli_store_rates (store, &trouble)) == NULL)
    {
      g_ptr_array_add (typed->troubles,
                       qm_cli_store_unused_text (trouble->message));
      return TRUE;
    }
  qm_rates_unref (question->rates);
  question->rates = rates;
  if (quotes->len > 0)
    {
      g_autoptr (QmOffers) offers =
          qm_offers_new (catalog, quotes, rates, qm_date_today ());

      qm_question_set_offers (question, offers);
    }
  return TRUE;
}

/* The lifetime is an assumption too. */
static gboolean
read_costs (const QmCliQuestion *typed, QmQuestion *question, GError **error)
{
  static const char *const names[] = { "prices", "total" };
  int costs = 0;
  QmOwnershipSettings ownership;

  if (!qm_cli_option_choice ("costs", typed->costs, names, G_N_ELEMENTS (names),
                             &costs, error))
    return FALSE;
  if (costs == 0 && typed->costs != NULL)
    qm_question_set_ownership (question, NULL);
  if (costs == 0 && !qm_cli_ownership_is_asked (&typed->ownership))
    return TRUE;
  if (!qm_cli_ownership_read (&typed->ownership, NULL, question->lifetime_years,
                              &ownership, error))
    return FALSE;
  question->lifetime_years = ownership.lifetime_years;
  if (costs == 1)
    qm_question_set_ownership (question, &ownership);
  return TRUE;
}

gboolean
qm_cli_question_unsaid (const QmQuestion *question, QmError *notice)
{
  guint n =
      question->host != NULL ? qm_host_times_n_unsaid (question->host) : 0;
  char path[PATH_MAX];

  if (n == 0 || !qm_results_default_path (path, sizeof path))
    return FALSE;
  qm_error_set (notice, QM_STATUS_UNSUPPORTED, path, 0, 0,
                ngettext ("%u result does not say of which machine it is and "
                          "does not count as this one’s: “qm-bench results "
                          "--adopt” says that it is",
                          "%u results do not say of which machine they are and "
                          "do not count as this one’s: “qm-bench results "
                          "--adopt” says that they are",
                          n),
                n);
  return TRUE;
}

QmQuestion *
qm_cli_question_read (QmCliQuestion *typed,
                      const QmCatalog *catalog,
                      GError **error)
{
  g_autoptr (QmQuestion) question =
      typed->asked != NULL ? qm_question_copy (typed->asked->question)
                           : qm_question_new ();
  QmError notice;

  if (!read_deadlines (typed, question, error)
      || !read_lifetime (typed, question, error)
      || !read_time_factor (typed, question, error)
      || !read_slack (typed, question, error)
      || !read_gpu (typed, catalog, question, error)
      || !read_gpus (typed, question, error)
      || !read_choices (typed, question, error)
      || !read_room (typed, question, error)
      || !read_uses (typed, catalog, question, error)
      || !read_costs (typed, question, error)
      || !read_portfolio (typed, catalog, question, error)
      || !read_paper (typed, question, error)
      || (!typed->as_in_paper && !read_quotes (typed, catalog, question, error))
      || !qm_cli_money_read (&typed->money, question, error))
    return NULL;
  if (!typed->no_this_machine && !question->as_in_paper)
    question->host = qm_host_times_load (catalog, NULL);
  if (qm_cli_question_unsaid (question, &notice))
    qm_cli_note (&notice);
  return g_steal_pointer (&question);
}

QmQuestion *
qm_cli_question_whole (QmCliQuestion *typed,
                       GStrv files,
                       const QmCatalog *catalog,
                       GError **error)
{
  g_autoptr (QmQuestion) question = NULL;
  g_auto (GStrv) models = NULL;

  if (!qm_cli_question_open (typed, files, catalog, error)
      || (models = qm_cli_question_models (typed, catalog, TRUE, error)) == NULL
      || (question = qm_cli_question_read (typed, catalog, error)) == NULL)
    return NULL;
  for (guint i = 0; typed->troubles != NULL && i < typed->troubles->len; i++)
    qm_cli_store_warn (g_ptr_array_index (typed->troubles, i));
  if (g_strv_length (models) == 1)
    question->model = g_strdup (models[0]);
  for (guint i = 0; g_strv_length (models) > 1 && models[i] != NULL; i++)
    qm_question_add_run (question, models[i], 1);
  return g_steal_pointer (&question);
}
