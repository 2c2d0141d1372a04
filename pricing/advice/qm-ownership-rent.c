/* SPDX-License-Identifier: Apache-2.0 */

/* The catalog's prices to rent. */

#include "config.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/qm-exact.h"

#include <math.h>
#include <string.h>

/* As a price to buy counts. */
static gint64
without_tax (const QmPrice *price)
{
  return price->tax_percent > 0 ? (gint64) round (
             (double) price->micros / (1 + price->tax_percent / 100))
                                : price->micros;
}

gboolean
qm_rent_of_price (const QmPrice *price, QmRent *rent)
{
  g_return_val_if_fail (price != NULL && rent != NULL, FALSE);

  if (price->unit != QM_PRICE_HOUR || price->micros < 0 || price->gpus < 1)
    return FALSE;
  *rent = (QmRent){ .hour_micros = without_tax (price), .gpus = price->gpus };
  memcpy (rent->currency, price->currency, sizeof rent->currency);
  return TRUE;
}

/* By what a GPU costs; without dividing, which would round. */
static int
compare_prices (gconstpointer a, gconstpointer b)
{
  const QmPrice *p = *(const QmPrice *const *) a;
  const QmPrice *q = *(const QmPrice *const *) b;
  QmInt128 left = (QmInt128) without_tax (p) * q->gpus;
  QmInt128 right = (QmInt128) without_tax (q) * p->gpus;

  if (left != right)
    return left < right ? -1 : 1;
  return strcmp (p->source, q->source);
}

GPtrArray *
qm_rent_prices (const QmCatalog *catalog, const char *gpu, const char *currency)
{
  g_autoptr (GHashTable) newest = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *list = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer price;
  size_t n;
  const QmPrice *prices;

  g_return_val_if_fail (catalog != NULL && gpu != NULL, list);
  g_return_val_if_fail (currency != NULL, list);

  prices = qm_catalog_prices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      const QmPrice *one = &prices[i];
      const QmPrice *other = g_hash_table_lookup (newest, one->source);
      QmRent rent;

      if (strcmp (one->item, gpu) != 0 || strcmp (one->currency, currency) != 0
          || !qm_rent_of_price (one, &rent))
        continue;
      if (other == NULL
          || qm_date_compare (one->observed_on, other->observed_on) >= 0)
        g_hash_table_insert (newest, (gpointer) one->source, (gpointer) one);
    }
  g_hash_table_iter_init (&iter, newest);
  while (g_hash_table_iter_next (&iter, NULL, &price))
    g_ptr_array_add (list, price);
  g_ptr_array_sort (list, compare_prices);
  return list;
}
