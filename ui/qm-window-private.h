/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the window share. */

#pragma once

#include "ui/advisor/qm-advisor-page.h"
#include "ui/machine/qm-adopt-bar.h"
#include "ui/machine/qm-machine-page.h"
#include "ui/qm-problem-bar.h"
#include "ui/qm-window.h"
#include "ui/quotes/qm-quotes-page.h"
#include "ui/quotes/qm-store-bar.h"

G_BEGIN_DECLS

struct _QmWindow
{
  AdwApplicationWindow parent_instance;

  AdwToastOverlay *toast_overlay;
  GtkWidget *sidebar_button;
  QmProblemBar *problem_bar;
  QmStoreBar *store_bar;
  QmAdoptBar *adopt_bar;
  AdwViewStack *stack;

  GSettings *settings;
  QmCatalogKeeper *keeper; /* NULL: no catalog yet */
  QmAdvisor *advisor;
  AdwBin *advisor_bin; /* NULL: no catalog yet */
  QmAdvisorPage *page; /* in it */
  QmQuoteBook *book;   /* NULL: no quotes are kept */
  QmPriceWatch *watch; /* likewise */
  gboolean opened;     /* the book has been read once */
  AdwBin *quotes_bin;
  QmQuotesPage *quotes;    /* in it; NULL: nobody has looked there yet */
  QmBenchSession *session; /* NULL: nothing is measured here */
  AdwBin *machine_bin;
  QmMachinePage *machine; /* in it; NULL: nobody has looked there yet */
  AdwViewStackPage *machine_page;
  GtkWidget *total_cost; /* weak; NULL: not open */
  GtkWidget *published;  /* the same */
  GtkWidget *question;   /* weak; NULL: nobody is asked about closing */
  GtkWidget *models;     /* weak; NULL: not open */
  GtkWidget *first;      /* weak; NULL: the first start does not ask */
  GtkFileChooserNative *chooser;
  guint64 results_stamp; /* of other machines' results as they were read */
};

/* Results of other machines are those that are there now. */
void qm_window_note_results (QmWindow *self);

/* Reads the catalog again where the advisor is shown and others came since. */
void qm_window_refresh_results (QmWindow *self);

/* Asks on which machine results were measured that do not say it; called when
 * the advisor has read them. */
void qm_window_ask_where (QmWindow *self);

/* Takes up what was said about that. */
void qm_window_results_adopted (QmWindow *self);

/* Takes up results from now on; there is a session. */
void qm_window_watch_results (QmWindow *self);

/* Actions for the user's own models, for the benchmark of another machine and
 * for what is taken from a result. */
void qm_window_install_files (GtkWidgetClass *widget_class);

/* As the desktop calls files of questions (data/desktop). */
#define QM_WINDOW_QUESTION_TYPE "application/vnd.quartermaster.question+json"

/* Actions that open and save questions. */
void qm_window_install_questions (GtkWidgetClass *widget_class);

/* Gives the advisor exchange rates, those that are shipped, where it has none
 * and needs one of this currency. */
void qm_window_ensure_rates (QmWindow *self, const char *currency);

/* Files may be dropped on the advisor: configurations of models, results
 * and questions. */
void qm_window_accept_drops (QmWindow *self);

G_END_DECLS
