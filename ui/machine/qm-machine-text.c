/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-machine-text.h"

#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

static char *
count_minutes (guint minutes)
{
  return g_strdup_printf (ngettext ("%u minute", "%u minutes", minutes),
                          minutes);
}

static char *
count_hours (guint minutes)
{
  g_autofree char *hours =
      g_strdup_printf (ngettext ("%u hour", "%u hours", minutes / 60),
                       minutes / 60);
  g_autofree char *rest = NULL;

  if (minutes % 60 == 0)
    return g_steal_pointer (&hours);
  rest = count_minutes (minutes % 60);
  /* Translators: hours, minutes: "2 hours 5 minutes". */
  return g_strdup_printf (_ ("%s %s"), hours, rest);
}

char *
qm_machine_text_duration (double seconds)
{
  guint whole;

  if (!(seconds > 1))
    seconds = 1;
  if (seconds < 90)
    {
      whole = (guint) (seconds + 0.5);
      return g_strdup_printf (ngettext ("%u second", "%u seconds", whole),
                              whole);
    }
  if (seconds < 90 * 60)
    return count_minutes ((guint) (seconds / 60 + 0.5));
  if (seconds < 12 * 3600)
    /* To five minutes: nobody knows it better. */
    return count_hours ((guint) (seconds / 300 + 0.5) * 5);
  if (seconds < 48 * 3600)
    return count_hours ((guint) (seconds / 3600 + 0.5) * 60);
  return qm_format_days (seconds / 86400);
}

char *
qm_machine_text_bytes (gint64 bytes)
{
  const gboolean small = bytes < (gint64) 1 << 30;
  g_autofree char *number = NULL;
  double value;

  if (bytes < 0)
    return g_strdup ("");
  value = (double) bytes / (small ? 0x1p20 : 0x1p30);
  number = qm_format_number (value, value < 100 ? 1 : 0);
  /* Translators: a number of mebibytes or gibibytes. */
  return small ? g_strdup_printf (_ ("%s MiB"), number)
               : g_strdup_printf (_ ("%s GiB"), number);
}

char *
qm_machine_text_figure (double value)
{
  int decimals;

  if (!isfinite (value))
    return g_strdup ("");
  if (value == 0)
    return g_strdup ("0");
  decimals = 2 - (int) floor (log10 (fabs (value)));
  return qm_format_number (value, CLAMP (decimals, 0, 9));
}

char *
qm_machine_text_interval (double value, double low, double high)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;

  if (!(isfinite (low) && isfinite (high) && low < high))
    return qm_machine_text_figure (value);
  from = qm_machine_text_figure (low);
  to = qm_machine_text_figure (high);
  if (strcmp (from, to) == 0)
    return g_steal_pointer (&from);
  /* Translators: the ends of an interval: "28.1 to 45.6". */
  return g_strdup_printf (_ ("%s to %s"), from, to);
}

static const char *
name_settings (const char *settings)
{
  if (settings == NULL || *settings == '\0')
    return "";
  if (strcmp (settings, "naive") == 0)
    return _ ("Naive");
  if (strcmp (settings, "free-lunch") == 0)
    return _ ("Free lunch");
  return settings;
}

static char *
name_offloading (const char *offloading)
{
  const char *digit = strrchr (offloading, '_');

  /* Translators: a way to keep a part of the training in the memory of the
   * host, "ZeRO 3". */
  if (g_str_has_prefix (offloading, "zero_"))
    return g_strdup_printf (_ ("ZeRO %s offloading"), digit + 1);
  if (g_str_has_prefix (offloading, "fsdp_"))
    return g_strdup_printf (_ ("FSDP %s offloading"), digit + 1);
  return g_strdup (offloading);
}

char *
qm_machine_text_method (const char *settings,
                        gboolean checkpointing,
                        const char *offloading)
{
  GString *text = g_string_new (name_settings (settings));

  if (checkpointing)
    {
      g_string_append (text, ", ");
      g_string_append (text, _ ("checkpointing"));
    }
  if (offloading != NULL && *offloading != '\0'
      && strcmp (offloading, "none") != 0)
    {
      g_autofree char *name = name_offloading (offloading);

      g_string_append (text, ", ");
      g_string_append (text, name);
    }
  return g_string_free (text, FALSE);
}
