/* SPDX-License-Identifier: Apache-2.0 */

/* How long 10 000 quotes take to be read, matched to the catalog and added up:
 * as UBL documents of five lines each, as one table, and as one file of the
 * project's own format. */

#include "pricing/formats/qm-quote-csv.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/formats/qm-quote-ubl.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define QUOTES 10000

/* Milliseconds of this thread's processor time: other work on the machine does
 * not count. */
static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec * 1000 + (double) time.tv_nsec / 1e6;
}

static void
add_line (QmQuote *quote, const char *words, gint64 quantity, gint64 price)
{
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  line->number = g_strdup_printf ("%u", quote->lines->len);
  line->description = g_strdup (words);
  line->quantity_micros = quantity * 1000000;
  line->price_micros = price * 1000000;
  line->total_minor = quantity * price * 100;
}

static QmQuote *
make_quote (guint i)
{
  QmQuote *quote = qm_quote_new ();

  quote->vendor = g_strdup_printf ("Vendor %u", i % 100);
  quote->number = g_strdup_printf ("Q-%u", i);
  memcpy (quote->currency, "USD", 4);
  quote->issued_on = (QmDate){ 2026, 1 + (int) (i % 12), 1 };
  quote->tax_included = QM_NO;
  quote->origin = QM_QUOTE_FROM_JSON;
  add_line (quote, "8x NVIDIA A100 80GB SXM4", 1, 150000 + i);
  add_line (quote, "GPU server barebone, 2 x AMD EPYC 7543", 1, 12000);
  add_line (quote, "64GB DDR4-3200 ECC RDIMM", 16, 250);
  add_line (quote, "NVLink bridge for A100", 4, 180);
  add_line (quote, "Support, 3 years, next business day", 1, 4000);
  quote->net_minor = 0;
  for (guint j = 0; j < quote->lines->len; j++)
    quote->net_minor +=
        ((QmQuoteLine *) g_ptr_array_index (quote->lines, j))->total_minor;
  quote->payable_minor = quote->net_minor;
  return quote;
}

static void
read_all (const char *what, GPtrArray *documents, const QmMatcher *matcher)
{
  QmImportOptions options = { .matcher = matcher };
  double start = now ();
  guint quotes = 0, found = 0, findings = 0;
  gsize bytes = 0;

  for (guint i = 0; i < documents->len; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import =
          qm_import_bytes (g_ptr_array_index (documents, i), "bench", NULL,
                           &options, NULL, &error);

      g_assert_no_error (error);
      bytes += g_bytes_get_size (g_ptr_array_index (documents, i));
      quotes += import->quotes->len;
      for (guint j = 0; j < import->quotes->len; j++)
        {
          const QmQuote *quote = g_ptr_array_index (import->quotes, j);
          const QmQuoteLine *line = g_ptr_array_index (quote->lines, 0);

          found += line->match == QM_MATCH_FOUND;
          for (guint k = 0; k < quote->findings->len; k++)
            findings +=
                ((QmFinding *) g_ptr_array_index (quote->findings, k))->level
                == QM_FINDING_WARNING;
        }
    }
  g_assert_cmpuint (quotes, ==, QUOTES);
  g_assert_cmpuint (found, ==, QUOTES);
  g_assert_cmpuint (findings, ==, 0);
  printf ("%-5s %u quotes, %.1f MB: %.0f ms\n", what, quotes,
          (double) bytes / 1e6, now () - start);
}

int
main (void)
{
  const char *directory = g_getenv ("QM_SHIPPED_DATA_DIR");
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GPtrArray) ubl =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GPtrArray) csv =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GPtrArray) json =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (QmMatcher) matcher = NULL;
  QmCatalog *catalog;

  g_assert_cmpint (qm_catalog_load (directory, NULL, &catalog, NULL), ==,
                   QM_OK);
  matcher = qm_matcher_new (catalog, directory, NULL, NULL);
  for (guint i = 0; i < QUOTES; i++)
    {
      QmQuote *quote = make_quote (i);
      g_autoptr (GPtrArray) one = g_ptr_array_new ();

      g_ptr_array_add (quotes, quote);
      g_ptr_array_add (one, quote);
      g_ptr_array_add (ubl, qm_quote_ubl_write (quote, NULL));
      g_ptr_array_add (json, qm_quote_json_write (one));
    }
  g_ptr_array_add (csv, qm_quote_csv_write (quotes));
  read_all ("UBL", ubl, matcher);
  read_all ("CSV", csv, matcher);
  read_all ("JSON", json, matcher);
  qm_matcher_free (g_steal_pointer (&matcher));
  qm_catalog_free (catalog);
  return 0;
}
