/* SPDX-License-Identifier: Apache-2.0 */

/* Markets that rent GPUs one by one: Vast.ai and RunPod. */

#include "config.h"

#include "pricing/fetch/qm-price-feed-private.h"
#include "pricing/qm-exact.h"
#include "pricing/qm-order.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define MAX_GPUS 1024

/* What memory is sold as: an H200 with 141 GB reports 143771 MiB. */
static int
sold_gigabytes (double gib)
{
  static const int sizes[] = {
    8,  10, 11, 12, 16, 20,  22,  24,  32,  40,  44,
    48, 64, 80, 94, 96, 128, 141, 180, 192, 256, 288
  };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (fabs (gib - sizes[i]) <= 0.012 * sizes[i])
      return sizes[i];
  return (int) lround (gib);
}

/* A name with its memory, unless it says it itself. */
static char *
words_of (const char *name, int gigabytes)
{
  g_autofree char *tight = g_strdup_printf ("%dGB", gigabytes);
  g_autofree char *loose = g_strdup_printf ("%d GB", gigabytes);

  if (gigabytes <= 0 || qm_feed_contains (name, tight)
      || qm_feed_contains (name, loose))
    return g_strdup (name);
  return g_strdup_printf ("%s %s", name, tight);
}

static gboolean
is_offered (json_t *offer)
{
  const char *verification = qm_feed_string (offer, "verification");

  return !qm_feed_denies (offer, "rentable")
         && !qm_feed_denies (offer, "verified")
         && (verification == NULL || strcmp (verification, "verified") == 0)
         && !json_is_true (json_object_get (offer, "is_bid"));
}

/* GPU in words -> GArray of gint64: micros for an hour of one of them. */
static void
read_offer (json_t *offer, GHashTable *table, QmFeedPage *page)
{
  const char *name = qm_feed_string (offer, "gpu_name");
  gint64 gpus = qm_feed_integer (offer, "num_gpus", 1, MAX_GPUS, 0);
  gint64 mib = qm_feed_integer (offer, "gpu_ram", 1, 1 << 24, 0);
  g_autofree char *words = NULL;
  GArray *prices;
  gint64 micros;

  if (json_is_object (offer) && !is_offered (offer))
    {
      page->left_out++;
      return;
    }
  if (name == NULL || gpus == 0
      || (!qm_feed_micros (offer, "dph_total", &micros)
          && !qm_feed_micros (offer, "dph_base", &micros))
      || !qm_exact_scale (micros, 1, gpus, &micros) || micros == 0)
    {
      page->broken++;
      return;
    }
  words = words_of (name, sold_gigabytes ((double) mib / 1024));
  prices = g_hash_table_lookup (table, words);
  if (prices == NULL)
    {
      prices = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_hash_table_insert (table, g_steal_pointer (&words), prices);
    }
  g_array_append_val (prices, micros);
}

static int
compare_micros (gconstpointer a, gconstpointer b)
{
  gint64 p = *(const gint64 *) a;
  gint64 q = *(const gint64 *) b;

  return (p > q) - (p < q);
}

static void
add_median (QmFeedPage *page, const char *words, GArray *prices)
{
  const gint64 *micros = (const gint64 *) (void *) prices->data;
  guint n = prices->len;
  QmFeedPrice *price;
  gint64 median;

  g_array_sort (prices, compare_micros);
  median = micros[n / 2];
  if (n % 2 == 0)
    median = micros[n / 2 - 1] + (median - micros[n / 2 - 1] + 1) / 2;
  price = qm_feed_page_add (page, words, "USD", median);
  price->gpu = g_strdup (words);
  price->low_micros = micros[0];
  price->high_micros = micros[n - 1];
  price->offers = n;
  price->terms = g_strdup_printf (
      g_dngettext (GETTEXT_PACKAGE, "%u offer", "median of %u offers", n), n);
}

gboolean
qm_feed_read_vast (json_t *root,
                   const char *name,
                   QmFeedPage *page,
                   GError **error)
{
  json_t *offers = qm_feed_list (root, "offers", name, page, error);
  g_autoptr (GHashTable) table =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                             (GDestroyNotify) g_array_unref);
  g_autofree char **all = NULL;
  guint n;

  if (offers == NULL)
    return FALSE;
  for (gsize i = 0; i < json_array_size (offers); i++)
    read_offer (json_array_get (offers, i), table, page);
  all = (char **) g_hash_table_get_keys_as_array (table, &n);
  qsort (all, n, sizeof *all, qm_order_strings);
  for (guint i = 0; i < n; i++)
    add_median (page, all[i], g_hash_table_lookup (table, all[i]));
  return TRUE;
}

static gboolean
add_runpod (QmFeedPage *page,
            json_t *type,
            const char *name,
            const char *key,
            const char *terms)
{
  gint64 gigabytes = qm_feed_integer (type, "memoryInGb", 1, 1 << 14, 0);
  const char *id = qm_feed_string (type, "id");
  QmFeedPrice *price;
  gint64 micros;

  if (!qm_feed_micros (type, key, &micros))
    return FALSE;
  price = qm_feed_page_add (page, id != NULL ? id : name, "USD", micros);
  price->gpu = words_of (name, (int) gigabytes);
  price->terms = g_strdup (terms);
  return TRUE;
}

gboolean
qm_feed_read_runpod (json_t *root,
                     const char *name,
                     QmFeedPage *page,
                     GError **error)
{
  json_t *types = qm_feed_list (json_object_get (root, "data"), "gpuTypes",
                                name, page, error);

  if (types == NULL)
    return FALSE;
  for (gsize i = 0; i < json_array_size (types); i++)
    {
      json_t *type = json_array_get (types, i);
      const char *words = qm_feed_string (type, "displayName");
      gboolean priced = FALSE;

      if (words == NULL)
        {
          page->broken++;
          continue;
        }
      priced |=
          add_runpod (page, type, words, "securePrice", _ ("secure cloud"));
      priced |= add_runpod (page, type, words, "communityPrice",
                            _ ("community cloud"));
      if (!priced)
        page->left_out++;
    }
  return TRUE;
}
