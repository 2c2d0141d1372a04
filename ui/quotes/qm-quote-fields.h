/* SPDX-License-Identifier: Apache-2.0 */

/* The fields of quotes and lines as entries have them. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

typedef enum
{
  QM_FIELD_TEXT,
  QM_FIELD_CURRENCY,
  QM_FIELD_DATE,
  QM_FIELD_AMOUNT,     /* minor units; empty: unstated */
  QM_FIELD_ADJUSTMENT, /* minor units; empty: 0 */
  QM_FIELD_MICROS,     /* a price or quantity; empty: unstated */
  QM_FIELD_COUNT       /* an int, empty: 0 */
} QmFieldKind;

typedef struct
{
  const char *title; /* not translated yet */
  QmFieldKind kind;
  gsize offset; /* in QmQuote or QmQuoteLine */
} QmField;

/* Those of a quote (the currency before all amounts), and of a line. */
extern const QmField qm_quote_fields[];
extern const guint qm_n_quote_fields;
extern const QmField qm_line_fields[];
extern const guint qm_n_line_fields;

/* The field's value as an entry shows it.
 *
 * object: a QmQuote or QmQuoteLine.
 * (transfer full) */
char *qm_field_text (const QmField *field,
                     gconstpointer object,
                     const char *currency);

/* Sets the field to what was typed.
 *
 * Returns: FALSE where it is no such thing; nothing is changed then. */
gboolean qm_field_set (const QmField *field,
                       gpointer object,
                       const char *text,
                       const char *currency);

G_END_DECLS
