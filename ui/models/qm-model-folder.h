/* SPDX-License-Identifier: Apache-2.0 */

/* The user's own models: files in the folder "models" of the user's directory,
 * from which the catalog takes them. */

#pragma once

#include "data/catalog.h"
#include "data/model-file.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* A file of the folder. */
typedef struct
{
  char *path;
  QmModelFile file;
} QmOwnModel;

/* The models that can be read, QmOwnModel, by their names.  (transfer full) */
GPtrArray *qm_model_folder_list (void);

/* An id made from a name: "My Model 2" is "my-model-2".  Empty where nothing of
 * the name can be in an id.  (transfer full) */
char *qm_model_folder_make_id (const char *name);

/* Where a model of that id is, or would be.  NULL: there is no user's
 * directory.  (transfer full) */
char *qm_model_folder_path (const char *id);

/* Writes a model file whole, or not at all.
 *
 * text: of the form that data/model.h shows; read back before it is written.
 * before: (nullable): the file that this replaces, which goes where the id is
 *   another one.  No other file is ever written over. */
gboolean qm_model_folder_write (const char *id,
                                const char *text,
                                const char *before,
                                GError **error);

/* Removes a file.  (transfer full): what was in it, so that it can be
 * restored. */
GBytes *qm_model_folder_remove (const char *path, GError **error);

/* Puts a file back that was removed, unless there is another by now. */
gboolean
qm_model_folder_restore (const char *path, GBytes *content, GError **error);

/* How many training times of the catalog are of a model. */
guint qm_model_folder_count_times (const QmCatalog *catalog, const char *id);

G_END_DECLS
