/* SPDX-License-Identifier: Apache-2.0 */

/* Model files, of the form that data/model.h shows: reading one whole, and
 * writing one that reads back equal. */

#ifndef QM_DATA_MODEL_FILE_H
#define QM_DATA_MODEL_FILE_H

#include "data/model.h"

/* One file.  Strings are the owner's, freed by qm_model_file_clear(). */
typedef struct QmModelFile
{
  char *id;
  char *name;
  char *source;
  QmModelGroup group;
  char *config_text; /* the configuration as it stands in the file */
  QmModelConfig config;
  QmRecipe recipe;
} QmModelFile;

/* Reads `length` bytes of a model file; `file` names it in messages.  *model is
 * to be cleared only where this succeeds. */
QmStatus qm_model_file_parse (const char *text,
                              size_t length,
                              const char *file,
                              QmModelFile *model,
                              QmError *error);

/* Frees the strings and forgets everything. */
void qm_model_file_clear (QmModelFile *model);

/* The text of a model file, its configuration as it was given; parsed it gives
 * the same.  The caller frees it with free(); NULL where memory is out. */
char *qm_model_file_format (const char *id,
                            const char *name,
                            const char *source,
                            const char *config_text,
                            const QmRecipe *recipe);

/* The text of a recipe object, likewise. */
char *qm_recipe_format (const QmRecipe *recipe);

#endif
