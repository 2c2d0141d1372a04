/* SPDX-License-Identifier: Apache-2.0 */

/* What must hold for every quote, whatever it was read from. */

#ifndef QM_TESTS_FUZZ_QUOTES_H
#define QM_TESTS_FUZZ_QUOTES_H

#include "pricing/formats/qm-quote-import.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static inline void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

static inline void
require_text (const char *text)
{
  if (text == NULL)
    return;
  require (*text != '\0' && g_utf8_validate (text, -1, NULL));
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    require (*p == '\n' || !g_unichar_iscntrl (g_utf8_get_char (p)));
}

static inline void
require_line (const QmQuoteLine *line)
{
  require (line->role < QM_N_LINE_ROLES && line->match < QM_N_MATCHES);
  require_text (line->number);
  require_text (line->part_number);
  require_text (line->description);
  require_text (line->unit);
  require_text (line->item);
  require (line->base_quantity_micros > 0);
  require (line->discount_minor >= 0 && line->charge_minor >= 0);
  require (line->gpus >= 0);
}

static inline void
require_quote (QmQuote *quote)
{
  require (quote->lines != NULL && quote->findings != NULL);
  require (quote->currency[0] == '\0' || qm_currency_valid (quote->currency));
  require_text (quote->vendor);
  require_text (quote->number);
  require_text (quote->note);
  for (guint i = 0; i < quote->lines->len; i++)
    require_line (g_ptr_array_index (quote->lines, i));
  for (guint i = 0; i < quote->findings->len; i++)
    require_text (
        ((QmFinding *) g_ptr_array_index (quote->findings, i))->message);
}

/* Either something was read, or there is an error that says why. */
static inline void
require_outcome (gboolean good, GError *error)
{
  require (good == (error == NULL));
  if (error != NULL)
    require_text (error->message);
  g_clear_error (&error);
}

/* A copy without anything around it, so that the sanitizer sees a byte too
 * many. */
static inline char *
copy_input (const uint8_t *data, size_t size)
{
  char *copy = malloc (size > 0 ? size : 1);

  require (copy != NULL);
  if (size > 0)
    memcpy (copy, data, size);
  return copy;
}

/* The shipped facts; loaded once. */
static inline const QmMatcher *
shared_matcher (const QmCatalog **catalog)
{
  static QmCatalog *loaded;
  static QmMatcher *matcher;

  if (matcher == NULL)
    {
      require (qm_catalog_load (FUZZ_DATA_DIR, NULL, &loaded, NULL) == QM_OK);
      matcher = qm_matcher_new (loaded, FUZZ_DATA_DIR, NULL, NULL);
      require (matcher != NULL);
    }
  if (catalog != NULL)
    *catalog = loaded;
  return matcher;
}

#endif
