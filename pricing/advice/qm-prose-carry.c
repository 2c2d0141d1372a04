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
      return numbers_text (
          _ ("each card draws %s\u00a0W, and is given %s\u00a0W"), fit, 0);
    case QM_CARRY_SUPPLIES:
      return numbers_text (
          _ ("all draw %s\u00a0W, and the supplies give %s\u00a0W"), fit, 0);
    case QM_CARRY_MEMORY:
      return numbers_text (_ ("training needs %s GiB of memory in the host, "
                              "which takes %s GiB"),
                           fit, 0);
    case QM_CARRY_CIRCUIT:
      return numbers_text (
          _ ("draws %s\u00a0W, and the circuit gives %s\u00a0W"), fit, 0);
    case QM_CARRY_UNKNOWN:
    case QM_N_CARRY_PROBLEMS:
    default:
      return g_strdup (_ ("what would decide is not stated"));
    }
}

char *
qm_prose_not_carried (const QmCandidate *candidate)
{
  g_autofree char *why = NULL;
  const char *name = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->platform != NULL)
    name = candidate->platform->name;
  else if (candidate->carry.problem == QM_CARRY_CIRCUIT)
    name = qm_candidate_machine_name (candidate);
  if (name == NULL)
    return g_strdup (_ ("no machine carries that many"));
  why = qm_prose_carry (&candidate->carry, candidate->platform, candidate->gpu);
  /* Translators: name of a machine, "carries up to 2 GPUs". */
  return g_strdup_printf (_ ("no machine; %s %s"), name, why);
}

/* "a desktop", "a machine of 4 rack units". */
static char *
form_text (const QmPlatform *platform)
{
  g_autofree char *units = NULL;

  if (platform->form == QM_PLATFORM_DESKTOP)
    return g_strdup (_ ("a desktop"));
  if (platform->form == QM_PLATFORM_WORKSTATION)
    return g_strdup (_ ("a workstation"));
  if (!qm_known (platform->rack_units))
    return g_strdup (_ ("a rack machine"));
  units = qm_format_number (platform->rack_units, 0);
  /* Translators: rack units, more than one. */
  return g_strdup_printf (_ ("a rack machine of %s units"), units);
}

/* What of a room's power a machine takes. */
static const char *
room_text (double watts)
{
  if (watts <= qm_room_watts (QM_ROOM_ONE_CIRCUIT))
    return _ ("one circuit of 16\u00a0A (230\u00a0V)");
  if (watts <= qm_room_watts (QM_ROOM_TWO_CIRCUITS))
    return _ ("two circuits of 16\u00a0A (230\u00a0V)");
  if (watts <= qm_room_watts (QM_ROOM_THREE_PHASES))
    return _ ("three phases of 32\u00a0A (400\u00a0V)");
  return _ ("more than three phases of 32\u00a0A (400\u00a0V)");
}

/* NULL where it is not known. */
static char *
power_text (const QmCandidate *candidate)
{
  double watts = candidate->carry.wall_watts * candidate->machines;
  g_autofree char *kilowatts = NULL;

  if (!qm_known (watts))
    return NULL;
  kilowatts = qm_format_number (watts / 1000, 1);
  if (candidate->machines > 1)
    /* Translators: a number of kW, "two circuits of 16 A (230 V)". */
    return g_strdup_printf (_ ("At full load all draw %s\u00a0kW: %s."),
                            kilowatts, room_text (watts));
  /* Translators: a number of kW, "two circuits of 16 A (230 V)". */
  return g_strdup_printf (_ ("At full load it draws %s\u00a0kW: %s."),
                          kilowatts, room_text (watts));
}

/* NULL where no memory is bought. */
static char *
memory_text (const QmCandidate *candidate)
{
  g_autofree char *extra = NULL;

  if (!(candidate->extra_gib > 0))
    return NULL;
  extra = qm_format_number (candidate->extra_gib, 0);
  /* Translators: a number of GiB. */
  return g_strdup_printf (_ ("%s GiB of memory are bought with it, which the "
                             "training needs in the host."),
                          extra);
}

char *
qm_prose_carrier (const QmCandidate *candidate)
{
  const QmPlatform *platform;
  GString *text;
  g_autofree char *form = NULL;
  g_autofree char *power = NULL;
  g_autofree char *memory = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  platform = candidate->platform;
  if (platform == NULL || candidate->carry.problem != QM_CARRY_NONE)
    return NULL;
  form = form_text (platform);
  power = power_text (candidate);
  memory = memory_text (candidate);
  text = g_string_new (NULL);
  if (*platform->sold_with != '\0')
    /* Translators: name of a machine, "a rack machine of 8 units". */
    g_string_append_printf (text, _ ("It is the %s with its GPUs, %s."),
                            platform->name, form);
  else
    /* Translators: name of a machine, "a rack machine of 4 units". */
    g_string_append_printf (text, _ ("The machine is the %s, %s."),
                            platform->name, form);
  if (power != NULL)
    g_string_append_printf (text, " %s", power);
  if (memory != NULL)
    g_string_append_printf (text, " %s", memory);
  return g_string_free (text, FALSE);
}
