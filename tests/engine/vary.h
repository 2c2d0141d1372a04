/* SPDX-License-Identifier: Apache-2.0 */

/* Fields of any family's configuration, by their names in listings. */

#ifndef QM_TESTS_ENGINE_VARY_H
#define QM_TESTS_ENGINE_VARY_H

#include "data/family.h"

#include <stdio.h>

static inline void *
vary_at (QmModelConfig *config, const char *name)
{
  const QmField *field = qm_family_field (config->family, name);

  return field != NULL ? (char *) config + field->offset : NULL;
}

#define VARY_TOWERS 2

/* The same of models with several towers, each of which has it; NULL where
 * there are no more. */
static inline void *
vary_tower (QmModelConfig *config, const char *name, int i)
{
  static const char *const towers[VARY_TOWERS] = { "vision", "text" };
  char text[64];

  if (i == 0 && vary_at (config, name) != NULL)
    return vary_at (config, name);
  snprintf (text, sizeof text, "%s_%s", towers[i], name);
  return vary_at (config, text);
}

/* Fields that the family does not have stay so. */
static inline void
vary_number (QmModelConfig *config, const char *name, double value)
{
  for (int i = 0; i < VARY_TOWERS; i++)
    {
      double *at = vary_tower (config, name, i);

      if (at != NULL)
        *at = value;
    }
}

static inline void
vary_whole (QmModelConfig *config, const char *name, int64_t value)
{
  for (int i = 0; i < VARY_TOWERS; i++)
    {
      int64_t *at = vary_tower (config, name, i);

      if (at != NULL)
        *at = value;
    }
}

/* 0 where the family has no such field. */
static inline double
vary_get_number (const QmModelConfig *config, const char *name)
{
  QmModelConfig copy = *config;
  const double *at = vary_tower (&copy, name, 0);

  return at != NULL ? *at : 0;
}

static inline int64_t
vary_get_whole (const QmModelConfig *config, const char *name)
{
  QmModelConfig copy = *config;
  const int64_t *at = vary_tower (&copy, name, 0);

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
