/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-log.h"

#include <glib/gi18n-lib.h>
#include <signal.h>
#include <string.h>

#define NAME "qm-bench: "

/* Exit statuses of qm-bench(1). */
enum
{
  STATUS_MEMORY = 3,
  STATUS_DEVICE = 4,
  STATUS_UNSUPPORTED = 5,
  STATUS_INTERRUPTED = 130
};

char *
qm_bench_log_clean (const char *bytes, gsize length, gboolean cut)
{
  const char *end = cut ? memchr (bytes, '\n', length) : NULL;
  gsize skipped = end != NULL ? (gsize) (end - bytes) + 1 : 0;
  char *text = g_utf8_make_valid (bytes + skipped, (gssize) (length - skipped));

  for (char *c = text; *c != '\0'; c++)
    if (((guchar) *c < ' ' && *c != '\n') || *c == 0x7f)
      *c = ' ';
  return text;
}

char *
qm_bench_log_reason (const char *log)
{
  g_auto (GStrv) lines = g_strsplit (log, "\n", -1);
  const char *last = NULL;

  for (int i = (int) g_strv_length (lines) - 1; i >= 0; i--)
    {
      g_strstrip (lines[i]);
      if (g_str_has_prefix (lines[i], NAME))
        return g_strdup (lines[i] + strlen (NAME));
      if (last == NULL && *lines[i] != '\0')
        last = lines[i];
    }
  return g_strdup (last);
}

char *
qm_bench_log_signal (int number, QmBenchError *code)
{
  *code = QM_BENCH_ERROR_CRASHED;
  switch (number)
    {
    case SIGKILL:
      *code = QM_BENCH_ERROR_KILLED;
      return g_strdup (_ ("The benchmark was killed, which the system does "
                          "when memory runs out."));
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      *code = QM_BENCH_ERROR_INTERRUPTED;
      return g_strdup (_ ("The benchmark was ended by another program."));
    default:
      /* Translators: what the system calls the signal, and its number. */
      return g_strdup_printf (_ ("The benchmark crashed: %s (signal %d)."),
                              g_strsignal (number), number);
    }
}

/* The sentence without a reason. */
static const char *
sentence_of (int status, QmBenchError *code)
{
  switch (status)
    {
    case STATUS_MEMORY:
      *code = QM_BENCH_ERROR_MEMORY;
      return _ ("The benchmark ran out of memory");
    case STATUS_DEVICE:
      *code = QM_BENCH_ERROR_DEVICE;
      return _ ("The device failed or is not there");
    case STATUS_UNSUPPORTED:
      *code = QM_BENCH_ERROR_UNSUPPORTED;
      return _ ("The benchmark cannot do that");
    case STATUS_INTERRUPTED:
      *code = QM_BENCH_ERROR_INTERRUPTED;
      return _ ("The benchmark was interrupted");
    default:
      *code = QM_BENCH_ERROR_FAILED;
      return _ ("The benchmark failed");
    }
}

char *
qm_bench_log_status (int status, const char *log, QmBenchError *code)
{
  const char *sentence = sentence_of (status, code);
  g_autofree char *reason = qm_bench_log_reason (log);

  if (reason != NULL)
    /* Translators: a sentence without its end, and why. */
    return g_strdup_printf (_ ("%s: %s"), sentence, reason);
  /* Translators: a sentence without its end, and a number. */
  return g_strdup_printf (_ ("%s, with exit status %d."), sentence, status);
}
