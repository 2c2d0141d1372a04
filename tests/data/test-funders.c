/* SPDX-License-Identifier: Apache-2.0 */

/* funders.csv: what is read, what is refused, and what came with the program.
 */

#include "data/funders.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "id,funder,currency,least,most,of,tax,rule,source,seen_on\n"
#define ROW                                                          \
  "a,Fund,EUR,10.5,20,machine,with,Ask first.,https://example.org/," \
  "2026-11-26\n"

static void
test_read (void)
{
  QmFunderRules *rules = NULL;
  QmError error = { 0 };
  const QmFunderRule *list;
  size_t n;

  check_case ("read");
  scratch_begin ();
  scratch_write_text ("funders.csv", HEADER ROW
                      "b,Other,USD,,,total,without,Text,here,2026\n");
  CHECK_INT (qm_funder_rules_load (scratch_path (""), &rules, &error), QM_OK);
  list = qm_funder_rules_list (rules, &n);
  CHECK_INT (n, 2);
  CHECK_STRING (list[0].funder, "Fund");
  CHECK_STRING (list[0].currency, "EUR");
  CHECK_STRING (list[0].rule, "Ask first.");
  CHECK (list[0].each && list[0].with_tax);
  CHECK (!list[1].each && !list[1].with_tax);
  CHECK_INT (list[0].seen_on.day, 26);
  CHECK (!qm_funder_rule_holds (&list[0], 10.49));
  CHECK (qm_funder_rule_holds (&list[0], 10.5));
  CHECK (qm_funder_rule_holds (&list[0], 20));
  CHECK (!qm_funder_rule_holds (&list[0], 20.01));
  CHECK (qm_funder_rule_holds (&list[1], 0));
  CHECK (qm_funder_rule_holds (&list[1], 1e9));
  qm_funder_rules_free (rules);
  scratch_clear ();
  CHECK_INT (qm_funder_rules_load (scratch_path (""), &rules, &error), QM_OK);
  qm_funder_rules_list (rules, &n);
  CHECK_INT (n, 0);
  qm_funder_rules_free (rules);
  scratch_end ();
}

/* In German where that is there, in English, and in no third language. */
static void
test_languages (void)
{
  QmFunderRules *rules = NULL;
  QmError error = { 0 };
  const QmFunderRule *list;
  size_t n;

  check_case ("languages");
  scratch_begin ();
  scratch_write_text (
      "funders.csv",
      "id,funder,currency,least,most,of,tax,rule,source,seen_on,rule_de\n"
      "a,Fund,EUR,1,2,machine,with,Ask first.,here,2026-11-26,Erst fragen.\n"
      "b,Fund,EUR,1,2,machine,with,Ask last.,here,2026-11-26,\n");
  CHECK_INT (qm_funder_rules_load (scratch_path (""), &rules, &error), QM_OK);
  list = qm_funder_rules_list (rules, &n);
  CHECK_INT (n, 2);
  CHECK_STRING (qm_funder_rule_text (&list[0], "de_DE.UTF-8"), "Erst fragen.");
  CHECK_STRING (qm_funder_rule_text (&list[0], "de"), "Erst fragen.");
  CHECK_STRING (qm_funder_rule_text (&list[0], "en_GB"), "Ask first.");
  CHECK_STRING (qm_funder_rule_text (&list[0], "C"), "Ask first.");
  CHECK (qm_funder_rule_text (&list[0], "den") == NULL);
  CHECK (qm_funder_rule_text (&list[0], "") == NULL);
  CHECK (qm_funder_rule_text (&list[1], "de") == NULL);
  CHECK (qm_funder_rule_funder (&list[0], "de") == NULL);
  CHECK_STRING (qm_funder_rule_funder (&list[0], "en"), "Fund");
  qm_funder_rules_free (rules);
  scratch_end ();
}

static void
test_broken (void)
{
  static const struct
  {
    const char *from, *to, *message;
  } changes[] = {
    { "a,", "A!,", "" },
    { "Fund", "", "" },
    { "EUR", "euro", "" },
    { "10.5", "30", "less than least" },
    { "10.5", "-1", "" },
    { "machine", "both", "" },
    { "with,", "maybe,", "" },
    { "Ask first.", "", "" },
    { "https://example.org/", "", "" },
    { "2026-11-26", "", "must not be empty" },
    { "2026-11-26", "2026-13-26", "" },
  };

  check_case ("broken");
  scratch_begin ();
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    {
      char text[1024];
      const char *at = strstr (ROW, changes[i].from);
      QmFunderRules *rules;
      QmError error = { 0 };

      snprintf (text, sizeof text, "%s%.*s%s%s", HEADER, (int) (at - ROW), ROW,
                changes[i].to, at + strlen (changes[i].from));
      scratch_write_text ("funders.csv", text);
      CHECK (qm_funder_rules_load (scratch_path (""), &rules, &error) != QM_OK);
      CHECK (rules == NULL);
      CHECK_INT (error.line, 2);
      CHECK_CONTAINS (error.message, changes[i].message);
    }
  scratch_end ();
}

/* Those that came with the program: each amount stands in its rule's source,
 * which a reader can open. */
static void
test_shipped (void)
{
  QmFunderRules *rules = NULL;
  QmError error = { 0 };
  const QmFunderRule *list;
  size_t n = 0;

  check_case ("shipped");
  CHECK_INT (qm_funder_rules_load (getenv ("QM_SHIPPED_DATA_DIR"), &rules,
                                   &error),
             QM_OK);
  list = qm_funder_rules_list (rules, &n);
  CHECK (n >= 10);
  for (size_t i = 0; i < n; i++)
    {
      CHECK (strncmp (list[i].source, "http", 4) == 0);
      CHECK (list[i].seen_on.day > 0);
      CHECK (qm_funder_rule_funder (&list[i], "de") != NULL);
      CHECK (qm_funder_rule_text (&list[i], "de") != NULL);
    }
  qm_funder_rules_free (rules);
}

int
main (void)
{
  test_read ();
  test_languages ();
  test_broken ();
  test_shipped ();
  return check_report ();
}
