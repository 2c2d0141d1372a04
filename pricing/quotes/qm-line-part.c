/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-line-part.h"

#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-match-private.h"
#include "pricing/words-lines.h"

#include <glib/gi18n-lib.h>

static const char memory_words[] = QM_SPACED_PART_MEMORY;

static const char storage_words[] = QM_SPACED_PART_STORAGE;

static const char network_words[] = QM_SPACED_PART_NETWORK;

static const char board_words[] = QM_SPACED_PART_BOARD;

static void
split (const QmQuoteLine *line, QmWords *words)
{
  const char *text =
      line->description != NULL ? line->description : line->part_number;

  qm_words_split (words, text != NULL ? text : "");
}

static QmOfferPart
part_by_words (const QmQuoteLine *line, QmOfferPart otherwise)
{
  static const struct
  {
    const char *words;
    QmOfferPart part;
  } lists[] = {
    { board_words, QM_PART_SERVER },
    { network_words, QM_PART_NETWORK },
    { memory_words, QM_PART_MEMORY },
    { storage_words, QM_PART_STORAGE },
  };
  QmWords words;

  split (line, &words);
  /* What comes first says what it is: "SSD controller with memory". */
  for (int i = 0; i < words.n; i++)
    for (guint j = 0; j < G_N_ELEMENTS (lists); j++)
      if (qm_word_in (words.words[i], lists[j].words))
        return lists[j].part;
  return otherwise;
}

QmOfferPart
qm_line_part (const QmCatalog *catalog, const QmQuoteLine *line)
{
  g_return_val_if_fail (catalog != NULL && line != NULL, QM_PART_OTHER);

  if (line->role != QM_LINE_QUOTED && line->role != QM_LINE_PART)
    return QM_PART_OPTIONS;
  switch (qm_line_thing (catalog, line))
    {
    case QM_THING_GPU:
      return QM_PART_GPUS;
    case QM_THING_MACHINE:
      return QM_PART_SERVER;
    case QM_THING_SERVICE:
      return QM_PART_SERVICE;
    case QM_THING_SHIPPING:
      return QM_PART_SHIPPING;
    case QM_THING_PART:
      return qm_line_is_processor (line) || qm_line_is_shell (line)
                 ? QM_PART_SERVER
                 : part_by_words (line, QM_PART_OTHER);
    case QM_THING_OTHER:
      return part_by_words (line, QM_PART_OTHER);
    case QM_THING_RENT:
    case QM_THING_UNSTATED:
    case QM_N_THINGS:
    default:
      return QM_PART_OTHER;
    }
}

guint
qm_line_parts_named (const QmQuoteLine *line)
{
  QmWords words;
  guint parts = 0;

  g_return_val_if_fail (line != NULL, 0);

  split (line, &words);
  if (qm_words_have (&words, memory_words))
    parts |= 1u << QM_PART_MEMORY;
  if (qm_words_have (&words, storage_words))
    parts |= 1u << QM_PART_STORAGE;
  if (qm_words_have (&words, network_words))
    parts |= 1u << QM_PART_NETWORK;
  if (qm_line_names_service (line))
    parts |= 1u << QM_PART_SERVICE;
  return parts;
}

const char *
qm_offer_part_name (QmOfferPart part)
{
  static const char *const names[QM_N_PARTS] = {
    "gpus",    "server",   "memory", "storage",  "network",
    "service", "shipping", "other",  "discount", "options",
  };

  g_return_val_if_fail (part < QM_N_PARTS, NULL);

  return names[part];
}

const char *
qm_offer_part_text (QmOfferPart part)
{
  static const char *const texts[QM_N_PARTS] = {
    N_ ("GPUs"),
    N_ ("Server"),
    N_ ("Host memory"),
    N_ ("Storage"),
    N_ ("Network and links"),
    N_ ("Warranty and services"),
    N_ ("Shipping"),
    N_ ("Everything else"),
    N_ ("Discount on all of it"),
    N_ ("Options (do not count)"),
  };

  g_return_val_if_fail (part < QM_N_PARTS, NULL);

  return _ (texts[part]);
}
