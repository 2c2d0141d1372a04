/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-catalog-keeper.h"

#include "data/datadir.h"

#include <glib/gi18n-lib.h>
#include <limits.h>

struct _QmCatalogKeeper
{
  GObject parent_instance;

  QmCatalog *catalog; /* NULL: none yet */
  GThread *ahead;     /* of load_ahead(); NULL: nothing is read */
};

/* What is read, and what came of it. */
typedef struct
{
  gboolean found;
  char shipped[PATH_MAX];
  char user[PATH_MAX]; /* empty: there is none */
  QmCatalog *catalog;  /* NULL: it cannot be read */
  QmError error;
} Load;

enum
{
  CHANGED,
  FAILED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmCatalogKeeper, qm_catalog_keeper, G_TYPE_OBJECT)

static guint signals[N_SIGNALS];

/* A catalog without a model or a time leaves nothing to advise on. */
static gboolean
check (const QmCatalog *catalog, const char *directory, QmError *error)
{
  size_t n_models, n_measurements;

  qm_catalog_models (catalog, &n_models);
  qm_catalog_measurements (catalog, &n_measurements);
  if (n_models > 0 && n_measurements > 0)
    return TRUE;

  qm_error_set (error, QM_STATUS_NOT_FOUND, directory, 0, 0, "%s",
                _ ("no model or no training time was found"));
  return FALSE;
}

/* Asks the environment, which others may be changing: in the thread that
 * draws.  (transfer full) */
static Load *
load_new (void)
{
  Load *load = g_new0 (Load, 1);

  load->found = qm_data_dir (load->shipped, sizeof load->shipped);
  if (!qm_user_data_dir (load->user, sizeof load->user))
    load->user[0] = '\0';
  return load;
}

/* In any thread. */
static gpointer
read_files (gpointer data)
{
  Load *load = data;

  if (load->found
      && qm_catalog_load (load->shipped,
                          load->user[0] != '\0' ? load->user : NULL,
                          &load->catalog, &load->error)
             != QM_OK)
    load->catalog = NULL;
  return load;
}

/* NULL: it cannot be read.  (transfer full) */
static QmCatalog *
take_load (Load *load, QmError *error)
{
  g_autofree Load *done = load;

  if (!done->found)
    {
      qm_error_set (error, QM_STATUS_NOT_FOUND, NULL, 0, 0, "%s",
                    _ ("the directory of the catalog was not found"));
      return NULL;
    }
  if (done->catalog == NULL)
    *error = done->error;
  else if (check (done->catalog, done->shipped, error))
    return done->catalog;
  qm_catalog_free (done->catalog);
  return NULL;
}

/* (transfer full) */
static char *
text_of_failure (const QmError *error)
{
  g_autofree char *text =
      error->file[0] != '\0'
          ? g_strdup_printf ("%s: %s", error->file, error->message)
          : g_strdup (error->message);

  return g_utf8_make_valid (text, -1);
}

void
qm_catalog_keeper_load_ahead (QmCatalogKeeper *self)
{
  g_return_if_fail (QM_IS_CATALOG_KEEPER (self));
  g_return_if_fail (self->ahead == NULL);

  self->ahead = g_thread_new ("catalog", read_files, load_new ());
}

gboolean
qm_catalog_keeper_load (QmCatalogKeeper *self, QmError *error)
{
  QmError why = { 0 };
  QmCatalog *catalog;
  g_autofree char *reason = NULL;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (self), FALSE);

  catalog = take_load (self->ahead != NULL
                           ? g_thread_join (g_steal_pointer (&self->ahead))
                           : read_files (load_new ()),
                       &why);
  if (catalog != NULL)
    {
      qm_catalog_keeper_take (self, catalog);
      return TRUE;
    }
  if (error != NULL)
    *error = why;
  reason = text_of_failure (&why);
  g_signal_emit (self, signals[FAILED], 0, reason);
  return FALSE;
}

void
qm_catalog_keeper_take (QmCatalogKeeper *self, QmCatalog *catalog)
{
  QmCatalog *before;

  g_return_if_fail (QM_IS_CATALOG_KEEPER (self));
  g_return_if_fail (catalog != NULL);

  before = self->catalog;
  self->catalog = catalog;
  g_signal_emit (self, signals[CHANGED], 0);
  qm_catalog_free (before);
}

const QmCatalog *
qm_catalog_keeper_get (QmCatalogKeeper *self)
{
  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (self), NULL);

  return self->catalog;
}

QmCatalogKeeper *
qm_catalog_keeper_new (void)
{
  return g_object_new (QM_TYPE_CATALOG_KEEPER, NULL);
}

static void
qm_catalog_keeper_finalize (GObject *object)
{
  QmCatalogKeeper *self = QM_CATALOG_KEEPER (object);
  QmError why = { 0 };

  if (self->ahead != NULL)
    qm_catalog_free (take_load (g_thread_join (self->ahead), &why));
  qm_catalog_free (self->catalog);
  G_OBJECT_CLASS (qm_catalog_keeper_parent_class)->finalize (object);
}

static void
qm_catalog_keeper_class_init (QmCatalogKeeperClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_catalog_keeper_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] =
      g_signal_new ("failed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
qm_catalog_keeper_init (QmCatalogKeeper *self)
{
}
