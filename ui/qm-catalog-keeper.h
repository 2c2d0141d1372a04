/* SPDX-License-Identifier: Apache-2.0 */

/* The catalog as it is now, for everything in the program that shows it.
 *
 * The catalog itself never changes: after a change of its files another one
 * takes its place.  Who shows something of it follows "changed", and keeps no
 * pointer into the one before: that one goes when the last thread that still
 * reads it is done. */

#pragma once

#include "data/catalog.h"

#include <glib-object.h>

G_BEGIN_DECLS

#define QM_TYPE_CATALOG_KEEPER (qm_catalog_keeper_get_type ())
G_DECLARE_FINAL_TYPE (
    QmCatalogKeeper, qm_catalog_keeper, QM, CATALOG_KEEPER, GObject)

/* Signals:
 *
 *   "changed"               another catalog is there; the one before lives
 *                           until all have been told, so that a selection can
 *                           be carried over
 *   "failed" (const char*)  the files cannot be read, and why; the catalog
 *                           stays the one that it was
 */

/* Has no catalog yet.  (transfer full) */
QmCatalogKeeper *qm_catalog_keeper_new (void);

/* Begins to read the files in another thread, while something else is to be
 * done; the next qm_catalog_keeper_load() takes what that finds. */
void qm_catalog_keeper_load_ahead (QmCatalogKeeper *self);

/* Reads the shipped and the user's files as they are now.  FALSE, with the
 * reason in *error (nullable), where that fails or leaves nothing to advise on.
 */
gboolean qm_catalog_keeper_load (QmCatalogKeeper *self, QmError *error);

/* Has it be that catalog from now on.  (transfer full) */
void qm_catalog_keeper_take (QmCatalogKeeper *self, QmCatalog *catalog);

/* The catalog; NULL: there is none.  Valid until "changed" has been told, or as
 * long as who asks has a reference of it.  (transfer none) */
const QmCatalog *qm_catalog_keeper_get (QmCatalogKeeper *self);

G_END_DECLS
