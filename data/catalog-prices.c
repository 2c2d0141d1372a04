/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

enum
{
  COLUMN_ITEM,
  COLUMN_KIND,
  COLUMN_UNIT,
  COLUMN_GPUS,
  COLUMN_PRICE,
  COLUMN_LOW,
  COLUMN_HIGH,
  COLUMN_CURRENCY,
  COLUMN_TAX_PERCENT,
  COLUMN_OBSERVED_ON,
  COLUMN_SOURCE,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  [COLUMN_ITEM] = { "item", true },
  [COLUMN_KIND] = { "kind", true },
  [COLUMN_UNIT] = { "unit", false },
  [COLUMN_GPUS] = { "gpus", false },
  [COLUMN_PRICE] = { "price", true },
  [COLUMN_LOW] = { "low", false },
  [COLUMN_HIGH] = { "high", false },
  [COLUMN_CURRENCY] = { "currency", true },
  [COLUMN_TAX_PERCENT] = { "tax_percent", false },
  [COLUMN_OBSERVED_ON] = { "observed_on", false },
  [COLUMN_SOURCE] = { "source", true },
};

static const char *const kind_words[] = { "published", "quote",  "street",
                                          "list",      "resale", "claim",
                                          "estimate",  "cloud" };
static const char *const unit_words[] = { "each", "hour", "gib" };

#define N_WORDS(words) (sizeof (words) / sizeof (words)[0])

/* More than anybody rents at once, and in percent than any state takes. */
#define MAX_GPUS 1000000
#define MAX_TAX  100

const char *
qm_price_kind_name (QmPriceKind kind)
{
  return kind_words[kind];
}

const char *
qm_price_unit_name (QmPriceUnit unit)
{
  return unit_words[unit];
}

void
qm_batch_add_price (QmBatch *batch,
                    const QmPrice *price,
                    QmCsvRow *row,
                    size_t column)
{
  const char *key =
      qm_pool_format (row->pool, "%s\x1f%d\x1f%d\x1f%d\x1f%d-%d-%d\x1f%s",
                      price->item, (int) price->kind, (int) price->unit,
                      price->gpus, price->observed_on.year,
                      price->observed_on.month, price->observed_on.day,
                      price->source);
  QmPrice *entry = qm_batch_add (&batch->entries.prices, key, row, column);

  if (entry == NULL)
    return;
  *entry = *price;
  entry->from_user = batch->from_user;
}

/* Either one price or a range. */
static void
read_amounts (QmCsvRow *row, QmPrice *price)
{
  price->micros = qm_csv_micros (row, COLUMN_PRICE);
  price->low_micros = qm_csv_micros (row, COLUMN_LOW);
  price->high_micros = qm_csv_micros (row, COLUMN_HIGH);

  if (price->micros >= 0)
    {
      if (price->low_micros >= 0)
        qm_csv_fail (row, COLUMN_LOW, QM_STATUS_INVALID,
                     "must be empty where price is not");
      if (price->high_micros >= 0)
        qm_csv_fail (row, COLUMN_HIGH, QM_STATUS_INVALID,
                     "must be empty where price is not");
    }
  else if (price->low_micros < 0 && price->high_micros < 0)
    qm_csv_fail (row, COLUMN_PRICE, QM_STATUS_INVALID,
                 "there must be a price, or low and high");
  else if (price->low_micros < 0)
    qm_csv_fail (row, COLUMN_LOW, QM_STATUS_INVALID,
                 "must not be empty where high is not");
  else if (price->high_micros < 0)
    qm_csv_fail (row, COLUMN_HIGH, QM_STATUS_INVALID,
                 "must not be empty where low is not");
  else if (price->high_micros < price->low_micros)
    qm_csv_fail (row, COLUMN_HIGH, QM_STATUS_INVALID, "is less than low");
}

/* Checks that the price is of something that is known. */
static void
check_item (const QmEntries *known, QmCsvRow *row, const char *item)
{
  if (qm_list_find (&known->gpus, item) == QM_LIST_NONE
      && qm_list_find (&known->machines, item) == QM_LIST_NONE
      && qm_list_find (&known->platforms, item) == QM_LIST_NONE
      && !qm_is_memory_item (item))
    qm_batch_fail_unknown (row, COLUMN_ITEM, "GPU or machine",
                           (const QmList *const[]){ &known->gpus,
                                                    &known->machines,
                                                    &known->platforms },
                           3);
}

static void
read_price_row (QmCsvRow *row, void *data)
{
  QmBatch *batch = data;
  QmPrice price = { 0 };

  price.item = qm_csv_id (row, COLUMN_ITEM);
  check_item (batch->known, row, price.item);
  price.kind = (QmPriceKind) qm_csv_word (row, COLUMN_KIND, kind_words,
                                          N_WORDS (kind_words), -1);
  price.unit = (QmPriceUnit) qm_csv_word (row, COLUMN_UNIT, unit_words,
                                          N_WORDS (unit_words), QM_PRICE_EACH);
  price.gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, MAX_GPUS, 1);
  if ((price.kind == QM_PRICE_CLOUD) != (price.unit == QM_PRICE_HOUR))
    qm_csv_fail (row, COLUMN_UNIT, QM_STATUS_INVALID,
                 "a cloud price, and no other, is for an 'hour'");
  if ((price.unit == QM_PRICE_GIB) != qm_is_memory_item (price.item))
    qm_csv_fail (row, COLUMN_UNIT, QM_STATUS_INVALID,
                 "a price of memory, and no other, is for a 'gib'");
  if (price.unit != QM_PRICE_HOUR && price.gpus != 1)
    qm_csv_fail (row, COLUMN_GPUS, QM_STATUS_INVALID,
                 "a price for 'each' is for 1");
  read_amounts (row, &price);
  qm_csv_currency (row, COLUMN_CURRENCY, price.currency);
  price.tax_percent = qm_csv_number (row, COLUMN_TAX_PERCENT, 0, MAX_TAX);
  if (!qm_known (price.tax_percent))
    price.tax_percent = 0;
  price.observed_on = qm_csv_date (row, COLUMN_OBSERVED_ON);
  price.source = qm_csv_text (row, COLUMN_SOURCE, true);
  qm_batch_add_price (batch, &price, row, COLUMN_ITEM);
}

QmStatus
qm_batch_read_prices (QmBatch *batch,
                      const char *text,
                      size_t length,
                      QmError *error)
{
  return qm_csv_read (text, length, batch->file, columns, N_COLUMNS,
                      &batch->entries.pool, read_price_row, batch, error);
}
