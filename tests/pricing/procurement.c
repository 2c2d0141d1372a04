/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/pricing/procurement.h"

#include "data/datadir.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <string.h>

typedef struct
{
  const char *name;
  GKeyFile *expected;
  GPtrArray *quotes; /* of QmQuote */
  GError *error;     /* where it was refused */
} Case;

static QmCatalog *catalog;
static QmMatcher *matcher;
static QmRates *rates;

const char *
procurement_folder (void)
{
  return g_getenv ("QM_PROCUREMENT_DIR");
}

/* What stands beside a table, in the file of its name up to the first point. */
GKeyFile *
procurement_expected (const char *file)
{
  GKeyFile *expected = g_key_file_new ();
  g_autofree char *stem = g_strndup (file, strcspn (file, "."));
  g_autofree char *name = g_strconcat (stem, ".ini", NULL);
  g_autofree char *path = g_build_filename (procurement_folder (), name, NULL);

  g_assert_true (
      g_key_file_load_from_file (expected, path, G_KEY_FILE_NONE, NULL));
  return expected;
}

static void
read_table (Case *test, GBytes *bytes)
{
  QmImportOptions options = { .matcher = matcher,
                              .rates = rates,
                              .now = 1795000000 };
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, test->name, NULL, &options, NULL, &test->error);

  if (import != NULL)
    {
      if (g_key_file_get_boolean (test->expected, "columns", "asked", NULL)
          != import->mapping_wanted)
        g_error ("%s: %s", test->name,
                 import->mapping_wanted ? import->mapping_reason
                                        : "no columns are asked");
      test->quotes = g_ptr_array_ref (import->quotes);
    }
}

static char *
expected_text (const Case *test, const char *group, const char *key)
{
  return g_key_file_get_string (test->expected, group, key, NULL);
}

static gint64
expected_minor (const Case *test, const char *group, const char *key)
{
  g_autofree char *text = expected_text (test, group, key);
  gint64 value = QM_AMOUNT_UNSTATED;

  if (text != NULL)
    g_assert_cmpint (qm_read_decimal (text, 2, &value), ==, QM_DECIMAL_EXACT);
  return value;
}

static void
check_text (const Case *test, const char *key, const char *is)
{
  g_autofree char *should = expected_text (test, "quote", key);

  if (should == NULL)
    return;
  if (g_strcmp0 (is, should) != 0)
    g_error ("%s: %s is “%s”, not “%s”", test->name, key, is, should);
}

static void
check_date (const Case *test, const char *key, QmDate date)
{
  g_autofree char *should = expected_text (test, "quote", key);
  g_autofree char *is = qm_read_date_text (date);

  if (g_strcmp0 (is, should) != 0)
    g_error ("%s: %s is %s, not %s", test->name, key, is, should);
}

static void
check_head (const Case *test, const QmQuote *quote)
{
  check_text (test, "vendor", quote->vendor);
  check_text (test, "number", quote->number);
  check_text (test, "currency", quote->currency);
  check_date (test, "issued", quote->issued_on);
  check_date (test, "from", quote->valid_from);
  check_date (test, "until", quote->valid_until);
}

/* "4 a6000", of all lines together that count, or are in one that does. */
static char *
gpus_of (const QmQuote *quote)
{
  const char *gpu = NULL;
  gint64 n = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if ((line->role != QM_LINE_QUOTED && line->role != QM_LINE_PART)
          || line->item == NULL || qm_catalog_gpu (catalog, line->item) == NULL)
        continue;
      g_assert_true (gpu == NULL || strcmp (gpu, line->item) == 0);
      gpu = line->item;
      n += line->quantity_micros / QM_MICROS_PER_UNIT * MAX (line->gpus, 1);
    }
  return g_strdup_printf ("%d %s", (int) n, gpu != NULL ? gpu : "nothing");
}

static void
check_amount (const Case *test,
              const char *group,
              const char *key,
              gint64 is,
              gint64 tolerance)
{
  gint64 should = expected_minor (test, group, key);

  if (should != QM_AMOUNT_UNSTATED && ABS (is - should) > tolerance)
    g_error ("%s: %s of %s is %.2f, not %.2f", test->name, key, group,
             (double) is / 100, (double) should / 100);
}

/* Both what the lines come to and what is written. */
static void
check_amounts (const Case *test, const char *group, const QmQuote *quote)
{
  gint64 tax = quote->tax_minor != QM_AMOUNT_UNSTATED ? quote->tax_minor : 0;
  gint64 net;
  QmQuoteTotals totals;

  qm_quote_totals_compute (quote, &totals);
  net = totals.net_minor - (quote->tax_included == QM_YES ? tax : 0);
  check_amount (test, group, "net", net, 2);
  check_amount (test, group, "total", net, 2);
  check_amount (test, group, "gross", quote->payable_minor, 0);
  if (quote->payable_minor != QM_AMOUNT_UNSTATED
      && quote->tax_minor != QM_AMOUNT_UNSTATED)
    check_amount (test, group, "net", quote->payable_minor - tax,
                  g_key_file_get_integer (test->expected, group, "rounded",
                                          NULL));
}

/* What the advice would count: machines as a whole, where there are some, or
 * all cards. */
static void
check_offers (const Case *test, const char *group, const QmQuote *quote)
{
  g_autoptr (GArray) offers = qm_quote_offers (catalog, quote, NULL);
  g_autofree char *should = expected_text (test, group, "gpus");
  gint64 n = 0, net = 0;

  for (guint i = 0; i < offers->len; i++)
    {
      const QmQuoteOffer *offer = &g_array_index (offers, QmQuoteOffer, i);

      if (offer->variant || qm_catalog_gpu (catalog, offer->item) == NULL)
        continue;
      n += offer->pieces * MAX (offer->gpus, 1);
      if (offer->gpus > 0)
        net += offer->net_minor;
      g_assert_nonnull (strstr (should, offer->item));
    }
  if (net > 0)
    {
      check_amount (test, group, "net", net, 2);
      check_amount (test, group, "total", net, 2);
    }
  if (n != g_ascii_strtoll (should, NULL, 10))
    g_error ("%s: the advice has %d GPUs for %s", test->name, (int) n, should);
}

static guint
open_of_lines (const QmQuote *quote)
{
  guint asks = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    asks |= qm_quote_line_open (g_ptr_array_index (quote->lines, i));
  return asks;
}

static gboolean
counts (const QmQuote *quote)
{
  return open_of_lines (quote) == 0 && quote->currency[0] != '\0';
}

static void
check_alternatives (const Case *test)
{
  guint n = 0;
  g_autofree char *more = NULL;

  for (guint i = 0; i < test->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (test->quotes, i);
      g_autofree char *group = NULL;
      g_autofree char *should = NULL;
      g_autofree char *is = NULL;

      check_head (test, quote);
      if (!counts (quote))
        continue;
      is = gpus_of (quote);
      group = g_strdup_printf ("alternative %u", ++n);
      should = expected_text (test, group, "gpus");
      if (g_strcmp0 (is, should) != 0)
        g_error ("%s: %s has %s, not %s", test->name, group, is, should);
      check_amounts (test, group, quote);
      check_offers (test, group, quote);
    }
  more = g_strdup_printf ("alternative %u", n + 1);
  if (g_key_file_has_group (test->expected, more))
    g_error ("%s: there is no %s", test->name, more);
  if (g_key_file_has_group (test->expected, "totals"))
    {
      g_assert_cmpuint (test->quotes->len, ==, 1);
      check_amounts (test, "totals", g_ptr_array_index (test->quotes, 0));
    }
}

/* Whether a line that does not count is that of a group. */
static gboolean
is_besides (const Case *test, const char *group, const QmQuoteLine *line)
{
  g_autofree char *should = expected_text (test, group, "gpus");
  g_autofree char *is = NULL;

  if (line->item != NULL)
    is = g_strdup_printf ("%d %s",
                          (int) (line->quantity_micros / QM_MICROS_PER_UNIT)
                              * MAX (line->gpus, 1),
                          line->item);
  return line->total_minor == expected_minor (test, group, "price")
         && g_strcmp0 (is, should) == 0;
}

/* What is offered besides is in each of the alternatives, and nothing else
 * with a price is. */
static void
check_besides (const Case *test)
{
  for (guint i = 0; i < test->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (test->quotes, i);
      guint n = 0;
      g_autofree char *more = NULL;

      for (guint j = 0; j < quote->lines->len; j++)
        {
          const QmQuoteLine *line = g_ptr_array_index (quote->lines, j);
          g_autofree char *group = NULL;

          if (line->role == QM_LINE_QUOTED || line->role == QM_LINE_PART
              || line->total_minor == QM_AMOUNT_UNSTATED)
            continue;
          group = g_strdup_printf ("besides %u", ++n);
          if (!is_besides (test, group, line))
            g_error ("%s: “%s” is not %s", test->name, line->description,
                     group);
        }
      more = g_strdup_printf ("besides %u", n + 1);
      if (g_key_file_has_group (test->expected, more))
        g_error ("%s: there is no %s", test->name, more);
    }
}

static gboolean
has_open_date (const QmQuote *quote)
{
  return (qm_quote_open (quote) & (QM_ASK_DATE | QM_ASK_VALIDITY)) != 0;
}

/* Each question comes with a sentence that says why. */
static void
check_questions (const Case *test)
{
  g_autofree char *wanted = expected_text (test, "questions", "kinds");
  g_auto (GStrv) kinds = g_strsplit (wanted != NULL ? wanted : "", ";", -1);
  static const char *const names[] = { "date", "currency", "rent", "pack",
                                       "price" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gboolean asked = FALSE;

      for (guint j = 0; j < test->quotes->len; j++)
        {
          const QmQuote *quote = g_ptr_array_index (test->quotes, j);
          guint lines = open_of_lines (quote);
          gboolean of[] = { has_open_date (quote), quote->currency[0] == '\0',
                            (lines & QM_ASK_RENT) != 0,
                            (lines & QM_ASK_PACK) != 0,
                            (lines & QM_ASK_PRICE) != 0 };
          guint warnings = 0;

          for (guint k = 0; k < quote->findings->len; k++)
            {
              const QmFinding *finding = g_ptr_array_index (quote->findings, k);

              warnings += finding->level == QM_FINDING_WARNING;
            }
          asked = asked || of[i];
          g_assert_true (!of[i] || warnings > 0);
        }
      if (asked != g_strv_contains ((const char *const *) kinds, names[i]))
        g_error ("%s: “%s” is %s", test->name, names[i],
                 asked ? "asked without a reason" : "not asked");
    }
}

/* A table of which everything is clear is no reason for a warning. */
static void
check_warnings (const Case *test)
{
  for (guint i = 0; i < test->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (test->quotes, i);

      for (guint j = 0; j < quote->findings->len; j++)
        {
          const QmFinding *finding = g_ptr_array_index (quote->findings, j);

          if (finding->level == QM_FINDING_WARNING
              && !g_key_file_has_group (test->expected, "questions"))
            g_error ("%s: %s", test->name, finding->message);
        }
    }
}

void
procurement_check (const char *file, GBytes *bytes)
{
  Case test = { .name = file, .expected = procurement_expected (file) };
  g_autofree char *words = NULL;

  read_table (&test, bytes);
  words = expected_text (&test, "refused", "words");
  if (words != NULL)
    {
      g_assert_error (test.error, QM_READ_ERROR, QM_READ_ERROR_CURRENCY);
      g_assert_nonnull (strstr (test.error->message, words));
    }
  else
    {
      g_assert_no_error (test.error);
      check_alternatives (&test);
      check_besides (&test);
      check_questions (&test);
      check_warnings (&test);
    }
  g_clear_error (&test.error);
  g_clear_pointer (&test.quotes, g_ptr_array_unref);
  g_key_file_unref (test.expected);
}

gboolean
procurement_asks_columns (const char *file, GBytes *bytes)
{
  QmImportOptions options = { .matcher = matcher };
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, file, NULL, &options, NULL, NULL);

  return import != NULL && import->mapping_wanted;
}

GPtrArray *
procurement_quotes (const char *file, GBytes *bytes)
{
  Case test = { .name = file, .expected = procurement_expected (file) };

  read_table (&test, bytes);
  g_assert_no_error (test.error);
  g_key_file_unref (test.expected);
  return test.quotes;
}

void
procurement_begin (void)
{
  const char *data = g_getenv ("QM_SHIPPED_DATA_DIR");

  g_assert_cmpint (qm_catalog_load (data, NULL, &catalog, NULL), ==, QM_OK);
  matcher = qm_matcher_new (catalog, data, NULL, NULL);
  rates = qm_rates_new_shipped (data, NULL);
  g_assert_true (matcher != NULL && rates != NULL);
}

void
procurement_end (void)
{
  qm_rates_unref (rates);
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
procurement_files (const char *const *endings)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (procurement_folder (), 0, NULL);
  const char *file;

  g_assert_nonnull (dir);
  while ((file = g_dir_read_name (dir)) != NULL)
    for (guint i = 0; endings[i] != NULL; i++)
      if (g_str_has_suffix (file, endings[i]))
        g_ptr_array_add (names, g_strdup (file));
  g_ptr_array_sort (names, compare_names);
  return names;
}

QmSheet *
procurement_sheet (const char *file, QmCsvField named, QmCsvMapping **mapping)
{
  g_autofree char *path = g_build_filename (procurement_folder (), file, NULL);
  g_autofree char *text = NULL;
  g_autoptr (QmSheet) sheet = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  *mapping = qm_csv_mapping_guess (text, size, NULL);
  g_assert_nonnull (*mapping);
  sheet = qm_sheet_new (text, size, (*mapping)->delimiter, 0, NULL, NULL);
  g_assert_nonnull (sheet);
  if (!qm_csv_mapping_check (*mapping, NULL)
      || (named != QM_CSV_IGNORED
          && qm_csv_mapping_column (*mapping, named) < 0))
    return NULL;
  return g_steal_pointer (&sheet);
}

gboolean
procurement_takes (const char *file, guint layout, guint n_layouts)
{
  return g_getenv ("QM_TEST_FULL") != NULL
         || g_str_hash (file) / 7 % n_layouts == layout;
}

void
procurement_keep (const char *variable, GBytes *bytes)
{
  const char *keep = g_getenv (variable);

  if (keep != NULL && bytes != NULL)
    g_assert_true (g_file_set_contents (keep, g_bytes_get_data (bytes, NULL),
                                        (gssize) g_bytes_get_size (bytes),
                                        NULL));
}
