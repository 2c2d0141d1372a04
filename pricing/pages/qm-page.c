/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-page-text.h"
#include "pricing/pages/qm-page-tree.h"

#include <glib/gi18n-lib.h>
#include <string.h>

void
qm_page_offer_free (QmPageOffer *offer)
{
  if (offer == NULL)
    return;
  g_free (offer->name);
  g_free (offer->seller);
  g_free (offer->sku);
  g_free (offer->mpn);
  g_free (offer->reason);
  g_ptr_array_unref (offer->notes);
  g_free (offer);
}

static QmPageOffer *
offer_new (void)
{
  QmPageOffer *offer = g_new0 (QmPageOffer, 1);

  offer->price_micros = QM_AMOUNT_UNSTATED;
  offer->tax_included = QM_UNSTATED;
  offer->notes = g_ptr_array_new_with_free_func (g_free);
  return offer;
}

static void
free_product (gpointer data)
{
  QmStatedProduct *product = data;

  g_free (product->name);
  g_free (product->sku);
  g_free (product->mpn);
  g_free (product->url);
  g_ptr_array_unref (product->prices);
  g_free (product);
}

static void
page_free (QmPage *page)
{
  if (page->doc != NULL)
    xmlFreeDoc (page->doc);
  g_ptr_array_unref (page->products);
  g_array_unref (page->seen);
  g_hash_table_unref (page->words);
  g_free (page->title);
  g_free (page->heading_text);
  g_free (page->canonical);
  g_free (page);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPage, page_free)

static QmPage *
page_new (const QmPageContext *context)
{
  static const QmPageContext nothing;
  QmPage *page = g_new0 (QmPage, 1);

  page->context = context != NULL ? context : &nothing;
  page->products = g_ptr_array_new_with_free_func (free_product);
  page->seen = g_array_new (FALSE, FALSE, sizeof (QmSeenAmount));
  page->words = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return page;
}

static void
read_head (QmPage *page)
{
  xmlNode *top = xmlDocGetRootElement (page->doc);

  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    {
      if (page->title == NULL && qm_page_is (node, "title"))
        page->title = qm_page_node_text (node, 500);
      else if (page->canonical == NULL && qm_page_is (node, "link"))
        {
          const char *rel = qm_page_attribute (node, "rel");

          if (rel != NULL && g_ascii_strcasecmp (rel, "canonical") == 0)
            page->canonical =
                qm_page_one_line (qm_page_attribute (node, "href"), 1000);
        }
      else if (qm_page_is (node, "body"))
        break;
    }
}

QmPageOffer *
qm_page_read (const guint8 *bytes,
              gsize size,
              const QmPageContext *context,
              GCancellable *cancellable,
              GError **error)
{
  static void (*const readers[]) (QmPage *) = {
    qm_page_read_json_ld, qm_page_read_microdata, qm_page_read_meta, read_head,
    qm_page_read_scripts, qm_page_read_seen,
  };
  g_autoptr (QmPage) page = NULL;
  g_autofree char *text = NULL;
  QmPageOffer *offer;
  gsize length;

  g_return_val_if_fail (bytes != NULL || size == 0, NULL);

  if (size > QM_PAGE_BYTES_MAX)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   _ ("a page of more than %d MiB is not read"),
                   QM_PAGE_BYTES_MAX / (1024 * 1024));
      return NULL;
    }
  page = page_new (context);
  text = qm_page_to_utf8 (bytes, size, page->context->charset, &length);
  if (!qm_page_looks_like_html (text, length))
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                           length == 0 ? _ ("the page is empty")
                                       : _ ("this is not an HTML page"));
      return NULL;
    }
  page->doc = qm_page_tree_parse (text, length, &page->cut);
  if (page->doc == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                           _ ("this is not an HTML page"));
      return NULL;
    }
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      readers[i](page);
    }
  offer = offer_new ();
  qm_page_decide (page, offer);
  return offer;
}
