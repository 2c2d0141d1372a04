/* SPDX-License-Identifier: Apache-2.0 */

/* https://learn.microsoft.com/rest/api/cost-management/retail-prices */

#include "config.h"

#include "pricing/fetch/qm-price-feed-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Microsoft's documentation of the NC, ND and NV sizes of Azure's virtual
 * machines. */
static const struct
{
  const char *size;
  int gpus;
  const char *gpu;
} sizes[] = {
  { "Standard_NC6s_v3", 1, "V100 PCIe 16GB" },
  { "Standard_NC12s_v3", 2, "V100 PCIe 16GB" },
  { "Standard_NC24s_v3", 4, "V100 PCIe 16GB" },
  { "Standard_NC24rs_v3", 4, "V100 PCIe 16GB" },
  { "Standard_ND40rs_v2", 8, "V100 SXM2 32GB" },
  { "Standard_NC4as_T4_v3", 1, "Tesla T4" },
  { "Standard_NC8as_T4_v3", 1, "Tesla T4" },
  { "Standard_NC16as_T4_v3", 1, "Tesla T4" },
  { "Standard_NC64as_T4_v3", 4, "Tesla T4" },
  { "Standard_NV36ads_A10_v5", 1, "NVIDIA A10" },
  { "Standard_NV36adms_A10_v5", 1, "NVIDIA A10" },
  { "Standard_NV72ads_A10_v5", 2, "NVIDIA A10" },
  { "Standard_NC24ads_A100_v4", 1, "A100 PCIe 80GB" },
  { "Standard_NC48ads_A100_v4", 2, "A100 PCIe 80GB" },
  { "Standard_NC96ads_A100_v4", 4, "A100 PCIe 80GB" },
  { "Standard_ND96asr_v4", 8, "A100 SXM4 40GB" },
  { "Standard_ND96amsr_A100_v4", 8, "A100 SXM4 80GB" },
  { "Standard_NC40ads_H100_v5", 1, "H100 NVL 94GB" },
  { "Standard_NC80adis_H100_v5", 2, "H100 NVL 94GB" },
  { "Standard_ND96isr_H100_v5", 8, "H100 SXM5 80GB" },
  { "Standard_ND96isr_H200_v5", 8, "H200 SXM 141GB" },
  { "Standard_ND96isr_MI300X_v5", 8, "Instinct MI300X" },
};

static int
find_size (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (g_ascii_strcasecmp (sizes[i].size, name) == 0)
      return (int) i;
  return -1;
}

static gboolean
is_excluded (const char *text)
{
  static const char *const words[] = { "Windows",        "Spot",
                                       "Low Priority",   "LowPriority",
                                       "Cloud Services", "CloudServices",
                                       "Dedicated Host" };

  for (gsize i = 0; text != NULL && i < G_N_ELEMENTS (words); i++)
    if (qm_feed_contains (text, words[i]))
      return TRUE;
  return FALSE;
}

/* An hour of a Linux machine, on demand. */
static gboolean
is_on_demand (json_t *row)
{
  const char *type = qm_feed_string (row, "type");
  const char *unit = qm_feed_string (row, "unitOfMeasure");
  const char *service = qm_feed_string (row, "serviceName");

  return g_strcmp0 (type, "Consumption") == 0 && g_strcmp0 (unit, "1 Hour") == 0
         && (service == NULL || strcmp (service, "Virtual Machines") == 0)
         && qm_feed_string (row, "reservationTerm") == NULL
         && !is_excluded (qm_feed_string (row, "productName"))
         && !is_excluded (qm_feed_string (row, "meterName"))
         && !is_excluded (qm_feed_string (row, "skuName"));
}

/* "2023-08-01T00:00:00Z" */
static QmDate
read_day (json_t *row, const char *key)
{
  const char *text = qm_feed_string (row, key);
  g_autofree char *day = g_strndup (text != NULL ? text : "", 10);
  QmDate date = { 0 };

  qm_date_parse (day, &date);
  return date;
}

static void
read_azure_row (json_t *row, const char *currency, QmFeedPage *page)
{
  const char *name = qm_feed_string (row, "armSkuName");
  const char *own_currency = qm_feed_string (row, "currencyCode");
  int size = name != NULL ? find_size (name) : -1;
  QmFeedPrice *price;
  gint64 micros;

  if (json_is_object (row) && (size < 0 || !is_on_demand (row)))
    {
      page->left_out++;
      return;
    }
  if (own_currency != NULL)
    currency = own_currency;
  /* Without the product there is no telling Linux from Windows. */
  if (size < 0 || currency == NULL || !qm_currency_valid (currency)
      || qm_feed_string (row, "productName") == NULL
      || qm_feed_string (row, "meterName") == NULL
      || !qm_feed_micros (row, "retailPrice", &micros))
    {
      page->broken++;
      return;
    }
  price = qm_feed_page_add (page, sizes[size].size, currency, micros);
  price->gpu = g_strdup (sizes[size].gpu);
  price->gpus = sizes[size].gpus;
  price->region = g_strdup (qm_feed_string (row, "armRegionName"));
  price->effective_on = read_day (row, "effectiveStartDate");
}

gboolean
qm_feed_read_azure (json_t *root,
                    const char *name,
                    QmFeedPage *page,
                    GError **error)
{
  json_t *rows = qm_feed_list (root, "Items", name, page, error);
  const char *next = json_string_value (json_object_get (root, "NextPageLink"));

  if (rows == NULL)
    return FALSE;
  for (gsize i = 0; i < json_array_size (rows); i++)
    read_azure_row (json_array_get (rows, i),
                    qm_feed_string (root, "BillingCurrency"), page);
  if (next != NULL && *next != '\0')
    page->next = g_strdup (next);
  qm_feed_page_drop_repeated (page);
  return TRUE;
}
