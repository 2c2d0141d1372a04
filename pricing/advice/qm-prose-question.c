/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

char *
qm_prose_question (const QmQuestion *question)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *years = NULL;
  g_autofree char *factor = NULL;
  g_autofree char *slack = NULL;

  g_return_val_if_fail (question != NULL, NULL);

  years = qm_format_number (question->lifetime_years, 1);
  if (question->budget_minor >= 0)
    {
      g_autofree char *budget =
          qm_purse_format (&question->purse, question->budget_minor);

      /* Translators: an amount. */
      g_string_append_printf (text, _ ("Budget %s; "), budget);
    }
  if (qm_known (question->deadline_days))
    {
      g_autofree char *days = qm_format_days (question->deadline_days);

      /* Translators: a time. */
      g_string_append_printf (text, _ ("deadline %s; "), days);
    }
  if (qm_known (question->run_deadline_days))
    {
      g_autofree char *days = qm_format_days (question->run_deadline_days);

      /* Translators: a time. */
      g_string_append_printf (text, _ ("deadline of a run %s; "), days);
    }
  /* Translators: number of years that a machine is used. */
  g_string_append_printf (text,
                          ngettext ("lifetime %s year; ", "lifetime %s years; ",
                                    question->lifetime_years == 1 ? 1 : 2),
                          years);
  if (question->as_in_paper)
    {
      g_string_append (text, _ ("as in the paper: times as published, its "
                                "prices and machines"));
      return g_string_free (g_steal_pointer (&text), FALSE);
    }
  factor = qm_format_number (question->time_factor, 2);
  /* Translators: a number. */
  g_string_append_printf (text, _ ("time factor %s; "), factor);
  slack = qm_format_percentage (question->slack_percent, 2);
  /* Translators: a percentage. */
  g_string_append_printf (text, _ ("times within %s count as equal; "), slack);
  /* Translators: name of software, or "Publication". */
  g_string_append_printf (text, _ ("times of: %s; "),
                          qm_prose_times_of_name (question->times_of));
  g_string_append (text, question->any_price ? _ ("any prices; ")
                                             : _ ("prices of dealers; "));
  if (isinf (question->room_watts))
    g_string_append (text, _ ("any power"));
  else
    {
      g_autofree char *kilowatts =
          qm_format_number (question->room_watts / 1000, 1);

      /* Translators: a number of kW that the room's circuits give. */
      g_string_append_printf (text, _ ("%s kW in the room"), kilowatts);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
