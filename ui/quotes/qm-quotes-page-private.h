/* SPDX-License-Identifier: Apache-2.0 */

/* What the parts of the page of quotes share. */

#pragma once

#include "ui/quotes/qm-quote-compare-view.h"
#include "ui/quotes/qm-quote-list.h"
#include "ui/quotes/qm-quote-view.h"
#include "ui/quotes/qm-quotes-page.h"

G_BEGIN_DECLS

struct _QmQuotesPage
{
  AdwBin parent_instance;

  AdwToastOverlay *overlay;
  GtkStack *stack;
  AdwStatusPage *failed;
  AdwLeaflet *leaflet;
  QmQuoteList *list;
  GtkWidget *list_box;
  GtkWidget *detail_box;
  GtkWidget *back_button;
  GtkWidget *unmark_button;
  GtkStack *detail_stack;
  QmQuoteView *view;
  QmQuoteCompareView *compare_view;

  QmQuoteBook *book;
  QmAdvisor *advisor;      /* NULL: no trainings are known */
  QmPriceWatch *watch;     /* NULL: nothing is watched */
  GtkWidget *watch_window; /* weak; NULL: not open */
  GtkWidget *history;      /* likewise: of prices */
  GArray *deleted;         /* gint64 ids, to be restored from the end */
  AdwToast *undo_toast;    /* weak: what offers the last of them */
  GtkFileChooserNative *chooser;
};

/* Installs the actions of ways in and out, of editing and deleting. */
void qm_quotes_page_install_import (GtkWidgetClass *widget_class);
void qm_quotes_page_install_edit (GtkWidgetClass *widget_class);

/* Installs the actions that save documents, and sets which of them there are
 * now. */
void qm_quotes_page_install_papers (GtkWidgetClass *widget_class);
void qm_quotes_page_update_papers (QmQuotesPage *self);

/* Lets files, addresses and texts be dropped on the page. */
void qm_quotes_page_accept_drops (QmQuotesPage *self);

/* Shows a message for a few seconds. */
void qm_quotes_page_tell (QmQuotesPage *self, const char *message);

/* A copy of the shown quote as it is stored, or NULL.  (transfer full) */
QmQuote *qm_quotes_page_get_quote (QmQuotesPage *self);

/* The window that dialogs belong to. */
GtkWindow *qm_quotes_page_window (QmQuotesPage *self);

G_END_DECLS
