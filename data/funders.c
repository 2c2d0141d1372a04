/* SPDX-License-Identifier: Apache-2.0 */

#include "data/funders.h"

#include "data/csv-table.h"
#include "data/file.h"
#include "data/pool.h"
#include "data/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct QmFunderRules
{
  QmList list; /* of QmFunderRule */
  QmPool strings;
};

enum
{
  COLUMN_ID,
  COLUMN_FUNDER,
  COLUMN_CURRENCY,
  COLUMN_LEAST,
  COLUMN_MOST,
  COLUMN_OF,
  COLUMN_TAX,
  COLUMN_RULE,
  COLUMN_SOURCE,
  COLUMN_SEEN_ON,
  COLUMN_FUNDER_DE,
  COLUMN_RULE_DE,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  { "id", true },      { "funder", true },     { "currency", true },
  { "least", true },   { "most", true },       { "of", true },
  { "tax", true },     { "rule", true },       { "source", true },
  { "seen_on", true }, { "funder_de", false }, { "rule_de", false },
};

#define MAX_AMOUNT 1e12

static void
read_rule (QmCsvRow *row, void *data)
{
  static const char *const of[] = { "total", "machine" };
  static const char *const tax[] = { "without", "with" };
  QmFunderRules *rules = data;
  const char *id = qm_csv_id (row, COLUMN_ID);
  QmFunderRule *rule;

  if (row->status != QM_OK)
    return;
  if (qm_list_find (&rules->list, id) != QM_LIST_NONE)
    {
      qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID, "is there twice");
      return;
    }
  rule = qm_list_add (&rules->list, id);
  if (rule == NULL)
    {
      qm_csv_fail (row, COLUMN_ID, QM_STATUS_NO_MEMORY, "out of memory");
      return;
    }
  rule->id = id;
  rule->funder = qm_csv_text (row, COLUMN_FUNDER, true);
  qm_csv_currency (row, COLUMN_CURRENCY, rule->currency);
  rule->least = qm_csv_number (row, COLUMN_LEAST, 0, MAX_AMOUNT);
  rule->most = qm_csv_number (row, COLUMN_MOST, 0, MAX_AMOUNT);
  if (rule->least > rule->most)
    qm_csv_fail (row, COLUMN_MOST, QM_STATUS_INVALID, "is less than least");
  rule->each = qm_csv_word (row, COLUMN_OF, of, 2, -1) == 1;
  rule->with_tax = qm_csv_word (row, COLUMN_TAX, tax, 2, -1) == 1;
  rule->rule = qm_csv_text (row, COLUMN_RULE, true);
  rule->funder_de = qm_csv_text (row, COLUMN_FUNDER_DE, false);
  rule->rule_de = qm_csv_text (row, COLUMN_RULE_DE, false);
  rule->source = qm_csv_text (row, COLUMN_SOURCE, true);
  rule->seen_on = qm_csv_date (row, COLUMN_SEEN_ON);
  if (rule->seen_on.year == 0)
    qm_csv_fail (row, COLUMN_SEEN_ON, QM_STATUS_INVALID, "must not be empty");
}

QmStatus
qm_funder_rules_load (const char *data_dir,
                      QmFunderRules **rules,
                      QmError *error)
{
  char path[PATH_MAX], *text = NULL;
  size_t length;
  QmStatus status = QM_OK;
  QmFunderRules *made;

  *rules = NULL;
  if (snprintf (path, sizeof path, "%s/funders.csv", data_dir)
      >= (int) sizeof path)
    return qm_error_set (error, QM_STATUS_INVALID, data_dir, 0, 0,
                         "the path is too long");
  made = calloc (1, sizeof *made);
  if (made == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, path, 0, 0,
                         "out of memory");
  qm_list_init (&made->list, sizeof (QmFunderRule));
  if (qm_file_exists (path))
    status = qm_text_read_file (path, &text, &length, error);
  if (status == QM_OK && text != NULL)
    status = qm_csv_read (text, length, path, columns, N_COLUMNS,
                          &made->strings, read_rule, made, error);
  free (text);
  if (status != QM_OK)
    qm_funder_rules_free (made);
  else
    *rules = made;
  return status;
}

void
qm_funder_rules_free (QmFunderRules *rules)
{
  if (rules == NULL)
    return;
  qm_list_clear (&rules->list);
  qm_pool_clear (&rules->strings);
  free (rules);
}

const QmFunderRule *
qm_funder_rules_list (const QmFunderRules *rules, size_t *n)
{
  *n = rules->list.n;
  return (const QmFunderRule *) (const void *) rules->list.items;
}

/* The one in that language. */
static const char *
name_in_language (const char *language, const char *english, const char *german)
{
  size_t length = strcspn (language, "_.@");

  if (length == 2 && memcmp (language, "de", 2) == 0)
    return *german != '\0' ? german : NULL;
  if ((length == 2 && memcmp (language, "en", 2) == 0)
      || (length == 1 && *language == 'C'))
    return english;
  return NULL;
}

const char *
qm_funder_rule_funder (const QmFunderRule *rule, const char *language)
{
  return name_in_language (language, rule->funder, rule->funder_de);
}

const char *
qm_funder_rule_text (const QmFunderRule *rule, const char *language)
{
  return name_in_language (language, rule->rule, rule->rule_de);
}

bool
qm_funder_rule_holds (const QmFunderRule *rule, double amount)
{
  return !(amount < rule->least) && !(amount > rule->most);
}
