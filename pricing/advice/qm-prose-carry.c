/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>

/* Why one that is sold with GPUs, or takes cards, has none of these. */
static char *
sold_with_text (const QmPlatform *platform, const QmGpu *gpu)
{
  if (*platform->sold_with != '\0')
    return g_strdup (_ ("is sold with other GPUs"));
  if (gpu->cooling == QM_GPU_COOLING_SYSTEM)
    return g_strdup (_ ("takes cards, and this GPU is part of a machine of its "
                        "own"));
  return g_strdup (
      _ ("takes cards, and this GPU is sold on boards of several"));
}

static char *
count_text (const QmPlatform *platform)
{
  const char *format;

  if (*platform->sold_with != '\0')
    /* Translators: a number of GPUs. */
    format = ngettext ("is sold with %d GPU", "is sold with %d GPUs",
                       (gulong) platform->gpus);
  else
    /* Translators: a number of GPUs. */
    format = ngettext ("carries %d GPU", "carries up to %d GPUs",
                       (gulong) platform->gpus);
  return g_strdup_printf (format, platform->gpus);
}

static const char *
cooling_text (const QmGpu *gpu)
{
  switch (gpu->cooling)
    {
    case QM_GPU_COOLING_OPEN:
      return _ ("has no room for cards with open fans");
    case QM_GPU_COOLING_BLOWER:
      return _ ("takes no cards with a blower");
    default:
      return _ ("has no wind for cards without fans");
    }
}

/* A sentence about two numbers; unknown ones are known not to be here. */
static char *
numbers_text (const char *format, const QmCarry *fit, int decimals)
{
  g_autofree char *needed = qm_format_number (fit->needed, decimals);
  g_autofree char *available = qm_format_number (fit->available, decimals);

  return g_strdup_printf (format, needed, available);
}

char *
qm_prose_carry (const QmCarry *fit,
                const QmPlatform *platform,
                const QmGpu *gpu)
{
  switch (fit->problem)
    {
    case QM_CARRY_NONE:
      return g_strdup (_ ("fits"));
    case QM_CARRY_SOLD_WITH:
      return sold_with_text (platform, gpu);
    case QM_CARRY_COUNT:
      return count_text (platform);
    case QM_CARRY_COOLING:
      return g_strdup (cooling_text (gpu));
    case QM_CARRY_WIDTH:
      /* Translators: widths in slots, such as 3.5. */
      return numbers_text (_ ("each card is %s slots wide, and has %s"), fit,
                           1);
    case QM_CARRY_CARD_WATTS:
      return numbers_text (_ ("each card draws %s W, and is given %s W"), fit,
                           0);
    case QM_CARRY_SUPPLIES:
      return numbers_text (_ ("all draw %s W, and the supplies give %s W"), fit,
                           0);
    case QM_CARRY_MEMORY:
      return numbers_text (_ ("training needs %s GiB of memory in the host, "
                              "which takes %s GiB"),
                           fit, 0);
    case QM_CARRY_CIRCUIT:
      return numbers_text (_ ("draws %s W, and the circuit gives %s W"), fit,
                           0);
    case QM_CARRY_UNKNOWN:
    case QM_N_CARRY_PROBLEMS:
    default:
      return g_strdup (_ ("what would decide is not stated"));
    }
}
