/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-machine-text.h"

#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

const char *
qm_line_text (const json_t *line, const char *name)
{
  const char *text = json_string_value (json_object_get (line, name));

  return text != NULL ? text : "";
}

double
qm_line_number (const json_t *line, const char *name)
{
  const json_t *value = json_object_get (line, name);

  return json_is_number (value) ? json_number_value (value) : NAN;
}

gint64
qm_line_whole (const json_t *line, const char *name)
{
  const json_t *value = json_object_get (line, name);

  return json_is_integer (value) ? MAX (json_integer_value (value), -1) : -1;
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

static gboolean
is_variant (const char *name)
{
  return name != NULL && *name != '\0' && strcmp (name, "none") != 0;
}

/* A name that both of their authors use as it is. */
static char *
name_sharding (const char *sharding)
{
  const char *digit = strrchr (sharding, '_');

  if (g_str_has_prefix (sharding, "zero_"))
    return g_strdup_printf ("ZeRO %s", digit + 1);
  if (g_str_has_prefix (sharding, "fsdp_"))
    return g_strdup_printf ("FSDP %s", digit + 1);
  return g_strdup (sharding);
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
                        const char *sharding,
                        const char *offloading)
{
  GString *text = g_string_new (name_settings (settings));

  if (checkpointing)
    {
      g_string_append (text, ", ");
      g_string_append (text, _ ("checkpointing"));
    }
  if (is_variant (sharding))
    {
      g_autofree char *name = name_sharding (sharding);

      g_string_append (text, ", ");
      g_string_append (text, name);
    }
  if (is_variant (offloading))
    {
      g_autofree char *name = name_offloading (offloading);

      g_string_append (text, ", ");
      g_string_append (text, name);
    }
  return g_string_free (text, FALSE);
}

static int
small_of (const json_t *line, const char *name)
{
  return (int) MIN (qm_line_whole (line, name), 1000000);
}

static gboolean
is_cause (const json_t *line, const char *cause)
{
  return g_str_equal (qm_line_text (line, "cause"), cause);
}

/* Which memory is short, and by how much. */
static char *
say_shortage (const json_t *line)
{
  const char *memory = qm_line_text (line, "memory");
  gint64 needs = qm_line_whole (line, "needs_bytes");
  gint64 available = qm_line_whole (line, "available_bytes");
  g_autofree char *much = NULL;
  g_autofree char *little = NULL;

  if (needs < 0 || available < 0)
    return NULL;
  much = qm_machine_text_bytes (needs);
  little = qm_machine_text_bytes (available);
  if (g_str_equal (memory, "device"))
    /* Translators: two amounts, as "24 GiB". */
    return g_strdup_printf (_ ("a micro-batch of 1 needs %s of the device’s "
                               "memory, and there are %s"),
                            much, little);
  if (g_str_equal (memory, "host"))
    /* Translators: two amounts, as "24 GiB". */
    return g_strdup_printf (_ ("a micro-batch of 1 needs %s of the host’s "
                               "memory, and there are %s"),
                            much, little);
  return NULL;
}

/* How the process that measured came to its end. */
static char *
say_end (const json_t *line)
{
  int signal = small_of (line, "signal");
  int status = small_of (line, "exit_status");
  int seconds = small_of (line, "silence_s");

  if (is_cause (line, "signal") && signal > 0)
    /* Translators: the number of a signal, and what the system calls it. */
    return g_strdup_printf (_ ("the process that measured was ended by signal "
                               "%d (%s)"),
                            signal, g_strsignal (signal));
  if (is_cause (line, "exit") && status >= 0)
    return g_strdup_printf (_ ("the process that measured ended with status "
                               "%d"),
                            status);
  if (is_cause (line, "silence") && seconds >= 0)
    return g_strdup_printf (ngettext ("it made no progress for %d second and "
                                      "was given up",
                                      "it made no progress for %d seconds and "
                                      "was given up",
                                      (gulong) seconds),
                            seconds);
  return NULL;
}

static double
seconds_of (const json_t *line, const char *name)
{
  const json_t *value = json_object_get (line, name);
  double seconds = json_is_number (value) ? json_number_value (value) : NAN;

  return seconds > 0 ? seconds : NAN;
}

/* What was cut, and by what. */
static char *
say_slower (const json_t *line)
{
  double step = seconds_of (line, "cut_step_s");
  double fastest = seconds_of (line, "fastest_step_s");
  g_autofree char *its = qm_machine_text_figure (step);
  g_autofree char *least = qm_machine_text_figure (fastest);

  if (!isfinite (step) || !isfinite (fastest))
    return NULL;
  /* Translators: two numbers of seconds. */
  return g_strdup_printf (_ ("by one pass a step takes about %s s, and the "
                             "fastest way %s s"),
                          its, least);
}

/* In words of our own; NULL: there are none. */
static char *
say_cause (const json_t *line)
{
  if (is_cause (line, "memory"))
    return say_shortage (line);
  if (is_cause (line, "slower"))
    return say_slower (line);
  return say_end (line);
}

/* What is known of it in short, before what the driver or the engine says. */
static const char *
head_of (const json_t *line)
{
  if (is_cause (line, "out-of-memory"))
    return _ ("memory ran out");
  if (is_cause (line, "device"))
    return _ ("the device failed");
  if (is_cause (line, "unsupported"))
    return _ ("the engine cannot do it");
  return NULL;
}

char *
qm_machine_text_reason (const json_t *line)
{
  const char *given = qm_line_text (line, "reason");
  const char *head = head_of (line);
  char *text = say_cause (line);

  if (text != NULL)
    return text;
  if (head == NULL || *given == '\0')
    return g_strdup (head != NULL ? head : given);
  /* Translators: why, and that in the words of a driver: "memory ran out
   * (...)".
   */
  return g_strdup_printf (_ ("%s (%s)"), head, given);
}

char *
qm_machine_text_error (const json_t *line)
{
  static const struct
  {
    const char *cause, *sentence;
  } known[] = {
    { "busy", N_ ("Another search is writing to the results.") },
    { "no-home", N_ ("There is no home directory to save in") },
    { "failures",
      N_ ("Too many measurements failed one after the other: it is not the "
          "configurations.") },
    { "other-device", N_ ("The device is another one than before.") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (is_cause (line, known[i].cause))
      return g_strdup (_ (known[i].sentence));
  return NULL;
}

/* "12.8" of 12080. */
static char *
format_cuda (int version)
{
  return g_strdup_printf ("%d.%d", version / 1000, version % 1000 / 10);
}

char *
qm_machine_text_trouble (const json_t *device)
{
  int capability = small_of (device, "capability");
  const char *given = qm_line_text (device, "trouble");
  g_autofree char *number =
      g_strdup_printf ("%d.%d", capability / 10, capability % 10);

  if (is_cause (device, "old-gpu") && capability >= 0)
    /* Translators: a version as "7.0". */
    return g_strdup_printf (_ ("Its compute capability is %s; 7.5 or newer is "
                               "needed (Turing, Ampere, Ada, Hopper or "
                               "later)."),
                            number);
  if (is_cause (device, "no-code") && capability >= 0)
    /* Translators: a version as "7.5". */
    return g_strdup_printf (_ ("This program was built without code for its "
                               "compute capability, %s."),
                            number);
  if (is_cause (device, "broken"))
    /* Translators: the words of the driver. */
    return g_strdup_printf (_ ("The GPU or its driver does not work: %s"),
                            given);
  return g_strdup (given);
}

char *
qm_machine_text_no_gpu (const json_t *device)
{
  const json_t *why = json_object_get (device, "no_gpu");
  const char *given = qm_line_text (why, "reason");
  int driver = small_of (why, "driver_cuda");
  int runtime = small_of (why, "runtime_cuda");

  if (why == NULL)
    return NULL;
  if (is_cause (why, "no-cuda"))
    return g_strdup (_ ("This program was built without CUDA."));
  if (is_cause (why, "no-driver"))
    return g_strdup (_ ("No NVIDIA driver is installed."));
  if (is_cause (why, "no-gpu"))
    return g_strdup (_ ("There is no NVIDIA GPU in this machine."));
  if (is_cause (why, "old-driver") && driver >= 0 && runtime >= 0)
    {
      g_autofree char *has = format_cuda (driver);
      g_autofree char *needs = format_cuda (runtime);

      /* Translators: two versions, as "12.8". */
      return g_strdup_printf (_ ("The NVIDIA driver is for CUDA %s; this "
                                 "program needs one for CUDA %s."),
                              has, needs);
    }
  if (is_cause (why, "broken"))
    /* Translators: the words of the driver. */
    return g_strdup_printf (_ ("The NVIDIA driver does not work: %s"), given);
  return *given != '\0' ? g_strdup (given) : NULL;
}
