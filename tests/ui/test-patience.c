/* SPDX-License-Identifier: Apache-2.0 */

/* What hangs is not waited for; what takes its time is. */

#include "ui/qm-patience.h"

#include <errno.h>
#include <unistd.h>

typedef struct
{
  int ends[2];
  int done; /* atomic */
} Pipe;

/* As a disk that does not answer: it reads what nobody writes yet. */
static void
read_pipe (gpointer data)
{
  Pipe *hung = data;
  char c;
  ssize_t n;

  do
    n = read (hung->ends[0], &c, 1);
  while (n < 0 && errno == EINTR);
  g_atomic_int_set (&hung->done, 1);
}

static void
sleep_a_little (gpointer data)
{
  g_usleep (200000);
  g_atomic_int_set ((int *) data, 1);
}

static void
test_hung (void)
{
  Pipe hung = { .done = 0 };
  gint64 begun = g_get_monotonic_time ();

  g_assert_cmpint (pipe (hung.ends), ==, 0);
  g_assert_false (qm_patience_run (read_pipe, &hung, 100000));
  g_assert_cmpint (g_get_monotonic_time () - begun, >=, 100000);
  g_assert_cmpint (g_atomic_int_get (&hung.done), ==, 0);
  /* It goes on: nothing of it is taken away. */
  g_assert_cmpint (write (hung.ends[1], "x", 1), ==, 1);
  while (g_atomic_int_get (&hung.done) == 0)
    g_usleep (1000);
  close (hung.ends[0]);
  close (hung.ends[1]);
}

static void
test_slow (void)
{
  int done = 0;

  g_assert_true (qm_patience_run (sleep_a_little, &done, 60 * G_USEC_PER_SEC));
  g_assert_cmpint (g_atomic_int_get (&done), ==, 1);
}

static gboolean
is_undone (gpointer data)
{
  return g_atomic_int_get ((int *) data) == 0;
}

static gboolean
done_cb (gpointer data)
{
  g_atomic_int_set ((int *) data, 1);
  return G_SOURCE_REMOVE;
}

static void
test_iterate (void)
{
  int done = 0;

  g_assert_false (qm_patience_iterate (is_undone, &done, 200000));
  g_timeout_add (50, done_cb, &done);
  g_assert_true (qm_patience_iterate (is_undone, &done, 60 * G_USEC_PER_SEC));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/patience/hung", test_hung);
  g_test_add_func ("/patience/slow", test_slow);
  g_test_add_func ("/patience/iterate", test_iterate);
  return g_test_run ();
}
