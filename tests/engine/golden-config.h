/* SPDX-License-Identifier: Apache-2.0 */

/* The models of tests/golden. */

#ifndef QM_TESTS_ENGINE_GOLDEN_CONFIG_H
#define QM_TESTS_ENGINE_GOLDEN_CONFIG_H

#include "data/model.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads FOLDER/MODEL.json, which must be there. */
static inline void
golden_config (const char *folder, const char *model, QmModelConfig *config)
{
  char path[512], *text = NULL;
  size_t length = 0;

  snprintf (path, sizeof path, "%s/%s.json", folder, model);
  CHECK_INT (qm_text_read_file (path, &text, &length, NULL), QM_OK);
  if (text != NULL)
    CHECK_INT (qm_model_config_parse (text, length, path, config, NULL), QM_OK);
  free (text);
}

#endif
