/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"
#include "ui/advisor/qm-places.h"
#include "ui/advisor/qm-topic.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define DEFAULT_MODEL  "pythia-1b"
#define DEFAULT_BUDGET 40000.0
#define LIFETIME_MIN   1.0
#define LIFETIME_MAX   20.0
#define AT_ONCE_MAX    64

enum
{
  PROP_0,
  PROP_MODELS,
  PROP_CURRENCY,
  PROP_BUDGET,
  PROP_TAX,
  PROP_GROSS,
  PROP_MACHINE_LEAST,
  PROP_MACHINE_MOST,
  PROP_DEADLINE,
  PROP_RUN_DEADLINE,
  PROP_LIFETIME,
  PROP_AS_IN_PAPER,
  PROP_ANY_PRICE,
  PROP_EXPIRED_QUOTES,
  PROP_TOTAL_COST,
  PROP_DESKTOPS,
  PROP_SERVERS,
  PROP_LOG_AXES,
  PROP_ALL_GPUS,
  PROP_PORTFOLIO,
  PROP_AT_ONCE,
  PROP_TIMES_OF,
  PROP_SETTINGS,
  PROP_ROOM,
  PROP_MEASURED_ONLY,
  PROP_TIME_FACTOR,
  PROP_SLACK,
  N_PROPS
};

enum
{
  REBUILT,
  LIMITS_CHANGED,
  SELECTION_CHANGED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmAdvisor, qm_advisor, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

/* The paper has prices in USD without tax alone, and the total cost may have
 * tax already. */
static void
take_purse (QmAdvisor *self, QmQuestion *question)
{
  QmPurse purse = self->purse;

  if (self->as_in_paper)
    {
      question->budget_minor = qm_advisor_get_budget_minor (self);
      return;
    }
  purse.budget_minor =
      qm_money_from_double (self->budget, purse.currency).minor;
  qm_question_take_purse (question, &purse);
}

QmQuestion *
qm_advisor_base_question (QmAdvisor *self)
{
  QmQuestion *question = qm_question_new ();
  g_autoptr (GStrvBuilder) gpus = g_strv_builder_new ();

  take_purse (self, question);
  question->deadline_days = qm_advisor_get_deadline_days (self);
  question->run_deadline_days = qm_advisor_get_run_deadline_days (self);
  question->times_of = (QmTimesOf) self->times_of;
  question->predictions =
      self->measured_only ? QM_PREDICTIONS_NONE : QM_PREDICTIONS_ALL;
  question->forecasts = qm_forecasts_ref (qm_forecaster_get (self->forecaster));
  question->any_price = self->any_price;
  question->room_watts = qm_room_watts ((QmRoom) self->room);
  question->settings = (QmSettings) self->settings;
  question->lifetime_years = self->lifetime;
  question->time_factor = self->time_factor;
  question->slack_percent = self->slack;
  question->kinds = (self->desktops ? QM_KINDS_DESKTOP : 0)
                    | (self->servers ? QM_KINDS_SERVER : 0);
  question->at_once = self->at_once;
  question->expired_offers = self->expired_quotes;
  if (self->total_cost)
    qm_question_set_ownership (question, &self->ownership);
  if (self->rates != NULL)
    question->rates = qm_rates_ref (self->rates);
  qm_question_set_offers (question, self->offers);
  if (self->host != NULL)
    question->host = qm_host_times_ref (self->host);

  if (g_hash_table_size (self->gpus_off) > 0)
    {
      for (guint i = 0; g_ptr_array_index (self->gpus, i) != NULL; i++)
        if (!g_hash_table_contains (self->gpus_off,
                                    g_ptr_array_index (self->gpus, i)))
          g_strv_builder_add (gpus, g_ptr_array_index (self->gpus, i));
      question->gpus = g_strv_builder_end (gpus);
    }
  if (g_hash_table_size (self->counts_off) > 0)
    {
      question->counts = g_array_new (FALSE, FALSE, sizeof (int));
      for (guint i = 0; i < self->counts->len; i++)
        {
          int count = g_array_index (self->counts, int, i);

          if (qm_advisor_get_count_enabled (self, count))
            g_array_append_val (question->counts, count);
        }
    }
  if (self->as_in_paper)
    qm_question_set_as_in_paper (question);
  qm_advisor_ask_of_uses (self, question);
  return question;
}

/* Takes the question. */
static void
add_topic (QmAdvisor *self, const char *title, QmQuestion *question)
{
  QmTopic *topic = qm_topic_new (self->catalog, title, question);

  /* Setters let nothing in that the catalog does not know. */
  g_return_if_fail (topic != NULL);
  g_ptr_array_add (self->topics, topic);
}

/* Has a model predicted where the question wants that, and where times of it
 * are to be audited. */
static void
forecast (QmAdvisor *self, const QmQuestion *question, const char *model)
{
  const char *level = qm_question_level (question);
  g_autofree char *counts = qm_predictions_counts (self->catalog, question);
  g_autofree char *audited_gpus = NULL;
  g_autofree char *audited_counts = NULL;

  if (level != NULL)
    qm_forecaster_ask (self->forecaster, model, level, "all", counts);
  if (qm_predictions_to_audit (self->catalog, question, model, &audited_gpus,
                               &audited_counts))
    qm_forecaster_ask (self->forecaster, model, QM_FORECAST_LEVELS,
                       audited_gpus, audited_counts);
}

static void
build_topics (QmAdvisor *self)
{
  g_ptr_array_set_size (self->topics, 0);
  if (self->portfolio && self->runs->len > 0)
    {
      QmQuestion *question = qm_advisor_base_question (self);

      for (guint i = 0; i < self->runs->len; i++)
        {
          const QmRun *run = &g_array_index (self->runs, QmRun, i);

          qm_question_add_run (question, run->model, run->runs_per_year);
          forecast (self, question, run->model);
        }
      add_topic (self, _ ("A year’s runs"), question);
      return;
    }
  for (guint i = 0; self->models[i] != NULL; i++)
    {
      const QmModel *model = qm_catalog_model (self->catalog, self->models[i]);
      QmQuestion *question = qm_advisor_base_question (self);

      question->model = g_strdup (self->models[i]);
      forecast (self, question, self->models[i]);
      add_topic (self, model->name, question);
    }
}

void
qm_advisor_ensure_topics (QmAdvisor *self)
{
  QmSelectedCandidate selected;

  if (!self->stale)
    return;
  self->stale = FALSE;
  g_clear_handle_id (&self->rebuild_source, g_source_remove);
  qm_selected_candidate_init (&selected, self);
  build_topics (self);
  qm_selected_candidate_select (&selected, self);
  qm_selected_candidate_clear (&selected);
  g_signal_emit (self, signals[REBUILT], 0);
  qm_advisor_tell_selection (self);
}

void
qm_advisor_tell_selection (QmAdvisor *self)
{
  g_signal_emit (self, signals[SELECTION_CHANGED], 0);
}

static gboolean
rebuild_idle_cb (gpointer data)
{
  QmAdvisor *self = data;

  self->rebuild_source = 0;
  qm_advisor_ensure_topics (self);
  return G_SOURCE_REMOVE;
}

void
qm_advisor_queue_rebuild (QmAdvisor *self)
{
  self->stale = TRUE;
  if (self->rebuild_source == 0)
    self->rebuild_source =
        g_idle_add_full (G_PRIORITY_HIGH_IDLE, rebuild_idle_cb, self, NULL);
}

/* A moved limit leaves the candidates alone: only recommend anew. */
static void
limits_moved (QmAdvisor *self)
{
  if (self->stale)
    return;
  for (guint i = 0; i < self->topics->len; i++)
    qm_topic_set_limits (g_ptr_array_index (self->topics, i),
                         qm_advisor_get_budget_minor (self),
                         qm_advisor_get_deadline_days (self),
                         qm_advisor_get_run_deadline_days (self));
  g_signal_emit (self, signals[LIMITS_CHANGED], 0);
}

static void
set_models (QmAdvisor *self, const char *const *models)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_auto (GStrv) known = NULL;

  for (guint i = 0; models != NULL && models[i] != NULL; i++)
    if (qm_catalog_model (self->catalog, models[i]) != NULL
        && g_hash_table_add (seen, (gpointer) models[i]))
      g_strv_builder_add (builder, models[i]);
  known = g_strv_builder_end (builder);
  if (known[0] == NULL
      || (self->models != NULL
          && g_strv_equal ((const char *const *) known,
                           (const char *const *) self->models)))
    return;
  g_strfreev (self->models);
  self->models = g_steal_pointer (&known);
  qm_advisor_queue_rebuild (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODELS]);
}

/* Whether candidates are others with another number; of a year's work the
 * deadline says how many machines it takes. */
static gboolean
is_of_candidates (QmAdvisor *self, guint property)
{
  return property == PROP_LIFETIME || property == PROP_TIME_FACTOR
         || property == PROP_SLACK || property == PROP_TAX
         || property == PROP_MACHINE_LEAST || property == PROP_MACHINE_MOST
         || (property == PROP_DEADLINE && self->portfolio);
}

static void
set_currency (QmAdvisor *self, const char *currency)
{
  if (currency == NULL || !qm_currency_valid (currency)
      || strcmp (self->currency, currency) == 0)
    return;
  g_free (self->currency);
  self->currency = g_strdup (currency);
  qm_advisor_renew_purse (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CURRENCY]);
}

static void
set_number (QmAdvisor *self, double *field, double value, guint property)
{
  if (*field == value || isnan (value))
    return;
  *field = value;
  if (is_of_candidates (self, property))
    qm_advisor_renew_purse (self);
  else
    limits_moved (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

static void
set_whole (QmAdvisor *self, int *field, int value, guint property)
{
  if (*field == value)
    return;
  *field = value;
  qm_advisor_queue_rebuild (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

static void
set_flag (QmAdvisor *self, gboolean *field, gboolean value, guint property)
{
  if (*field == value)
    return;
  *field = value;
  if (property == PROP_GROSS || property == PROP_TOTAL_COST)
    qm_advisor_renew_purse (self);
  else if (property != PROP_LOG_AXES && property != PROP_ALL_GPUS)
    qm_advisor_queue_rebuild (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

static gboolean *
flag_of (QmAdvisor *self, guint property)
{
  switch (property)
    {
    case PROP_GROSS:
      return &self->gross;
    case PROP_AS_IN_PAPER:
      return &self->as_in_paper;
    case PROP_ANY_PRICE:
      return &self->any_price;
    case PROP_EXPIRED_QUOTES:
      return &self->expired_quotes;
    case PROP_TOTAL_COST:
      return &self->total_cost;
    case PROP_MEASURED_ONLY:
      return &self->measured_only;
    case PROP_DESKTOPS:
      return &self->desktops;
    case PROP_SERVERS:
      return &self->servers;
    case PROP_LOG_AXES:
      return &self->log_axes;
    case PROP_ALL_GPUS:
      return &self->all_gpus;
    case PROP_PORTFOLIO:
      return &self->portfolio;
    default:
      return NULL;
    }
}

static double *
number_of (QmAdvisor *self, guint property)
{
  switch (property)
    {
    case PROP_BUDGET:
      return &self->budget;
    case PROP_TAX:
      return &self->tax;
    case PROP_MACHINE_LEAST:
      return &self->machine_least;
    case PROP_MACHINE_MOST:
      return &self->machine_most;
    case PROP_DEADLINE:
      return &self->deadline;
    case PROP_RUN_DEADLINE:
      return &self->run_deadline;
    case PROP_LIFETIME:
      return &self->lifetime;
    case PROP_TIME_FACTOR:
      return &self->time_factor;
    case PROP_SLACK:
      return &self->slack;
    default:
      return NULL;
    }
}

static void
qm_advisor_get_property (GObject *object,
                         guint property,
                         GValue *value,
                         GParamSpec *pspec)
{
  QmAdvisor *self = QM_ADVISOR (object);

  switch (property)
    {
    case PROP_MODELS:
      g_value_set_boxed (value, self->models);
      break;
    case PROP_CURRENCY:
      g_value_set_string (value, self->currency);
      break;
    case PROP_AT_ONCE:
      g_value_set_int (value, self->at_once);
      break;
    case PROP_TIMES_OF:
      g_value_set_int (value, self->times_of);
      break;
    case PROP_SETTINGS:
      g_value_set_int (value, self->settings);
      break;
    case PROP_ROOM:
      g_value_set_int (value, self->room);
      break;
    default:
      if (number_of (self, property) != NULL)
        g_value_set_double (value, *number_of (self, property));
      else if (flag_of (self, property) != NULL)
        g_value_set_boolean (value, *flag_of (self, property));
      else
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property, pspec);
    }
}

static void
qm_advisor_set_property (GObject *object,
                         guint property,
                         const GValue *value,
                         GParamSpec *pspec)
{
  QmAdvisor *self = QM_ADVISOR (object);

  switch (property)
    {
    case PROP_MODELS:
      set_models (self, g_value_get_boxed (value));
      break;
    case PROP_CURRENCY:
      set_currency (self, g_value_get_string (value));
      break;
    case PROP_AT_ONCE:
      set_whole (self, &self->at_once, g_value_get_int (value), property);
      break;
    case PROP_TIMES_OF:
      set_whole (self, &self->times_of, g_value_get_int (value), property);
      break;
    case PROP_SETTINGS:
      set_whole (self, &self->settings, g_value_get_int (value), property);
      break;
    case PROP_ROOM:
      set_whole (self, &self->room, g_value_get_int (value), property);
      break;
    default:
      if (number_of (self, property) != NULL)
        set_number (self, number_of (self, property),
                    g_value_get_double (value), property);
      else if (flag_of (self, property) != NULL)
        set_flag (self, flag_of (self, property), g_value_get_boolean (value),
                  property);
      else
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property, pspec);
    }
}

static void
qm_advisor_dispose (GObject *object)
{
  QmAdvisor *self = QM_ADVISOR (object);

  g_clear_handle_id (&self->rebuild_source, g_source_remove);
  g_clear_object (&self->forecaster);
  G_OBJECT_CLASS (qm_advisor_parent_class)->dispose (object);
}

static void
qm_advisor_finalize (GObject *object)
{
  QmAdvisor *self = QM_ADVISOR (object);

  g_clear_pointer (&self->gpus, g_ptr_array_unref);
  g_clear_pointer (&self->counts, g_array_unref);
  g_clear_pointer (&self->models, g_strfreev);
  g_clear_pointer (&self->currency, g_free);
  g_clear_pointer (&self->gpus_off, g_hash_table_unref);
  g_clear_pointer (&self->counts_off, g_hash_table_unref);
  g_clear_pointer (&self->runs, g_array_unref);
  g_clear_pointer (&self->uses, g_array_unref);
  g_clear_pointer (&self->topics, g_ptr_array_unref);
  g_clear_pointer (&self->offers, qm_offers_unref);
  g_clear_pointer (&self->rates, qm_rates_unref);
  g_clear_pointer (&self->host, qm_host_times_unref);
  g_clear_pointer (&self->catalog, qm_catalog_free);
  G_OBJECT_CLASS (qm_advisor_parent_class)->finalize (object);
}

static GParamSpec *
flag_spec (const char *name, gboolean value)
{
  return g_param_spec_boolean (name, NULL, NULL, value,
                               G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                   | G_PARAM_STATIC_STRINGS);
}

static GParamSpec *
number_spec (const char *name, double lower, double upper, double value)
{
  return g_param_spec_double (name, NULL, NULL, lower, upper, value,
                              G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                  | G_PARAM_STATIC_STRINGS);
}

static void
qm_advisor_class_init (QmAdvisorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->get_property = qm_advisor_get_property;
  object_class->set_property = qm_advisor_set_property;
  object_class->dispose = qm_advisor_dispose;
  object_class->finalize = qm_advisor_finalize;

  properties[PROP_MODELS] =
      g_param_spec_boxed ("models", NULL, NULL, G_TYPE_STRV, flags);
  properties[PROP_CURRENCY] =
      g_param_spec_string ("currency", NULL, NULL, "USD", flags);
  properties[PROP_BUDGET] =
      number_spec ("budget", QM_BUDGET_LEAST, QM_BUDGET_MOST, DEFAULT_BUDGET);
  properties[PROP_TAX] = number_spec ("tax", 0, QM_PURSE_TAX_MAX, 0);
  properties[PROP_GROSS] = flag_spec ("gross", FALSE);
  properties[PROP_MACHINE_LEAST] =
      number_spec ("machine-least", 0, QM_BUDGET_MOST, 0);
  properties[PROP_MACHINE_MOST] =
      number_spec ("machine-most", 0, QM_BUDGET_MOST, 0);
  properties[PROP_DEADLINE] = number_spec ("deadline", 0, QM_DEADLINE_MAX, 0);
  properties[PROP_RUN_DEADLINE] =
      number_spec ("run-deadline", 0, QM_DEADLINE_MAX, 0);
  properties[PROP_LIFETIME] =
      number_spec ("lifetime", LIFETIME_MIN, LIFETIME_MAX, QM_LIFETIME_DEFAULT);
  properties[PROP_TIME_FACTOR] =
      number_spec ("time-factor", QM_TIME_FACTOR_MIN, QM_TIME_FACTOR_MAX,
                   QM_TIME_FACTOR_DEFAULT);
  properties[PROP_SLACK] =
      number_spec ("slack", 0, QM_SLACK_MAX, QM_SLACK_DEFAULT);
  properties[PROP_AS_IN_PAPER] = flag_spec ("as-in-paper", FALSE);
  properties[PROP_ANY_PRICE] = flag_spec ("any-price", FALSE);
  properties[PROP_EXPIRED_QUOTES] = flag_spec ("expired-quotes", FALSE);
  properties[PROP_TOTAL_COST] = flag_spec ("total-cost", FALSE);
  properties[PROP_MEASURED_ONLY] = flag_spec ("measured-only", FALSE);
  properties[PROP_DESKTOPS] = flag_spec ("desktops", TRUE);
  properties[PROP_SERVERS] = flag_spec ("servers", TRUE);
  properties[PROP_LOG_AXES] = flag_spec ("log-axes", TRUE);
  properties[PROP_ALL_GPUS] = flag_spec ("all-gpus", FALSE);
  properties[PROP_PORTFOLIO] = flag_spec ("portfolio", FALSE);
  properties[PROP_AT_ONCE] =
      g_param_spec_int ("at-once", NULL, NULL, 1, AT_ONCE_MAX, 1, flags);
  properties[PROP_TIMES_OF] =
      g_param_spec_int ("times-of", NULL, NULL, 0, QM_TIMES_OF_QUARTERMASTER,
                        QM_TIMES_OF_PYTORCH, flags);
  properties[PROP_SETTINGS] =
      g_param_spec_int ("settings", NULL, NULL, 0, QM_N_SETTINGS - 1,
                        QM_SETTINGS_OPTIMAL, flags);
  properties[PROP_ROOM] =
      g_param_spec_int ("room", NULL, NULL, 0, QM_N_ROOMS - 1,
                        QM_ROOM_THREE_PHASES, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  signals[REBUILT] =
      g_signal_new ("rebuilt", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[LIMITS_CHANGED] =
      g_signal_new ("limits-changed", G_TYPE_FROM_CLASS (klass),
                    G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SELECTION_CHANGED] =
      g_signal_new ("selection-changed", G_TYPE_FROM_CLASS (klass),
                    G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_advisor_init (QmAdvisor *self)
{
  self->budget = DEFAULT_BUDGET;
  self->currency = g_strdup ("USD");
  self->purse = qm_purse_default ();
  self->lifetime = QM_LIFETIME_DEFAULT;
  self->time_factor = QM_TIME_FACTOR_DEFAULT;
  self->slack = QM_SLACK_DEFAULT;
  self->desktops = TRUE;
  self->servers = TRUE;
  self->log_axes = TRUE;
  self->at_once = 1;
  self->room = QM_ROOM_THREE_PHASES;
  self->ownership = qm_ownership_settings_default ();
  self->gpus_off =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->counts_off = g_hash_table_new (NULL, NULL);
  self->forecaster = qm_forecaster_new ();
  g_signal_connect_object (self->forecaster, "changed",
                           G_CALLBACK (qm_advisor_queue_rebuild), self,
                           G_CONNECT_SWAPPED);
  self->runs = qm_runs_new ();
  self->uses = qm_uses_new ();
  self->topics =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_topic_free);
  self->stale = TRUE;
}

/* The default model, or the first of the catalog where that is not there. */
static void
choose_default_model (QmAdvisor *self)
{
  const char *models[] = { DEFAULT_MODEL, NULL };
  size_t n;
  const QmModel *known = qm_catalog_models (self->catalog, &n);

  if (qm_catalog_model (self->catalog, DEFAULT_MODEL) == NULL)
    models[0] = n > 0 ? known[0].id : NULL;
  set_models (self, models);
  if (self->models == NULL)
    self->models = g_new0 (char *, 1);
}

QmAdvisor *
qm_advisor_new (const QmCatalog *catalog)
{
  QmAdvisor *self;

  g_return_val_if_fail (catalog != NULL, NULL);

  self = g_object_new (QM_TYPE_ADVISOR, NULL);
  self->catalog = qm_catalog_ref (catalog);
  self->gpus = qm_places_gpus (catalog);
  self->counts = qm_places_counts (catalog);
  choose_default_model (self);
  return self;
}

const QmCatalog *
qm_advisor_get_catalog (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  return self->catalog;
}

void
qm_advisor_set_offers (QmAdvisor *self, QmOffers *offers)
{
  g_return_if_fail (QM_IS_ADVISOR (self));

  if (self->offers == offers)
    return;
  g_clear_pointer (&self->offers, qm_offers_unref);
  self->offers = offers != NULL ? qm_offers_ref (offers) : NULL;
  qm_advisor_queue_rebuild (self);
}

void
qm_advisor_set_rates (QmAdvisor *self, QmRates *rates)
{
  g_return_if_fail (QM_IS_ADVISOR (self));

  if (self->rates == rates)
    return;
  g_clear_pointer (&self->rates, qm_rates_unref);
  self->rates = rates != NULL ? qm_rates_ref (rates) : NULL;
  qm_advisor_renew_purse (self);
}

const QmOwnershipSettings *
qm_advisor_get_ownership (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  return &self->ownership;
}

void
qm_advisor_set_ownership (QmAdvisor *self, const QmOwnershipSettings *ownership)
{
  g_return_if_fail (QM_IS_ADVISOR (self) && ownership != NULL);

  self->ownership = *ownership;
  if (self->total_cost)
    qm_advisor_renew_purse (self);
}

static const QmTopic *
topic_at (QmAdvisor *self, guint topic)
{
  qm_advisor_ensure_topics (self);
  g_return_val_if_fail (topic < self->topics->len, NULL);

  return g_ptr_array_index (self->topics, topic);
}

guint
qm_advisor_get_n_topics (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), 0);

  qm_advisor_ensure_topics (self);
  return self->topics->len;
}

const char *
qm_advisor_get_title (QmAdvisor *self, guint topic)
{
  const QmTopic *found;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  found = topic_at (self, topic);
  return found != NULL ? found->title : NULL;
}

const QmAdvice *
qm_advisor_get_advice (QmAdvisor *self, guint topic)
{
  const QmTopic *found;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  found = topic_at (self, topic);
  return found != NULL ? found->advice : NULL;
}

const QmQuestion *
qm_advisor_get_question (QmAdvisor *self, guint topic)
{
  const QmTopic *found;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  found = topic_at (self, topic);
  return found != NULL ? found->question : NULL;
}

const QmRecommendation *
qm_advisor_get_recommendation (QmAdvisor *self, guint topic)
{
  const QmTopic *found;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  found = topic_at (self, topic);
  return found != NULL ? &found->recommendation : NULL;
}

static void
clear_lists (QmAdvisor *self)
{
  g_hash_table_remove_all (self->gpus_off);
  g_hash_table_remove_all (self->counts_off);
  g_array_set_size (self->runs, 0);
  g_array_set_size (self->uses, 0);
  qm_advisor_queue_rebuild (self);
}

void
qm_advisor_reset (QmAdvisor *self)
{
  GObject *object = G_OBJECT (self);

  g_return_if_fail (QM_IS_ADVISOR (self));

  /* The range of a budget follows its currency, so that this is first. */
  set_currency (self, "USD");
  g_object_freeze_notify (object);
  clear_lists (self);
  choose_default_model (self);
  for (guint i = PROP_MODELS + 1; i < N_PROPS; i++)
    g_object_set_property (object, properties[i]->name,
                           g_param_spec_get_default_value (properties[i]));
  g_object_thaw_notify (object);
}
