/* SPDX-License-Identifier: Apache-2.0 */

/* The question as a file, and from one. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

QmAsked *
qm_advisor_get_asked (QmAdvisor *self)
{
  g_autoptr (QmQuestion) question = NULL;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  question = qm_advisor_base_question (self);
  for (guint i = 0; self->portfolio && i < self->runs->len; i++)
    {
      const QmRun *run = &g_array_index (self->runs, QmRun, i);

      qm_question_add_run (question, run->model, run->runs_per_year);
    }
  return qm_asked_new ((const char *const *) self->models, question);
}

static gboolean
cannot_show (GError **error, const char *field)
{
  g_set_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_UNKNOWN,
               /* Translators: a field of a file. */
               _ ("its “%s” cannot be shown in the window; the command line "
                  "takes it"),
               field);
  return FALSE;
}

/* Whether a number is within what a property may be. */
static gboolean
fits (QmAdvisor *self, const char *property, double number)
{
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (self), property);
  g_auto (GValue) value = G_VALUE_INIT;

  if (!qm_known (number))
    return TRUE;
  g_value_init (&value, spec->value_type);
  if (G_VALUE_HOLDS_INT (&value))
    g_value_set_int (&value, (int) number);
  else
    g_value_set_double (&value, number);
  return !g_param_value_validate (spec, &value);
}

static double
major_of (const QmPurse *purse, gint64 minor)
{
  QmMoney money = { .minor = minor };

  g_strlcpy (money.currency, purse->currency, sizeof money.currency);
  return minor >= 0 ? qm_money_to_double (money) : 0;
}

static int
room_of (double watts)
{
  for (int i = 0; i < QM_N_ROOMS; i++)
    if (watts == qm_room_watts ((QmRoom) i))
      return i;
  return -1;
}

/* Whether the numbers of GPUs are among those that can be switched. */
static gboolean
has_counts (QmAdvisor *self, const GArray *counts)
{
  for (guint i = 0; counts != NULL && i < counts->len; i++)
    {
      gboolean found = FALSE;

      for (guint j = 0; j < self->counts->len; j++)
        found |= g_array_index (counts, int, i)
                 == g_array_index (self->counts, int, j);
      if (!found)
        return FALSE;
    }
  return TRUE;
}

static gboolean
has_uses (QmAdvisor *self, const GArray *uses)
{
  if (uses == NULL)
    return TRUE;
  for (guint i = 0; i < uses->len; i++)
    if (!qm_advisor_is_use (self, &g_array_index (uses, QmUse, i)))
      return FALSE;
  return uses->len <= QM_USES_MAX;
}

/* Whether all of it has a place in the window. */
static gboolean
check (QmAdvisor *self, const QmQuestion *question, GError **error)
{
  const QmPurse *purse = &question->purse;
  QmPurse rated = qm_purse_default ();
  double budget;

  if (strcmp (purse->currency, "USD") != 0
      && (self->rates == NULL
          || !qm_purse_set_currency (&rated, purse->currency, self->rates,
                                     qm_date_today (), error)))
    {
      if (error != NULL && *error == NULL)
        cannot_show (error, "currency");
      return FALSE;
    }
  budget = major_of (purse, purse->budget_minor) / qm_purse_scale (&rated);
  if (purse->budget_minor >= 0
      && (budget < QM_BUDGET_MIN || budget > QM_BUDGET_MAX))
    return cannot_show (error, "budget");
  if (!fits (self, "deadline", question->deadline_days))
    return cannot_show (error, "deadline_days");
  if (!fits (self, "run-deadline", question->run_deadline_days))
    return cannot_show (error, "run_deadline_days");
  if (!fits (self, "lifetime", question->lifetime_years))
    return cannot_show (error, "lifetime_years");
  if (!fits (self, "at-once", question->at_once))
    return cannot_show (error, "at_once");
  if (question->link != QM_GPU_LINK_AUTO)
    return cannot_show (error, "link");
  if (!question->as_in_paper && room_of (question->room_watts) < 0)
    return cannot_show (error, "room");
  if (!has_counts (self, question->counts))
    return cannot_show (error, "gpus");
  if (!has_uses (self, question->uses))
    return cannot_show (error, "use");
  return TRUE;
}

static void
take_money (QmAdvisor *self, const QmPurse *purse)
{
  g_object_set (self, "tax", purse->tax_percent, "gross", purse->gross,
                "machine-least", major_of (purse, purse->machine_least),
                "machine-most", major_of (purse, purse->machine_most), NULL);
  /* No limit is as much as can be set. */
  g_object_set (self, "budget",
                purse->budget_minor >= 0 ? major_of (purse, purse->budget_minor)
                                         : QM_BUDGET_MAX,
                NULL);
}

static double
zero_of (double days)
{
  return qm_known (days) ? days : 0;
}

/* Without runs both deadlines are of the one training. */
static void
take_deadlines (QmAdvisor *self, const QmQuestion *question)
{
  double days = question->deadline_days;
  double run = question->run_deadline_days;

  if (!qm_question_is_portfolio (question))
    {
      days = fmin (days, run); /* NaN is none of them */
      run = NAN;
    }
  g_object_set (self, "deadline", zero_of (days), "run-deadline", zero_of (run),
                NULL);
}

static void
take_filters (QmAdvisor *self, const QmQuestion *question)
{
  const char *const *gpus = qm_advisor_get_gpus (self);
  guint n;
  const int *counts = qm_advisor_get_counts (self, &n);

  for (guint i = 0; question->gpus != NULL && gpus[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) question->gpus, gpus[i]))
      qm_advisor_set_gpu_enabled (self, gpus[i], FALSE);
  for (guint i = 0; question->counts != NULL && i < n; i++)
    {
      gboolean on = FALSE;

      for (guint j = 0; j < question->counts->len; j++)
        on |= g_array_index (question->counts, int, j) == counts[i];
      if (!on)
        qm_advisor_set_count_enabled (self, counts[i], FALSE);
    }
  g_object_set (self, "desktops", (question->kinds & QM_KINDS_DESKTOP) != 0,
                "servers", (question->kinds & QM_KINDS_SERVER) != 0, NULL);
}

static void
take_terms (QmAdvisor *self, const QmQuestion *question)
{
  if (question->as_in_paper)
    {
      g_object_set (self, "as-in-paper", TRUE, NULL);
      return;
    }
  g_object_set (self, "times-of", (int) question->times_of, "settings",
                (int) question->settings, "measured-only",
                question->predictions == QM_PREDICTIONS_NONE, "any-price",
                question->any_price, "expired-quotes", question->expired_offers,
                "lifetime", question->lifetime_years, "time-factor",
                question->time_factor, "slack", question->slack_percent, "room",
                room_of (question->room_watts), NULL);
  if (question->ownership == NULL)
    return;
  qm_advisor_set_ownership (self, question->ownership);
  g_object_set (self, "total-cost", TRUE, NULL);
}

gboolean
qm_advisor_take_asked (QmAdvisor *self, const QmAsked *asked, GError **error)
{
  const QmQuestion *question;

  g_return_val_if_fail (QM_IS_ADVISOR (self) && asked != NULL, FALSE);

  question = asked->question;
  if (!qm_asked_check (asked, self->catalog, error)
      || !check (self, question, error))
    return FALSE;
  qm_advisor_reset (self);
  /* The range of a budget follows its currency, so that this is first. */
  g_object_set (self, "currency", question->purse.currency, NULL);
  g_object_freeze_notify (G_OBJECT (self));
  take_money (self, &question->purse);
  take_deadlines (self, question);
  take_filters (self, question);
  take_terms (self, question);
  if (asked->models[0] != NULL)
    g_object_set (self, "models", asked->models, NULL);
  for (guint i = 0; question->runs != NULL && i < question->runs->len; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);

      qm_advisor_add_run (self, run->model, run->runs_per_year);
    }
  for (guint i = 0; question->uses != NULL && i < question->uses->len; i++)
    qm_advisor_add_use (self, &g_array_index (question->uses, QmUse, i));
  g_object_set (self, "at-once", question->at_once, "portfolio",
                qm_question_is_portfolio (question), NULL);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
}

QmQuestion *
qm_advisor_ask_whole (QmAdvisor *self)
{
  QmQuestion *question;
  guint n;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  n = qm_advisor_get_n_topics (self);
  if (n == 0)
    return NULL;
  question = qm_question_copy (qm_advisor_get_question (self, 0));
  question->budget_minor = qm_advisor_get_budget_minor (self);
  question->deadline_days = qm_advisor_get_deadline_days (self);
  question->run_deadline_days = qm_advisor_get_run_deadline_days (self);
  for (guint i = 0; n > 1 && i < n; i++)
    qm_question_add_run (question, qm_advisor_get_question (self, i)->model, 1);
  if (n > 1)
    g_clear_pointer (&question->model, g_free);
  return question;
}
