/* SPDX-License-Identifier: Apache-2.0 */

/* What a cell says of days: one, or how long something holds. */

#include "pricing/formats/qm-csv-date.h"
#include "pricing/quotes/qm-quote-read.h"
#include "tests/pricing/samples.h"

static void
test_dates (void)
{
  static const struct
  {
    const char *text;
    QmDateOrder order;
    int year, month, day; /* year 0: none */
  } cases[] = {
    { "2026-03-31", QM_DATES_GUESS, 2026, 3, 31 },
    { "2026-03-31T10:00:00", QM_DATES_GUESS, 2026, 3, 31 },
    { "2026/3/1", QM_DATES_GUESS, 2026, 3, 1 },
    { "31.3.2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "31.03.26", QM_DATES_GUESS, 2026, 3, 31 },
    { "31/03/2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "03/31/2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "03/04/2026", QM_DATES_GUESS, 0, 0, 0 },
    { "04/04/2026", QM_DATES_GUESS, 2026, 4, 4 },
    { "03/04/2026", QM_DATES_DAY_FIRST, 2026, 4, 3 },
    { "03/04/2026", QM_DATES_MONTH_FIRST, 2026, 3, 4 },
    { "31 March 2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "Mar 31, 2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "31. März 2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "9 de marzo de 2026", QM_DATES_GUESS, 2026, 3, 9 },
    { "1er avril 2026", QM_DATES_GUESS, 2026, 4, 1 },
    { "12 janvier 2026", QM_DATES_GUESS, 2026, 1, 12 },
    { "21 settembre 2026", QM_DATES_GUESS, 2026, 9, 21 },
    { "3 maart 2026", QM_DATES_GUESS, 2026, 3, 3 },
    { "20 de fevereiro de 2026", QM_DATES_GUESS, 2026, 2, 20 },
    { "11 maja 2026 r.", QM_DATES_GUESS, 2026, 5, 11 },
    { "3 października 2026", QM_DATES_GUESS, 2026, 10, 3 },
    { "March 31st, 2026", QM_DATES_GUESS, 2026, 3, 31 },
    { "31.03.2026 14:30", QM_DATES_GUESS, 2026, 3, 31 },
    { "3/18/2026 9:30 AM", QM_DATES_GUESS, 2026, 3, 18 },
    { "1 jui 2026", QM_DATES_GUESS, 0, 0, 0 },
    { "01.04.2026 - 30.11.2027", QM_DATES_GUESS, 0, 0, 0 },
    { "01.04.2026 bis 30.11.2027", QM_DATES_GUESS, 0, 0, 0 },
    { "31.03.2026 or on request", QM_DATES_GUESS, 0, 0, 0 },
    { "2026-03-31 or later", QM_DATES_GUESS, 0, 0, 0 },
    { "2026-03-31Tomorrow", QM_DATES_GUESS, 0, 0, 0 },
    { "31 March 2026 or later", QM_DATES_GUESS, 0, 0, 0 },
    { "30 March 31 2026", QM_DATES_GUESS, 0, 0, 0 },
    { "31.2.2026", QM_DATES_GUESS, 0, 0, 0 },
    { "0/0/0", QM_DATES_GUESS, 0, 0, 0 },
    { "soon", QM_DATES_GUESS, 0, 0, 0 },
    { "", QM_DATES_GUESS, 0, 0, 0 },
    { "99999999999", QM_DATES_GUESS, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmDate date = { 0 };

      if (qm_csv_date_parse (cases[i].text, cases[i].order, &date)
          != (cases[i].year != 0))
        g_error ("“%s”", cases[i].text);
      sample_assert_date (date, cases[i].year, cases[i].month, cases[i].day);
    }
}

/* Until when, from when to when, or for how long; what goes on after that is
 * none of them. */
static void
test_terms (void)
{
  static const struct
  {
    const char *text;
    QmDateOrder order;
    const char *from, *until; /* as dates; NULL: none */
    int days, months;
  } cases[] = {
    { "31.12.2026", QM_DATES_GUESS, NULL, "2026-12-31", 0, 0 },
    { "bis zum 31.12.2026", QM_DATES_GUESS, NULL, "2026-12-31", 0, 0 },
    { "t/m 15-05-2026", QM_DATES_GUESS, NULL, "2026-05-15", 0, 0 },
    { "jusqu'au 30 juin 2026", QM_DATES_GUESS, NULL, "2026-06-30", 0, 0 },
    { "ab 1.4.2026", QM_DATES_GUESS, "2026-04-01", NULL, 0, 0 },
    { "01.04.2026 - 30.11.2027", QM_DATES_GUESS, "2026-04-01", "2027-11-30", 0,
      0 },
    { "01.04.2026–30.11.2027", QM_DATES_GUESS, "2026-04-01", "2027-11-30", 0,
      0 },
    { "2026-04-01 – 2027-11-30", QM_DATES_GUESS, "2026-04-01", "2027-11-30", 0,
      0 },
    { "01-04-2026 - 30-11-2027", QM_DATES_GUESS, "2026-04-01", "2027-11-30", 0,
      0 },
    { "vom 1.4.2026 bis 30.11.2027", QM_DATES_GUESS, "2026-04-01", "2027-11-30",
      0, 0 },
    { "from 1 April 2026 to 30 November 2027", QM_DATES_GUESS, "2026-04-01",
      "2027-11-30", 0, 0 },
    { "du 1er avril 2026 au 30 novembre 2027", QM_DATES_GUESS, "2026-04-01",
      "2027-11-30", 0, 0 },
    { "dal 1 aprile 2026 al 30 novembre 2027", QM_DATES_GUESS, "2026-04-01",
      "2027-11-30", 0, 0 },
    /* The second date tells what the numbers of the first are. */
    { "01/04/2026 - 30/11/2027", QM_DATES_GUESS, "2026-04-01", "2027-11-30", 0,
      0 },
    { "04/01/2026 to 11/30/2027", QM_DATES_GUESS, "2026-04-01", "2027-11-30", 0,
      0 },
    { "01/04/2026 - 05/06/2026", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "01/04/2026 - 05/06/2026", QM_DATES_DAY_FIRST, "2026-04-01", "2026-06-05",
      0, 0 },
    { "do 11.06.2026 r.", QM_DATES_GUESS, NULL, "2026-06-11", 0, 0 },
    /* The year, or all but the day, stands once. */
    { "01.06. bis 30.06.2026", QM_DATES_GUESS, "2026-06-01", "2026-06-30", 0,
      0 },
    { "vom 1. bis 30.6.2026", QM_DATES_GUESS, "2026-06-01", "2026-06-30", 0,
      0 },
    { "du 22/06 au 31/07/2026", QM_DATES_GUESS, "2026-06-22", "2026-07-31", 0,
      0 },
    { "dal 15 dicembre al 15 gennaio 2027", QM_DATES_GUESS, "2026-12-15",
      "2027-01-15", 0, 0 },
    { "1 - 30 June 2026", QM_DATES_GUESS, "2026-06-01", "2026-06-30", 0, 0 },
    { "June 1 - 30, 2026", QM_DATES_GUESS, "2026-06-01", "2026-06-30", 0, 0 },
    { "June 1 – July 15, 2026", QM_DATES_GUESS, "2026-06-01", "2026-07-15", 0,
      0 },
    { "03/04 - 05/06/2026", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "32.06. bis 30.07.2026", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "30 days", QM_DATES_GUESS, NULL, NULL, 30, 0 },
    { "30 Tage ab Angebotsdatum", QM_DATES_GUESS, NULL, NULL, 30, 0 },
    { "30 jours à compter de la date du devis", QM_DATES_GUESS, NULL, NULL, 30,
      0 },
    { "4 Wochen", QM_DATES_GUESS, NULL, NULL, 28, 0 },
    { "2 mesi", QM_DATES_GUESS, NULL, NULL, 0, 2 },
    { "15 dni od daty wystawienia", QM_DATES_GUESS, NULL, NULL, 15, 0 },
    /* Not clearly one of these. */
    { "30.11.2027 - 01.04.2026", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "30 June 2026 or on request", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "30 days or on request", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "bis auf Weiteres", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "31.12.2026, danach auf Anfrage", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "0 days", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "on request", QM_DATES_GUESS, NULL, NULL, 0, 0 },
    { "", QM_DATES_GUESS, NULL, NULL, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmCsvTerm term = { 0 };
      gboolean clear = qm_csv_term_parse (cases[i].text, cases[i].order, &term);
      g_autofree char *from = qm_read_date_text (term.from);
      g_autofree char *until = qm_read_date_text (term.until);

      if (clear
              != (cases[i].from != NULL || cases[i].until != NULL
                  || cases[i].days > 0 || cases[i].months > 0)
          || g_strcmp0 (from, cases[i].from) != 0
          || g_strcmp0 (until, cases[i].until) != 0
          || term.days != cases[i].days || term.months != cases[i].months)
        g_error ("“%s”: %s to %s, %d days", cases[i].text, from, until,
                 term.days);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/csv/dates", test_dates);
  g_test_add_func ("/csv/terms", test_terms);
  return g_test_run ();
}
