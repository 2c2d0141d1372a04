/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-store.h"
#include "data/datadir.h"
#include "pricing/quotes/qm-quote-store-backup.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>

void
qm_cli_store_add_option (GArray *options, GStrv *typed)
{
  qm_cli_options_add_value (options, "store", 0, _ ("FILE"),
                            _ ("Another store of quotes than yours"), typed);
}

void
qm_cli_store_warn (const char *sentence)
{
  g_autofree char *safe = qm_cli_escape (sentence);
  g_autofree char *text = g_strdup_printf (_ ("warning: %s"), safe);
  g_autofree char *line = g_strconcat (text, "\n", NULL);

  qm_cli_complain (line);
}

static const char *
brought_back_text (void)
{
  return _ ("“quartermaster quotes backups” shows what can be brought back.");
}

/* What is wrong with a store that could be opened.  (transfer full) */
static GPtrArray *
list_troubles (QmQuoteStore *store)
{
  GPtrArray *troubles = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) damages =
      qm_quote_store_damages (qm_quote_store_path (store));

  if (qm_quote_store_trouble (store) != NULL)
    g_ptr_array_add (troubles, g_strconcat (qm_quote_store_trouble (store), " ",
                                            brought_back_text (), NULL));
  for (guint i = 0; i < damages->len; i++)
    {
      const QmStoreDamage *damage = g_ptr_array_index (damages, i);

      g_ptr_array_add (
          troubles,
          g_strconcat (damage->text, " ",
                       _ ("“quartermaster quotes backups” shows what can be "
                          "brought back; with --accept this is told no more."),
                       NULL));
    }
  return troubles;
}

/* Where the store is: *path is NULL where the user has no home.
 *
 * named: (out): whether the user has said so. */
static gboolean
find_store (GStrv typed, char **path, gboolean *named, GError **error)
{
  const char *given;

  if (!qm_cli_option_single ("store", typed, &given, error))
    return FALSE;
  *named = given != NULL;
  *path = given != NULL ? g_strdup (given) : qm_quote_store_default_path ();
  return TRUE;
}

static QmQuoteStore *
fail_absent (const char *path, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (path);

  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("there is no store of quotes %s"), quoted);
  return NULL;
}

static void
tell_new (const char *path)
{
  g_autofree char *safe = qm_cli_escape (path);
  g_autofree char *text =
      /* Translators: a file. */
      g_strdup_printf (_ ("note: %s is new: there was no store of quotes yet"),
                       safe);
  g_autofree char *line = g_strconcat (text, "\n", NULL);

  qm_cli_complain (line);
}

static gboolean
fail_homeless (GError **error)
{
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("there is no home to keep quotes in; name a file "
                          "with --store"));
  return FALSE;
}

gboolean
qm_cli_store_find (GStrv typed, char **path, GError **error)
{
  gboolean named = FALSE;

  return find_store (typed, path, &named, error)
         && (*path != NULL || fail_homeless (error));
}

static QmQuoteStore *
create_store (const char *path, gboolean told, GError **error)
{
  QmQuoteStore *store;

  if (path == NULL)
    {
      fail_homeless (error);
      return NULL;
    }
  store = qm_quote_store_open (path, error);
  if (store != NULL && told)
    tell_new (path);
  return store;
}

/* Something is there, or it cannot be seen whether there is, as in a folder
 * that may not be entered: what it is shows when it is opened. */
static gboolean
is_there (const char *path)
{
  GStatBuf status;

  return path != NULL
         && (g_lstat (path, &status) == 0
             || (errno != ENOENT && errno != ENOTDIR));
}

QmQuoteStore *
qm_cli_store_open (GStrv typed, QmCliStoreMode mode, GError **error)
{
  g_autofree char *path = NULL;
  gboolean named = FALSE;
  QmQuoteStore *store;
  g_autoptr (GPtrArray) troubles = NULL;

  if (!find_store (typed, &path, &named, error))
    return NULL;
  if (!is_there (path))
    {
      if (mode >= QM_CLI_STORE_CREATE)
        return create_store (path, named && mode == QM_CLI_STORE_CREATE, error);
      return named ? fail_absent (path, error)
                   : qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, error);
    }
  store = mode == QM_CLI_STORE_READ ? qm_quote_store_open_read (path, error)
                                    : qm_quote_store_open (path, error);
  if (store == NULL)
    return NULL;
  troubles = list_troubles (store);
  for (guint i = 0; i < troubles->len; i++)
    qm_cli_store_warn (g_ptr_array_index (troubles, i));
  return store;
}

QmQuoteStore *
qm_cli_store_open_for_advice (GStrv typed, GPtrArray *troubles, GError **error)
{
  g_autofree char *path = NULL;
  gboolean named = FALSE;
  g_autoptr (GError) trouble = NULL;
  QmQuoteStore *store;

  if (!find_store (typed, &path, &named, error))
    return NULL;
  if (!is_there (path))
    {
      g_autofree char *missing =
          path != NULL ? qm_quote_store_missing_text (path) : NULL;

      if (missing != NULL && !named)
        g_ptr_array_add (troubles, g_strconcat (missing, " ",
                                                brought_back_text (), NULL));
      return named ? fail_absent (path, error)
                   : qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, error);
    }
  store = qm_quote_store_open_read (path, &trouble);
  if (store != NULL)
    {
      g_autoptr (GPtrArray) all = list_troubles (store);

      g_ptr_array_extend_and_steal (troubles, g_steal_pointer (&all));
    }
  else if (named
           && g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                               QM_QUOTE_STORE_ERROR_FOREIGN))
    g_propagate_error (error, g_steal_pointer (&trouble));
  else
    g_ptr_array_add (troubles, qm_cli_store_unused_text (trouble->message));
  return store;
}

char *
qm_cli_store_unused_text (const char *why)
{
  return g_strconcat (why, g_str_has_suffix (why, ".") ? " " : ". ",
                      _ ("Your quotes do not count here. “--no-quotes” asks "
                         "without them."),
                      NULL);
}

void
qm_cli_store_done (QmQuoteStore *store)
{
  g_autoptr (GError) trouble = NULL;

  if (!qm_quote_store_maintain (store, &trouble))
    qm_cli_store_warn (trouble->message);
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
