/* SPDX-License-Identifier: Apache-2.0 */

/* What funders say about machines that cost so much, of funders.csv: hints,
 * each with its source and the day on which that was read. */

#ifndef QM_DATA_FUNDERS_H
#define QM_DATA_FUNDERS_H

#include "data/error.h"
#include "data/money.h"

#include <stdbool.h>
#include <stddef.h>

/* A row.  Text is in English, and never NULL or empty but where that is said.
 */
typedef struct QmFunderRule
{
  const char *id;
  const char *funder; /* and its programme or rule */
  char currency[4];   /* of the amounts */
  double least;       /* the rule holds from that amount on; NaN: from any */
  double most;        /* and up to that one; NaN: to any */
  bool each;          /* of one machine; else of all that is asked for */
  bool with_tax;
  const char *rule;
  const char *funder_de; /* the same in German; empty: only English is known */
  const char *rule_de;
  const char *source;
  QmDate seen_on;
} QmFunderRule;

typedef struct QmFunderRules QmFunderRules;

/* Reads funders.csv of a data directory; none where it has no such file. */
QmStatus qm_funder_rules_load (const char *data_dir,
                               QmFunderRules **rules,
                               QmError *error);

void qm_funder_rules_free (QmFunderRules *rules);

/* All of them, in the order of the file. */
const QmFunderRule *qm_funder_rules_list (const QmFunderRules *rules,
                                          size_t *n);

/* Funder and rule in a language, of a name as locales have, "de_AT" say; NULL:
 * they are not known in that one. */
const char *qm_funder_rule_funder (const QmFunderRule *rule,
                                   const char *language);
const char *qm_funder_rule_text (const QmFunderRule *rule,
                                 const char *language);

/* Whether a rule holds for an amount of its currency. */
bool qm_funder_rule_holds (const QmFunderRule *rule, double amount);

#endif
