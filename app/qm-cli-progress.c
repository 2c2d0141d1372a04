/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-output.h"
#include "app/qm-cli-progress.h"

#include <signal.h>
#include <unistd.h>

#define WIDTH 79

static void
fill_signals (sigset_t *signals)
{
  sigemptyset (signals);
  sigaddset (signals, SIGINT);
  sigaddset (signals, SIGTERM);
}

static gpointer
wait_for_signal (gpointer data)
{
  g_autoptr (GCancellable) cancellable = data;
  sigset_t signals;
  int number;

  fill_signals (&signals);
  if (sigwait (&signals, &number) != 0)
    return NULL;
  g_cancellable_cancel (cancellable);
  /* Only this thread takes them: the next one does what it always does. */
  pthread_sigmask (SIG_UNBLOCK, &signals, NULL);
  for (;;)
    pause ();
}

GCancellable *
qm_cli_cancellable_new (void)
{
  GCancellable *cancellable = g_cancellable_new ();
  sigset_t signals;
  struct sigaction action;

  /* Whoever started the program in the background wants them ignored. */
  if (sigaction (SIGINT, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
    return cancellable;
  fill_signals (&signals);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  g_thread_unref (
      g_thread_new ("signals", wait_for_signal, g_object_ref (cancellable)));
  return cancellable;
}

void
qm_cli_progress (const char *text)
{
  static gboolean shown;
  g_autofree char *safe = NULL;
  g_autofree char *line = NULL;

  if (!isatty (STDERR_FILENO) || (text == NULL && !shown))
    return;
  shown = text != NULL;
  safe = qm_cli_escape (text != NULL ? text : "");
  if (g_utf8_strlen (safe, -1) > WIDTH)
    *g_utf8_offset_to_pointer (safe, WIDTH) = '\0';
  line = g_strdup_printf ("\r%s\033[K", safe);
  qm_cli_complain (line);
}
