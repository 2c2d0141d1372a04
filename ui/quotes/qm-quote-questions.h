/* SPDX-License-Identifier: Apache-2.0 */

/* What is asked about a quote or one of its lines, with buttons to answer. */

#pragma once

#include "pricing/quotes/qm-quote.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* In the place of a line: the question is about the quote itself. */
#define QM_QUESTION_OF_QUOTE G_MAXUINT

/* An answer: to which question, about which line, and the number that
 * qm_quote_apply_answer() takes. */
typedef void (*QmQuestionFunc) (gpointer user_data,
                                guint line,
                                QmAsk ask,
                                int number);

/* A box with the questions of a set.
 *
 * gpus: what the number of pieces begins with.
 * user_data: must live as long as the box. */
GtkWidget *qm_quote_questions_new (
    guint asks, guint line, int gpus, QmQuestionFunc func, gpointer user_data);

/* Applies an answer to a quote.
 *
 * number: of a line, as qm_quote_line_answer() has it.  Of a quote, 1 where it
 *   is a revision and 0 where it is none; dates: it has none.
 *
 * Returns: FALSE where there is no such line. */
gboolean
qm_quote_apply_answer (QmQuote *quote, guint line, QmAsk ask, int number);

G_END_DECLS
