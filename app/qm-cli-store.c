/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-store.h"
#include "data/datadir.h"
#include "pricing/quotes/qm-quote-index.h"

#include <glib/gi18n-lib.h>
#include <limits.h>

void
qm_cli_store_add_option (GArray *options, GStrv *typed)
{
  qm_cli_options_add_value (options, "store", 0, _ ("FILE"),
                            _ ("Another store of quotes than yours"), typed);
}

QmQuoteStore *
qm_cli_store_open (GStrv typed, gboolean create, GError **error)
{
  const char *given;
  g_autofree char *path = NULL;

  if (!qm_cli_option_single ("store", typed, &given, error))
    return NULL;
  path = given != NULL ? g_strdup (given) : qm_quote_store_default_path ();
  if (path == NULL && create)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("there is no home to keep quotes in; name a "
                              "file with --store"));
      return NULL;
    }
  if (path == NULL || (!create && !g_file_test (path, G_FILE_TEST_EXISTS)))
    return qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, error);
  return qm_quote_store_open (path, error);
}

QmRates *
qm_cli_shipped_rates (GError **error)
{
  char shipped[PATH_MAX];
  g_autoptr (GError) trouble = NULL;
  QmRates *rates;

  if (!qm_data_dir (shipped, sizeof shipped))
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_CATALOG,
                           _ ("the path of the catalog is too long"));
      return NULL;
    }
  rates = qm_rates_new_shipped (shipped, &trouble);
  if (rates == NULL
      && g_error_matches (trouble, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return qm_rates_new (NULL, 0, error);
  if (rates == NULL)
    g_propagate_error (error, g_steal_pointer (&trouble));
  return rates;
}

QmRates *
qm_cli_store_rates (QmQuoteStore *store, GError **error)
{
  g_autoptr (QmRates) shipped = qm_cli_shipped_rates (error);
  g_autoptr (QmRates) own = NULL;

  if (shipped == NULL)
    return NULL;
  own = qm_quote_store_get_rates (store, error);
  return own != NULL ? qm_rates_merge (shipped, own) : NULL;
}

GPtrArray *
qm_cli_store_quotes (QmQuoteStore *store, GError **error)
{
  const QmQuoteFilter filter = { 0 };
  g_autoptr (QmQuoteIndex) index = qm_quote_index_new (store, NULL, error);
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (GPtrArray) quotes = NULL;

  if (index == NULL)
    return NULL;
  rows = qm_quote_index_quotes (index, &filter, QM_QUOTE_SORT_ADDED, FALSE, 0,
                                G_MAXUINT, NULL);
  quotes = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  for (guint i = 0; i < rows->len; i++)
    {
      const QmQuoteRow *row = g_ptr_array_index (rows, i);
      QmQuote *quote;

      if (row->items == NULL)
        continue;
      quote = qm_quote_store_get (store, row->id, error);
      if (quote == NULL)
        return NULL;
      g_ptr_array_add (quotes, quote);
    }
  return g_steal_pointer (&quotes);
}
