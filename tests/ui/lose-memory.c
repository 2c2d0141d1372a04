/* SPDX-License-Identifier: Apache-2.0 */

/* A window that loses memory, once: see check-leak.py. */

#include "tests/ui/widgets.h"

#define LOST 4321

static void
lose (void)
{
  volatile char *lost = malloc (LOST);

  lost[0] = 1;
}

int
main (int argc, char **argv)
{
  GtkWidget *window;

  widgets_init (&argc, &argv);
  window = gtk_window_new ();
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  lose ();
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
  return 0;
}
