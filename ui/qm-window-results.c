/* SPDX-License-Identifier: Apache-2.0 */

/* Results that come while the window is open.
 *
 * Those of this machine are taken up at once, and alone: the advisor takes its
 * times in place.  Those of other machines are a part of the catalog, and with
 * another catalog the advisor's page is made anew, which takes what is being
 * zoomed, scrolled or typed there from under the user's hands.  So the folder
 * is looked at when the user comes to that page, or back to the window; that
 * takes no time, and reading the catalog again hundredths of a second. */

#include "config.h"

#include "ui/qm-window-private.h"

#include "ui/machine/qm-results-stamp.h"

static void
active_cb (QmWindow *self)
{
  if (gtk_window_is_active (GTK_WINDOW (self)))
    qm_window_refresh_results (self);
}

static void
measured_cb (QmWindow *self)
{
  qm_advisor_read_host (self->advisor);
}

void
qm_window_ask_where (QmWindow *self)
{
  qm_adopt_bar_ask (self->adopt_bar, qm_advisor_get_n_unsaid (self->advisor));
}

void
qm_window_results_adopted (QmWindow *self)
{
  if (self->advisor != NULL)
    qm_advisor_read_host (self->advisor);
}

void
qm_window_note_results (QmWindow *self)
{
  self->results_stamp = qm_results_stamp ();
}

void
qm_window_refresh_results (QmWindow *self)
{
  if (self->advisor == NULL || self->results_stamp == qm_results_stamp ()
      || g_strcmp0 (adw_view_stack_get_visible_child_name (self->stack),
                    "advisor")
             != 0)
    return;
  /* What cannot be read now is not tried again until it changes. */
  qm_window_note_results (self);
  qm_catalog_keeper_load (self->keeper, NULL);
}

void
qm_window_watch_results (QmWindow *self)
{
  /* The advisor is another one after each change of the catalog. */
  g_signal_connect_object (self->session, "measured", G_CALLBACK (measured_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect (self, "notify::is-active", G_CALLBACK (active_cb), NULL);
}
