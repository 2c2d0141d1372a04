/* SPDX-License-Identifier: Apache-2.0 */

/* What the names of elements and the words around amounts tell about them. */

#pragma once

#include "pricing/pages/qm-page-private.h"

G_BEGIN_DECLS

/* What an element says of the amounts in it, by its name, class, id and data
 * attributes: QmSeenFlags.  `small` says that it holds little text; QM_SEEN_OLD
 * and QM_SEEN_PART are told of such ones alone. */
guint qm_page_words_of_element (const QmPage *page,
                                const xmlNode *node,
                                gboolean small);

/* What the text before an amount tells of it, `length` bytes. */
guint qm_page_words_before (const char *text, gsize length);

/* What the text after an amount tells of it. */
guint qm_page_words_after (const char *text);

/* Whether a text says that tax is in a price; unstated where it says nothing,
 * or both. */
QmTristate qm_page_words_tax (const char *text);

/* Whether an element is a button or the like that buys or puts something into
 * the basket. */
gboolean qm_page_words_buy (const xmlNode *node);

G_END_DECLS
