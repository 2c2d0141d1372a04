/* SPDX-License-Identifier: Apache-2.0 */

/* What the tests of the readers share. */

#pragma once

#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>
#include <string.h>

/* A sample's bytes. */
static inline GBytes *
sample_load (const char *name)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("QM_SAMPLES_DIR"), name, NULL);
  char *data;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  return g_bytes_new_take (data, size);
}

static inline const QmQuoteLine *
sample_line (const QmQuote *quote, guint i)
{
  g_assert_cmpuint (i, <, quote->lines->len);
  return g_ptr_array_index (quote->lines, i);
}

/* Number of findings of a level whose text holds some words. */
static inline guint
sample_findings (const QmQuote *quote, QmFindingLevel level, const char *words)
{
  guint n = 0;

  for (guint i = 0; i < quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);

      if (finding->level == level && strstr (finding->message, words) != NULL)
        n++;
    }
  return n;
}

static inline void
sample_assert_date (QmDate date, int year, int month, int day)
{
  g_assert_cmpint (date.year, ==, year);
  g_assert_cmpint (date.month, ==, month);
  g_assert_cmpint (date.day, ==, day);
}
