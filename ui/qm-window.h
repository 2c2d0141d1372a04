/* SPDX-License-Identifier: Apache-2.0 */

/* The main window: a header bar over a stack of pages, of which the advisor is
 * the first. */

#pragma once

#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_WINDOW (qm_window_get_type ())
G_DECLARE_FINAL_TYPE (QmWindow, qm_window, QM, WINDOW, AdwApplicationWindow)

/* `settings` keep the window's state and the question from one start to the
 * next; NULL: nothing is kept. */
GtkWidget *qm_window_new (GtkApplication *application, GSettings *settings);

/* Opens the advisor on the catalog that is kept there, with the last question,
 * and shows the catalog's problems; where another catalog comes, the same
 * question is asked of that one.  To be called at most once, when there is a
 * catalog. */
void qm_window_open_catalog (QmWindow *self, QmCatalogKeeper *keeper);

/* Opens a store of quotes in the background: they get a page of their own, and
 * go into the advice, now and whenever they change.  To be called at most once,
 * after qm_window_open_catalog(). */
void qm_window_open_quotes (QmWindow *self, const char *path);

/* Opens the page of this machine, on which a benchmark can be run.  To be
 * called at most once, after qm_window_open_catalog(). */
void qm_window_open_machine (QmWindow *self);

/* Asks, at the very first start, which models are to be trained, for how much
 * and until when; not again once that was answered or skipped, nor where a
 * question is kept from before.  To be called after qm_window_open_catalog().
 */
void qm_window_ask_first (QmWindow *self);

/* Asks the question that a file has, and says so, or what is wrong with it;
 * does not block. */
void qm_window_open_question (QmWindow *self, GFile *file);

/* Closes the window without a question; where a benchmark runs, as soon as it
 * is stopped. */
void qm_window_stop_and_close (QmWindow *self);

/* Says why there is no catalog, in place of the advisor. */
void qm_window_show_failure (QmWindow *self, const char *reason);

/* Shows a short message over the page for a few seconds. */
void qm_window_add_toast (QmWindow *self, const char *title);

G_END_DECLS
