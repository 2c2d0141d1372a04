/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of tests/pricing/procurement, as vendors of several countries write
 * them: each comes to what a person reads off it, which stands beside it, or to
 * a question.  See its README. */

#include "data/datadir.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <string.h>

typedef struct
{
  const char *file, *name; /* with its ending, and without */
  GKeyFile *expected;
  GPtrArray *quotes; /* of QmQuote */
  GError *error;     /* where it was refused */
} Case;

static QmCatalog *catalog;
static QmMatcher *matcher;
static QmRates *rates;

static const char *
folder (void)
{
  return g_getenv ("QM_PROCUREMENT_DIR");
}

/* The bytes of a text as its vendor would have sent them. */
static GBytes *
encode (const Case *test, const char *text)
{
  g_autofree char *encoding =
      g_key_file_get_string (test->expected, "file", "encoding", NULL);
  g_auto (GStrv) lines = NULL;
  g_autofree char *whole = NULL;
  g_autofree char *marked = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;
  char *bytes;

  lines = g_strsplit (text, "\n", -1);
  whole = g_strjoinv ("\r\n", lines);
  marked =
      g_strconcat (g_key_file_get_boolean (test->expected, "file", "mark", NULL)
                       ? "\xef\xbb\xbf"
                       : "",
                   whole, NULL);
  bytes = g_convert (marked, -1, encoding, "UTF-8", NULL, &size, &error);
  g_assert_no_error (error);
  return g_bytes_new_take (bytes, size);
}

static GBytes *
load_table (const Case *test)
{
  g_autofree char *path = g_build_filename (folder (), test->file, NULL);
  g_autofree char *text = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  return g_str_has_suffix (path, ".csv")
             ? encode (test, text)
             : g_bytes_new_take (g_steal_pointer (&text), size);
}

static void
read_table (Case *test)
{
  g_autoptr (GBytes) bytes = load_table (test);
  QmImportOptions options = { .matcher = matcher,
                              .rates = rates,
                              .now = 1795000000 };
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, test->file, NULL, &options, NULL, &test->error);

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
    check_amount (test, group, "net", quote->payable_minor - tax, 0);
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

static void
test_table (gconstpointer data)
{
  const char *ending = strrchr (data, '.');
  g_autofree char *name = g_strndup (data, (gsize) (ending - (char *) data));
  Case test = { .file = data, .name = name, .expected = g_key_file_new () };
  g_autofree char *file = g_strconcat (name, ".ini", NULL);
  g_autofree char *path = g_build_filename (folder (), file, NULL);
  g_autofree char *words = NULL;

  g_assert_true (
      g_key_file_load_from_file (test.expected, path, G_KEY_FILE_NONE, NULL));
  read_table (&test);
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

/* What is found in a workbook is told by the rows that it shows, with a cover
 * sheet or without. */
static void
test_places (void)
{
  static const char *const files[] = { "de-anfrage-teilsummen.csv",
                                       "de-anfrage-teilsummen.xlsx" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      Case test = { .file = files[i], .expected = g_key_file_new () };
      gboolean found = FALSE;
      const QmQuote *quote;

      g_key_file_set_string (test.expected, "file", "encoding", "UTF-8");
      read_table (&test);
      g_assert_no_error (test.error);
      quote = g_ptr_array_index (test.quotes, 0);
      for (guint j = 0; j < quote->findings->len; j++)
        {
          const QmFinding *finding = g_ptr_array_index (quote->findings, j);

          found = found || g_strcmp0 (finding->place, "row 13") == 0;
        }
      g_assert_true (found);
      g_ptr_array_unref (test.quotes);
      g_key_file_unref (test.expected);
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* A test for each table; its reading stands beside it. */
static void
add_tables (GPtrArray *names)
{
  g_autoptr (GDir) dir = g_dir_open (folder (), 0, NULL);
  const char *file;

  g_assert_nonnull (dir);
  while ((file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".csv") || g_str_has_suffix (file, ".xlsx")
        || g_str_has_suffix (file, ".ods") || g_str_has_suffix (file, ".xml"))
      g_ptr_array_add (names, g_strdup (file));
  g_ptr_array_sort (names, compare_names);
  g_assert_cmpuint (names->len, >=, 162);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *path = g_strconcat ("/procurement/", name, NULL);

      g_test_add_data_func (path, name, test_table);
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *data = g_getenv ("QM_SHIPPED_DATA_DIR");
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (data, NULL, &catalog, NULL), ==, QM_OK);
  matcher = qm_matcher_new (catalog, data, NULL, NULL);
  rates = qm_rates_new_shipped (data, NULL);
  g_assert_true (matcher != NULL && rates != NULL);
  add_tables (names);
  g_test_add_func ("/procurement-places", test_places);
  result = g_test_run ();
  qm_rates_unref (rates);
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  return result;
}
