/* SPDX-License-Identifier: Apache-2.0 */

/* Pages that are wrong, huge or hostile, and what is no page. */

#include "pricing/pages/qm-page.h"

#include <string.h>
#include <time.h>

#define PRODUCT                                                              \
  "<script type=\"application/ld+json\">{\"@type\":\"Product\",\"name\":"    \
  "\"Card X100\",\"offers\":{\"price\":\"1299.5\",\"priceCurrency\":\"EUR\"" \
  "}}</script><h1>Card X100</h1>"
#define PRICE_MICROS 1299500000
#define BUY          "<button>Add to cart</button>"

/* Of the processor, whatever else it does.  Generous where sanitizers watch;
 * each of these takes far less than a second without. */
#define SECONDS_MAX 20

static QmPageOffer *
read_bytes (const char *bytes, gsize size, const char *charset)
{
  const QmPageContext context = { .charset = charset };
  clock_t start = clock ();
  g_autoptr (GError) error = NULL;
  QmPageOffer *offer =
      qm_page_read ((const guint8 *) bytes, size, &context, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (offer);
  g_assert_cmpint ((clock () - start) / CLOCKS_PER_SEC, <, SECONDS_MAX);
  return offer;
}

static void
check_refused (const char *bytes, gsize size)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (
      qm_page_read ((const guint8 *) bytes, size, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_cmpint (strlen (error->message), >, 0);
}

static void
test_no_page (void)
{
  static const char *const texts[] = {
    "",
    " \n ",
    "Card X100: 1299.50 EUR",
    "{\"price\": 1299.5}",
    "%PDF-1.4\n",
    "<?xml version=\"1.0\"?><Quotation/>",
    "a < b and b > c",
    "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
  };
  g_autofree char *large = g_malloc0 (QM_PAGE_BYTES_MAX + 1);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    check_refused (texts[i], strlen (texts[i]));
  check_refused ("\177ELF\2\1\1\0\0\0", 10);
  memset (large, ' ', QM_PAGE_BYTES_MAX + 1);
  memcpy (large, "<html>", 6);
  check_refused (large, QM_PAGE_BYTES_MAX + 1);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (qm_page_read ((const guint8 *) PRODUCT, strlen (PRODUCT), NULL,
                               cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A page in an encoding, the price as people see it with a sign beyond
 * ASCII. */
static void
check_encoding (const char *iconv_name,
                const char *charset,
                const char *meta,
                const char *sign,
                const char *currency)
{
  g_autofree char *page =
      g_strdup_printf ("<html><head>%s</head><body><h1>Größe</h1><b "
                       "class=price>12,50 %s</b>" BUY "</body></html>",
                       meta, sign);
  gsize size;
  g_autofree char *bytes =
      g_convert_with_fallback (page, -1, iconv_name, "UTF-8", "?", NULL, &size,
                               NULL);
  g_autoptr (QmPageOffer) offer = read_bytes (bytes, size, charset);

  g_assert_cmpint (offer->price_micros, ==, 12500000);
  g_assert_cmpstr (offer->currency, ==, currency);
}

static void
test_encodings (void)
{
  check_encoding ("UTF-8", NULL, "", "€", "EUR");
  check_encoding ("UTF-8", "utf-8", "", "€", "EUR");
  check_encoding ("UTF-8", "iso-8859-1", "", "€", "EUR");
  check_encoding ("UTF-8", NULL, "<meta charset=iso-8859-1>", "€", "EUR");
  check_encoding ("CP1252", NULL, "", "€", "EUR");
  check_encoding ("CP1252", "ISO-8859-1", "", "€", "EUR");
  check_encoding ("ISO-8859-15", "iso-8859-15", "", "€", "EUR");
  check_encoding ("ISO-8859-2", NULL,
                  "<meta http-equiv=Content-Type content=\"text/html; "
                  "charset=iso-8859-2\">",
                  "zł", "PLN");
  check_encoding ("CP1251", "windows-1251", "", "грн", "UAH");
  check_encoding ("UTF-16", NULL, "", "€", "EUR");
  check_encoding ("UTF-16LE", "utf-16le", "", "€", "EUR");
  check_encoding ("CP1252", "no-such-thing", "", "€", "EUR");
  check_encoding ("CP1252", "UTF-7", "", "€", "EUR");
}

static void
test_wrong_bytes (void)
{
  static const char page[] = "<h1>Card\0X100\xff\xfe</h1>\0" PRODUCT "\xc3";
  g_autoptr (QmPageOffer) offer = read_bytes (page, sizeof page - 1, "utf-8");

  g_assert_cmpint (offer->price_micros, ==, PRICE_MICROS);
  g_assert_true (g_utf8_validate (offer->name, -1, NULL));
}

static void
test_entities (void)
{
  g_autoptr (GString) page = g_string_new ("<!DOCTYPE html [<!ENTITY a0 "
                                           "\"ha\">");
  g_autoptr (QmPageOffer) offer = NULL;

  for (int i = 1; i < 40; i++)
    g_string_append_printf (page, "<!ENTITY a%d \"&a%d;&a%d;\">", i, i - 1,
                            i - 1);
  g_string_append (page, "<!ENTITY x SYSTEM \"file:///etc/passwd\">]>");
  g_string_append (page, PRODUCT "<p>&a39;&x;</p>");
  offer = read_bytes (page->str, page->len, NULL);
  g_assert_cmpint (offer->price_micros, ==, PRICE_MICROS);
}

static void
append_times (GString *page, const char *text, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append (page, text);
}

static void
test_nesting (void)
{
  g_autoptr (GString) page = g_string_new (PRODUCT);
  g_autoptr (QmPageOffer) before = NULL, behind = NULL;

  append_times (page, "<div>", 100000);
  before = read_bytes (page->str, page->len, NULL);
  g_assert_cmpint (before->price_micros, ==, PRICE_MICROS);

  g_string_truncate (page, 0);
  append_times (page, "<div>", 100000);
  g_string_append (page, PRODUCT);
  behind = read_bytes (page->str, page->len, NULL);
  g_assert_cmpint (behind->price_micros, ==, QM_AMOUNT_UNSTATED);
  g_assert_nonnull (behind->reason);
}

static void
test_json_nesting (void)
{
  g_autoptr (GString) page =
      g_string_new ("<script type=\"application/ld+json\">");
  g_autoptr (QmPageOffer) offer = NULL;

  append_times (page, "{\"a\":[", 200000);
  g_string_append (page, "</script>" PRODUCT);
  offer = read_bytes (page->str, page->len, NULL);
  g_assert_cmpint (offer->price_micros, ==, PRICE_MICROS);
}

/* Fills a page with the same thing over and over. */
static void
check_full (const char *unit, gsize size)
{
  g_autoptr (GString) page = g_string_new (PRODUCT);
  g_autoptr (QmPageOffer) offer = NULL;

  append_times (page, unit, (guint) ((size - page->len) / strlen (unit)));
  offer = read_bytes (page->str, page->len, NULL);
  g_assert_true (offer->price_micros == PRICE_MICROS || offer->reason != NULL);
}

static void
test_full (void)
{
  static const char *const units[] = {
    "x",
    "<p class=price>$12.50 $13.50 1.299 ",
    "<b class=\"price old\">1",
    "<li><a href=/x>A</a><span class=price>12,50 €</span></li>",
    "<i itemscope itemtype=\"http://schema.org/Product\" itemref=\"a b\">",
    "<i id=a itemprop=offers itemscope itemtype=\"http://schema.org/Offer\">",
    "<script>\"ecommerce\": {\"detail\": {\"products\": [{\"a\":",
    "<script type=\"application/ld+json\">[{\"@type\":\"Product\"},</script>",
    "<script type=\"application/ld+json\">[[],[],[],[],[],[],[]]</script>",
    "<button><i></i>",
    "<i itemprop=price><u></u>",
    "&amp;&#39;&nbsp;",
    "1.2.3,4,5'6 7",
    "<h1>Card</h1>",
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    check_full (units[i], i < 4 ? QM_PAGE_BYTES_MAX : 500000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/page/no-page", test_no_page);
  g_test_add_func ("/page/cancelled", test_cancelled);
  g_test_add_func ("/page/encodings", test_encodings);
  g_test_add_func ("/page/wrong-bytes", test_wrong_bytes);
  g_test_add_func ("/page/entities", test_entities);
  g_test_add_func ("/page/nesting", test_nesting);
  g_test_add_func ("/page/json-nesting", test_json_nesting);
  g_test_add_func ("/page/full", test_full);
  return g_test_run ();
}
