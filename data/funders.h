/* SPDX-License-Identifier: Apache-2.0 */

/* What funders say about machines that cost so much, of funders.csv: hints,
 * each with its source and the day on which that was read. */

#ifndef QM_DATA_FUNDERS_H
#define QM_DATA_FUNDERS_H

#include "data/error.h"
#include "data/money.h"

#include <stdbool.h>
#include <stddef.h>

/* A row.  Text is never NULL or empty. */
typedef struct QmFunderRule
{
  const char *id;
  const char *funder; /* and its programme or rule */
  char currency[4];   /* of the amounts */
  double least;       /* the rule holds from that amount on; NaN: from any */
  double most;        /* and up to that one; NaN: to any */
  bool each;          /* of one machine; else of all that is asked for */
  bool with_tax;
  const char *rule; /* in English */
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

/* Whether a rule holds for an amount of its currency. */
bool qm_funder_rule_holds (const QmFunderRule *rule, double amount);

#endif
