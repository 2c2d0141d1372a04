/* SPDX-License-Identifier: Apache-2.0 */

/* Fields of any family's configuration, by their names in listings. */

#ifndef QM_TESTS_ENGINE_VARY_H
#define QM_TESTS_ENGINE_VARY_H

#include "data/family.h"

static inline void *
vary_at (QmModelConfig *config, const char *name)
{
  const QmField *field = qm_family_field (config->family, name);

  return field != NULL ? (char *) config + field->offset : NULL;
}

/* Fields that the family does not have stay so. */
static inline void
vary_number (QmModelConfig *config, const char *name, double value)
{
  double *at = vary_at (config, name);

  if (at != NULL)
    *at = value;
}

static inline void
vary_whole (QmModelConfig *config, const char *name, int64_t value)
{
  int64_t *at = vary_at (config, name);

  if (at != NULL)
    *at = value;
}

/* 0 where the family has no such field. */
static inline double
vary_get_number (const QmModelConfig *config, const char *name)
{
  QmModelConfig copy = *config;
  const double *at = vary_at (&copy, name);

  return at != NULL ? *at : 0;
}

static inline int64_t
vary_get_whole (const QmModelConfig *config, const char *name)
{
  QmModelConfig copy = *config;
  const int64_t *at = vary_at (&copy, name);

  return at != NULL ? *at : 0;
}

/* Pixels a side of the golden files, 0 of models of text. */
static inline int64_t
vary_image_size (const QmModelConfig *config)
{
  /* Which takes images of any size, and has three patches a side then. */
  if (config->family == QM_FAMILY_DINOV3_VIT)
    return 3 * config->dino.patch_size + 1;
  return vary_get_whole (config, "image_size");
}

#endif
