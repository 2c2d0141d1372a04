/* SPDX-License-Identifier: Apache-2.0 */

/* Price feeds: their structure and traps, and paging over the loopback. */

#include "pricing/fetch/qm-price-feed.h"
#include "pricing/quotes/qm-match.h"
#include "tests/pricing/server.h"

#include <string.h>

static TestServer *server;
static QmFetcher *fetcher;
static QmCatalog *catalog;
static QmMatcher *matcher;

static QmFeedPage *
read_text (QmFeed feed, const char *text, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  return qm_feed_read (feed, bytes, "feed.json", error);
}

static QmFeedPage *
read_file (QmFeed feed, const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "pages", name, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  QmFeedPage *page;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  page = read_text (feed, text, &error);
  g_assert_no_error (error);
  return page;
}

static const QmFeedPrice *
nth (const QmFeedPage *page, guint i)
{
  g_assert_cmpuint (i, <, page->prices->len);
  return g_ptr_array_index (page->prices, i);
}

static void
test_azure (void)
{
  g_autoptr (QmFeedPage) page = read_file (QM_FEED_AZURE, "azure-1.json");

  g_assert_cmpuint (page->rows, ==, 14);
  g_assert_cmpuint (page->prices->len, ==, 3);
  g_assert_cmpuint (page->broken, ==, 3); /* 0, a string, and null */
  g_assert_cmpuint (page->left_out, ==, 8);
  g_assert_nonnull (page->next);
  g_assert_cmpstr (nth (page, 0)->offer, ==, "Standard_ND96isr_H100_v5");
  g_assert_cmpstr (nth (page, 0)->gpu, ==, "H100 SXM5 80GB");
  g_assert_cmpint (nth (page, 0)->gpus, ==, 8);
  g_assert_cmpint (nth (page, 0)->hour_micros, ==, 98320000);
  g_assert_cmpstr (nth (page, 0)->currency, ==, "USD");
  g_assert_cmpstr (nth (page, 0)->region, ==, "eastus");
  g_assert_cmpint (nth (page, 0)->effective_on.year, ==, 2023);
  g_assert_cmpint (nth (page, 1)->hour_micros, ==, 27197000);
  g_assert_cmpint (nth (page, 2)->gpus, ==, 1);
}

static void
test_vast (void)
{
  g_autoptr (QmFeedPage) page = read_file (QM_FEED_VAST, "vast.json");
  static const struct
  {
    const char *gpu;
    gint64 median;
    gint64 low;
    gint64 high;
    guint offers;
  } expected[] = {
    { "A100 SXM4 40GB", 700000, 700000, 700000, 1 },
    { "A100 SXM4 80GB", 1025000, 1000000, 1050000, 2 },
    { "H100 SXM 80GB", 2002000, 1387000, 3000000, 3 },
    { "H200 141GB", 3936000, 3936000, 3936000, 1 },
    { "RTX 4090 24GB", 333333, 333333, 333333, 1 },
  };

  g_assert_cmpuint (page->prices->len, ==, G_N_ELEMENTS (expected));
  g_assert_cmpuint (page->left_out, ==, 3);
  g_assert_cmpuint (page->broken, ==, 4);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_assert_cmpstr (nth (page, i)->gpu, ==, expected[i].gpu);
      g_assert_cmpint (nth (page, i)->hour_micros, ==, expected[i].median);
      g_assert_cmpint (nth (page, i)->low_micros, ==, expected[i].low);
      g_assert_cmpint (nth (page, i)->high_micros, ==, expected[i].high);
      g_assert_cmpuint (nth (page, i)->offers, ==, expected[i].offers);
      g_assert_cmpint (nth (page, i)->gpus, ==, 1);
    }
}

static void
test_runpod (void)
{
  g_autoptr (QmFeedPage) page = read_file (QM_FEED_RUNPOD, "runpod.json");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote =
      qm_feed_page_to_quote (page, QM_FEED_RUNPOD,
                             "https://api.runpod.io/graphql",
                             (QmDate){ 2026, 11, 21 }, &error);
  const QmQuoteLine *line;

  g_assert_cmpuint (page->prices->len, ==, 5);
  g_assert_cmpuint (page->left_out, ==, 1);
  g_assert_cmpuint (page->broken, ==, 1);
  g_assert_cmpstr (nth (page, 1)->gpu, ==, "H100 SXM 80GB");
  g_assert_cmpint (nth (page, 1)->hour_micros, ==, 2690000);
  g_assert_cmpstr (nth (page, 1)->terms, ==, "community cloud");

  g_assert_no_error (error);
  g_assert_cmpstr (quote->vendor, ==, "RunPod");
  g_assert_cmpint (quote->kind, ==, QM_PRICE_CLOUD);
  g_assert_cmpint (quote->unit, ==, QM_PRICE_HOUR);
  g_assert_cmpuint (quote->lines->len, ==, 5);
  line = g_ptr_array_index (quote->lines, 0);
  g_assert_cmpstr (line->description, ==, "H100 SXM 80GB, secure cloud");
  g_assert_cmpstr (line->part_number, ==, "NVIDIA H100 80GB HBM3");
  g_assert_cmpint (line->price_micros, ==, 3290000);
  g_assert_cmpint (line->gpus, ==, 1);
  g_assert_cmpint (line->match, ==, QM_MATCH_NONE);
  g_assert_cmpuint (quote->findings->len, ==, 1);
}

/* How the feeds call what they rent, with the memory in GiB that RunPod says,
 * and what that is in the catalog; "" where a feed leaves it open. */
typedef struct
{
  const char *name;
  int gigabytes;
  const char *item;
  int gpus;
} Rented;

static void
assert_rented (const QmFeedPage *page, QmFeed feed, const Rented *rented)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote =
      qm_feed_page_to_quote (page, feed, "feed", (QmDate){ 2026, 11, 21 },
                             &error);
  const QmQuoteLine *line;

  g_assert_no_error (error);
  g_assert_cmpuint (quote->lines->len, ==, 1);
  line = g_ptr_array_index (quote->lines, 0);
  g_assert_null (line->item);
  qm_matcher_apply (matcher, quote);
  g_test_message ("%s: %s %s", line->description,
                  line->item != NULL ? line->item : "none",
                  line->candidates != NULL ? line->candidates : "");
  g_assert_cmpstr (line->item != NULL ? line->item : "", ==, rented->item);
  if (line->item != NULL)
    g_assert_cmpint (line->gpus, ==, rented->gpus);
}

static void
test_azure_sizes (void)
{
  static const Rented sizes[] = {
    { "Standard_NC6s_v3", 0, "v100-16gb-pcie", 1 },
    { "Standard_NC24rs_v3", 0, "v100-16gb-pcie", 4 },
    { "Standard_ND40rs_v2", 0, "v100-32gb-sxm2", 8 },
    { "Standard_NC64as_T4_v3", 0, "t4", 4 },
    { "Standard_NV72ads_A10_v5", 0, "a10", 2 },
    { "Standard_NC96ads_A100_v4", 0, "a100-80gb-pcie", 4 },
    { "Standard_ND96asr_v4", 0, "a100-40gb-sxm", 8 },
    { "Standard_ND96amsr_A100_v4", 0, "a100-80gb-sxm", 8 },
    { "Standard_NC80adis_H100_v5", 0, "h100-94gb-nvl", 2 },
    { "Standard_ND96isr_H100_v5", 0, "h100-80gb-sxm", 8 },
    { "Standard_ND96isr_H200_v5", 0, "h200-141gb-sxm", 8 },
    { "Standard_ND96isr_MI300X_v5", 0, "mi300x", 8 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("{\"Items\": [{\"armSkuName\": \"%s\", \"type\": "
                           "\"Consumption\", \"unitOfMeasure\": \"1 Hour\", "
                           "\"productName\": \"p\", \"meterName\": \"m\", "
                           "\"armRegionName\": \"westus3\", "
                           "\"retailPrice\": 1, \"currencyCode\": \"USD\"}]}",
                           sizes[i].name);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmFeedPage) page = read_text (QM_FEED_AZURE, text, &error);

      g_assert_no_error (error);
      assert_rented (page, QM_FEED_AZURE, &sizes[i]);
    }
}

static void
test_rented_names (void)
{
  static const Rented names[] = {
    { "RTX 3090", 24, "rtx3090", 1 },
    { "RTX 3090 Ti", 24, "rtx3090-ti", 1 },
    { "RTX 4090", 24, "rtx4090", 1 },
    { "RTX 4090D", 24, "", 1 },
    { "RTX 5090", 32, "rtx5090", 1 },
    { "RTX A5000", 24, "a5000", 1 },
    { "RTX A6000", 48, "a6000", 1 },
    { "RTX 6000 Ada", 48, "rtx6000-ada", 1 },
    { "RTX 6000Ada", 48, "rtx6000-ada", 1 },
    { "RTX PRO 6000", 96, "", 1 },
    { "RTX PRO 6000 WS", 96, "rtxpro6000-ws", 1 },
    { "RTX PRO 6000 S", 96, "", 1 },
    { "A40", 48, "a40", 1 },
    { "L4", 24, "l4", 1 },
    { "L40S", 48, "l40s", 1 },
    { "L40", 48, "", 1 },
    { "A10", 24, "a10", 1 },
    { "A30", 24, "a30", 1 },
    { "A100 PCIE", 40, "a100-40gb-pcie", 1 },
    { "A100 SXM4", 40, "a100-40gb-sxm", 1 },
    { "A100 PCIe", 80, "a100-80gb-pcie", 1 },
    { "A100 SXM", 80, "a100-80gb-sxm", 1 },
    { "H100 PCIe", 80, "h100-80gb-pcie", 1 },
    { "H100 SXM", 80, "h100-80gb-sxm", 1 },
    { "H100 NVL", 94, "h100-94gb-nvl", 1 },
    { "H200 SXM", 141, "h200-141gb-sxm", 1 },
    { "H200", 141, "", 1 },
    { "H200 NVL", 141, "h200-141gb-nvl", 1 },
    { "B200", 180, "b200-180gb-sxm", 1 },
    { "Tesla V100", 16, "", 1 },
    { "Tesla T4", 16, "t4", 1 },
    { "MI300X", 192, "mi300x", 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *runpod = g_strdup_printf (
          "{\"data\": {\"gpuTypes\": [{\"id\": \"%s\", \"displayName\": "
          "\"%s\", \"memoryInGb\": %d, \"securePrice\": 1}]}}",
          names[i].name, names[i].name, names[i].gigabytes);
      g_autofree char *vast = g_strdup_printf (
          "{\"offers\": [{\"gpu_name\": \"%s\", \"num_gpus\": 1, "
          "\"gpu_ram\": %d, \"dph_total\": 1}]}",
          names[i].name, names[i].gigabytes * 1024);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmFeedPage) one = read_text (QM_FEED_RUNPOD, runpod, &error);
      g_autoptr (QmFeedPage) other = NULL;

      g_assert_no_error (error);
      assert_rented (one, QM_FEED_RUNPOD, &names[i]);
      other = read_text (QM_FEED_VAST, vast, &error);
      g_assert_no_error (error);
      assert_rented (other, QM_FEED_VAST, &names[i]);
    }
}

static void
test_bad_answers (void)
{
  static const struct
  {
    QmFeed feed;
    const char *text;
  } cases[] = {
    { QM_FEED_AZURE, "" },
    { QM_FEED_AZURE, "<html>busy</html>" },
    { QM_FEED_AZURE, "[]" },
    { QM_FEED_AZURE, "{}" },
    { QM_FEED_AZURE, "{\"Items\": {}}" },
    { QM_FEED_AZURE, "{\"Items\": []} more" },
    { QM_FEED_VAST, "{\"offers\": null}" },
    { QM_FEED_VAST, "{\"offers\": 3}" },
    { QM_FEED_RUNPOD, "{\"data\": null, \"errors\": [{}]}" },
    { QM_FEED_RUNPOD, "{\"data\": {\"gpuTypes\": \"none\"}}" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (read_text (cases[i].feed, cases[i].text, &error));
      g_assert_error (error, QM_FEED_ERROR, QM_FEED_ERROR_FORMAT);
    }
}

/* An empty Price is not a price of zero; a feed in two currencies is none. */
static void
test_currencies (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFeedPage) page = read_text (
      QM_FEED_AZURE,
      "{\"Items\": ["
      "{\"armSkuName\": \"Standard_ND96asr_v4\", \"type\": \"Consumption\","
      "\"unitOfMeasure\": \"1 Hour\", \"productName\": \"p\","
      "\"meterName\": \"m\", \"retailPrice\": 1, \"currencyCode\": \"USD\"},"
      "{\"armSkuName\": \"Standard_NC6s_v3\", \"type\": \"Consumption\","
      "\"unitOfMeasure\": \"1 Hour\", \"productName\": \"p\","
      "\"meterName\": \"m\", \"retailPrice\": 1, \"currencyCode\": \"EUR\"},"
      "{\"armSkuName\": \"Standard_NC6s_v3\", \"type\": \"Consumption\","
      "\"unitOfMeasure\": \"1 Hour\", \"productName\": \"p\","
      "\"meterName\": \"m\", \"retailPrice\": 1}]}",
      &error);

  g_assert_no_error (error);
  g_assert_cmpuint (page->prices->len, ==, 2);
  g_assert_cmpuint (page->broken, ==, 1);
  g_assert_null (qm_feed_page_to_quote (page, QM_FEED_AZURE, "x",
                                        (QmDate){ 2026, 11, 21 }, &error));
  g_assert_error (error, QM_FEED_ERROR, QM_FEED_ERROR_FORMAT);
}

static void
test_paging (void)
{
  g_autofree char *address = test_server_address (server, "/file/azure-1.json");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFeedPage) page =
      qm_feed_fetch (QM_FEED_AZURE, address, fetcher, NULL, &error);
  gint64 a100 = 0;

  g_assert_no_error (error);
  g_assert_null (page->next);
  g_assert_cmpuint (page->rows, ==, 17);
  /* The A100 machine's newer price replaces the older one, the H100's repeated
   * row goes, and the one in another region stays. */
  g_assert_cmpuint (page->prices->len, ==, 4);
  for (guint i = 0; i < page->prices->len; i++)
    if (strcmp (nth (page, i)->offer, "Standard_ND96asr_v4") == 0)
      a100 = nth (page, i)->hour_micros;
  g_assert_cmpint (a100, ==, 26500000);
}

static void
test_bad_feeds (void)
{
  static const struct
  {
    QmFeed feed;
    const char *path;
    int code; /* of QM_FEED_ERROR; -1: not found */
  } cases[] = {
    { QM_FEED_AZURE, "/file/azure-elsewhere.json", QM_FEED_ERROR_PAGING },
    { QM_FEED_AZURE, "/file/azure-endless.json", QM_FEED_ERROR_PAGING },
    { QM_FEED_AZURE, "/file/azure-empty.json", QM_FEED_ERROR_EMPTY },
    { QM_FEED_AZURE, "/ok", QM_FEED_ERROR_FORMAT },
    { QM_FEED_AZURE, "/file/none.json", -1 },
    { QM_FEED_RUNPOD, "/file/runpod-error.json", QM_FEED_ERROR_FORMAT },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *address = test_server_address (server, cases[i].path);
      g_autoptr (GError) error = NULL;

      g_assert_null (
          qm_feed_fetch (cases[i].feed, address, fetcher, NULL, &error));
      if (cases[i].code >= 0)
        g_assert_error (error, QM_FEED_ERROR, cases[i].code);
      else
        g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_NOT_FOUND);
    }
}

static void
test_addresses (void)
{
  for (guint feed = 0; feed < QM_N_FEEDS; feed++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *checked =
          qm_fetch_check_address (qm_feed_address (feed), &error);

      g_assert_no_error (error);
      g_assert_cmpstr (checked, ==, qm_feed_address (feed));
      g_assert_true (g_str_has_prefix (checked, "https://"));
    }
}

int
main (int argc, char **argv)
{
  QmFetchLimits limits = qm_fetch_limits_default ();
  const char *directory = g_getenv ("QM_SHIPPED_DATA_DIR");
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (directory, NULL, &catalog, NULL), ==,
                   QM_OK);
  matcher = qm_matcher_new (catalog, directory, NULL, NULL);
  limits.interval_ms = 0;
  server = test_server_start ();
  fetcher = qm_fetcher_new (&limits);
  g_test_add_func ("/price-feed/azure-sizes", test_azure_sizes);
  g_test_add_func ("/price-feed/rented-names", test_rented_names);
  g_test_add_func ("/price-feed/azure", test_azure);
  g_test_add_func ("/price-feed/vast", test_vast);
  g_test_add_func ("/price-feed/runpod", test_runpod);
  g_test_add_func ("/price-feed/bad-answers", test_bad_answers);
  g_test_add_func ("/price-feed/currencies", test_currencies);
  g_test_add_func ("/price-feed/paging", test_paging);
  g_test_add_func ("/price-feed/bad-feeds", test_bad_feeds);
  g_test_add_func ("/price-feed/addresses", test_addresses);
  status = g_test_run ();
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  qm_fetcher_free (fetcher);
  test_server_stop (server);
  return status;
}
