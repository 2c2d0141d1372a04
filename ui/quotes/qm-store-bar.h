/* SPDX-License-Identifier: Apache-2.0 */

/* A bar over the pages that says what is wrong with the store of quotes for as
 * long as it is, and offers what helps: backups, another try, or going on with
 * what could be read. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_STORE_BAR (qm_store_bar_get_type ())
G_DECLARE_FINAL_TYPE (QmStoreBar, qm_store_bar, QM, STORE_BAR, AdwBin)

/* Shows what is wrong with a book's store; hidden until then. */
void qm_store_bar_set_book (QmStoreBar *self, QmQuoteBook *book);

G_END_DECLS
