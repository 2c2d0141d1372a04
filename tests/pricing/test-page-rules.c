/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE                                                              \
  "<h1>Card X100</h1><table><tr><td>Net</td><td id=net data-v=\"1.299\">" \
  "1.299</td></tr><tr><td>Stock</td><td class=s>InStock</td></tr></table>"
#define STATED                                                        \
  PAGE "<script type=\"application/ld+json\">{\"@type\":\"Product\"," \
       "\"offers\":{\"price\":7,\"priceCurrency\":\"USD\"}}</script>"
#define SITE(attributes, inner)                                       \
  "<?xml version=\"1.0\"?>\n<rules version=\"1\">\n<site " attributes \
  ">\n" inner "\n</site>\n</rules>\n"

static QmPageOffer *
apply (const char *rules_text, const char *page, const char *url)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPageRules) rules =
      qm_page_rules_parse (rules_text, strlen (rules_text), "rules.xml",
                           &error);
  const QmPageContext context = { .url = url, .rules = rules };
  QmPageOffer *offer;

  g_assert_no_error (error);
  g_assert_nonnull (rules);
  offer = qm_page_read ((const guint8 *) page, strlen (page), &context, NULL,
                        &error);
  g_assert_no_error (error);
  return offer;
}

static void
check (const char *rules_text,
       const char *page,
       const char *url,
       gint64 micros,
       const char *currency,
       QmPageMethod method)
{
  g_autoptr (QmPageOffer) offer = apply (rules_text, page, url);

  g_assert_cmpint (offer->price_micros, ==, micros);
  g_assert_cmpstr (offer->currency, ==, currency);
  g_assert_cmpint (offer->method, ==, method);
}

static void
test_found (void)
{
  static const char url[] = "https://www.shop.example/x";

  check (SITE ("host=\"shop.example\" currency=\"EUR\" decimal=\"comma\"",
               "<price>//td[@id='net']</price>"),
         PAGE, url, 1299000000, "EUR", QM_PAGE_RULE);
  check (SITE ("host=\"shop.example\" currency=\"EUR\" decimal=\"point\"",
               "<price>//td[@id='net']/@data-v</price>"),
         PAGE, url, 1299000, "EUR", QM_PAGE_RULE);
  check (SITE ("host=\"other.example shop.example\"",
               "<price>//nothing</price><price>concat('5,', '25')</price>"
               "<currency>'CHF'</currency>"),
         PAGE, url, 5250000, "CHF", QM_PAGE_RULE);
  check (SITE ("host=\"hop.example\"", "<price>//td[@id='net']</price>"), PAGE,
         url, QM_AMOUNT_UNSTATED, "", QM_PAGE_NOTHING);
  check (SITE ("host=\"shop.example\"", "<price>//td[1]</price>"), PAGE, url,
         QM_AMOUNT_UNSTATED, "", QM_PAGE_NOTHING);
  check (SITE ("host=\"shop.example\"", "<price>//td[@id='net']</price>"), PAGE,
         NULL, QM_AMOUNT_UNSTATED, "", QM_PAGE_NOTHING);
  check (SITE ("host=\"shop.example\" currency=\"EUR\"",
               "<price>//td[@id='net']</price>"),
         "<link rel=canonical href=\"https://m.shop.example/x\">" PAGE, NULL,
         1299000000, "EUR", QM_PAGE_RULE);
}

static void
test_order (void)
{
  static const char url[] = "https://shop.example/x";

  check (SITE ("host=\"shop.example\" currency=\"EUR\"",
               "<price>//td[@id='net']</price>"),
         STATED, url, 7000000, "USD", QM_PAGE_JSON_LD);
  check (SITE ("host=\"shop.example\" currency=\"EUR\" always=\"yes\"",
               "<price>//td[@id='net']</price>"),
         STATED, url, 1299000000, "EUR", QM_PAGE_RULE);
}

static void
test_words (void)
{
  g_autoptr (QmPageOffer) offer =
      apply (SITE ("host=\"shop.example\" currency=\"EUR\"",
                   "<price>//td[@id='net']</price><name>//h1</name>"
                   "<availability>//td[@class='s']</availability>"
                   "<sku>'S1'</sku><mpn>'M1'</mpn><seller>'Shop'</seller>"
                   "<valid-until>'2027-01-31'</valid-until>"),
             PAGE, "http://shop.example");

  g_assert_cmpstr (offer->name, ==, "Card X100");
  g_assert_cmpstr (offer->sku, ==, "S1");
  g_assert_cmpstr (offer->mpn, ==, "M1");
  g_assert_cmpstr (offer->seller, ==, "Shop");
  g_assert_cmpint (offer->availability, ==, QM_AVAILABILITY_IN_STOCK);
  g_assert_cmpint (offer->valid_until.year, ==, 2027);
}

/* Each names the file, the line and what is wrong. */
static void
test_wrong (void)
{
  static const struct
  {
    const char *text;
    const char *line;
    const char *says;
  } rules[] = {
    { "", "line 1:", "" },
    { "<rules version=\"1\">\n<site\n", "line ", "" },
    { "<rule/>", "line 1:", "rules" },
    { "<rules/>", "line 1:", "version" },
    { "<rules version=\"2\"/>", "line 1:", "version" },
    { "<!DOCTYPE rules [<!ENTITY a \"b\">]>\n<rules version=\"1\"/>",
      "line 1:", "document type" },
    { "<rules version=\"1\">\n\n<page/></rules>", "line 3:", "page" },
    { SITE ("currency=\"EUR\"", "<price>//b</price>"), "line 3:", "host" },
    { SITE ("host=\"\"", "<price>//b</price>"), "line 3:", "host" },
    { SITE ("host=\"shop\"", "<price>//b</price>"), "line 3:", "shop" },
    { SITE ("host=\"a/b.c\"", "<price>//b</price>"), "line 3:", "a/b.c" },
    { SITE ("host=\"a.b\" currency=\"euro\"", "<price>//b</price>"),
      "line 3:", "euro" },
    { SITE ("host=\"a.b\" decimal=\";\"", "<price>//b</price>"),
      "line 3:", "decimal" },
    { SITE ("host=\"a.b\" always=\"1\"", "<price>//b</price>"),
      "line 3:", "always" },
    { SITE ("host=\"a.b\" colour=\"red\"", "<price>//b</price>"),
      "line 3:", "colour" },
    { SITE ("host=\"a.b\"", ""), "line 3:", "price" },
    { SITE ("host=\"a.b\"", "<price>//b[</price>"), "line 4:", "//b[" },
    { SITE ("host=\"a.b\"", "<price>no-such(1)(</price>"), "line 4:", "XPath" },
    { SITE ("host=\"a.b\"", "<price/>"), "line 4:", "empty" },
    { SITE ("host=\"a.b\"", "<price>//b</price>\n<name>1</name>\n<name>2"
                            "</name>"),
      "line 6:", "twice" },
    { SITE ("host=\"a.b\"", "<price>//b</price><cost>1</cost>"),
      "line 4:", "cost" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (qm_page_rules_parse (rules[i].text, strlen (rules[i].text),
                                          "my-rules.xml", &error));
      g_assert_error (error, QM_PAGE_RULES_ERROR, QM_PAGE_RULES_ERROR_RULE);
      g_test_message ("%s", error->message);
      g_assert_true (g_str_has_prefix (error->message, "my-rules.xml, "));
      g_assert_nonnull (strstr (error->message, rules[i].line));
      g_assert_nonnull (strstr (error->message, rules[i].says));
    }
}

/* An expression that takes too many steps finds nothing, soon. */
static void
test_endless (void)
{
  g_autoptr (GString) page = g_string_new (PAGE);
  clock_t start = clock ();

  for (int i = 0; i < 2000; i++)
    g_string_append (page, "<p><b>x</b></p>");
  check (SITE ("host=\"a.b\"", "<price>//*[count(//*[count(//*[count(//*) "
                               "&gt; 1]) &gt; 1]) &gt; 1]</price>"),
         page->str, "http://a.b", QM_AMOUNT_UNSTATED, "", QM_PAGE_NOTHING);
  g_assert_cmpint ((clock () - start) / CLOCKS_PER_SEC, <, 20);
}

/* What is wrong with the user's file is told, and the shipped rules are in
 * effect. */
static void
check_left_out (const char *path, guint problems)
{
  g_autoptr (GArray) told = g_array_new (FALSE, FALSE, sizeof (QmError));
  g_autoptr (QmPageRules) rules = qm_page_rules_load_default (told);
  static const char page[] = "<div id=corePrice_feature_div><b "
                             "class=priceToPay>$1,299.00</b></div>";
  QmPageContext context = { .rules = rules, .url = "https://amazon.com/x" };
  g_autoptr (QmPageOffer) offer = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (told->len, ==, problems);
  if (problems > 0)
    {
      const QmError *problem = &g_array_index (told, QmError, 0);

      g_test_message ("%s:%d: %s", problem->file, problem->line,
                      problem->message);
      g_assert_cmpstr (problem->file, ==, path);
      g_assert_cmpstr (problem->message, !=, "");
    }
  g_assert_nonnull (rules);
  offer = qm_page_read ((const guint8 *) page, strlen (page), &context, NULL,
                        &error);
  g_assert_no_error (error);
  g_assert_cmpint (offer->method, ==, QM_PAGE_RULE);
}

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("qm-rules-XXXXXX", &error);
  g_autofree char *own = g_build_filename (folder, "quartermaster", NULL);
  g_autofree char *path = g_build_filename (own, "page-rules.xml", NULL);
  g_autofree char *shipped = g_build_filename (g_getenv ("QM_SHIPPED_DATA_DIR"),
                                               "page-rules.xml", NULL);
  g_autoptr (QmPageRules) rules = NULL;

  g_assert_null (qm_page_rules_load (path, &error));
  g_assert_error (error, QM_PAGE_RULES_ERROR, QM_PAGE_RULES_ERROR_READ);
  g_clear_error (&error);

  rules = qm_page_rules_load (shipped, &error);
  g_assert_no_error (error);
  g_assert_nonnull (rules);

  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_setenv ("QUARTERMASTER_DATA_DIR", g_getenv ("QM_SHIPPED_DATA_DIR"), TRUE);
  g_assert_cmpint (g_mkdir (own, 0700), ==, 0);
  g_file_set_contents (path, "<rules version=\"1\"><site/></rules>", -1,
                       &error);
  g_assert_no_error (error);
  check_left_out (path, 1);
  g_assert_cmpint (g_unlink (path), ==, 0);
  check_left_out (path, 0);

  /* What cannot be read, waits or never ends. */
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  check_left_out (path, 1);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  check_left_out (path, 1);
  g_rmdir (path);
  g_assert_cmpint (symlink ("/dev/zero", path), ==, 0);
  check_left_out (path, 1);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (symlink (path, path), ==, 0);
  check_left_out (path, 1);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_rmdir (own);
  g_rmdir (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/page-rules/found", test_found);
  g_test_add_func ("/page-rules/order", test_order);
  g_test_add_func ("/page-rules/words", test_words);
  g_test_add_func ("/page-rules/wrong", test_wrong);
  g_test_add_func ("/page-rules/endless", test_endless);
  g_test_add_func ("/page-rules/files", test_files);
  return g_test_run ();
}
