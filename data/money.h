/* SPDX-License-Identifier: Apache-2.0 */

/* Money as integer minor units, and calendar dates of limited precision.
 *
 * Amounts are never floating point while they are stored, added or compared;
 * a double appears only where a time or a rate multiplies it.
 */

#ifndef QM_DATA_MONEY_H
#define QM_DATA_MONEY_H

#include <stdbool.h>
#include <stdint.h>

/* An amount in the minor unit of its ISO 4217 currency (cents for USD). */
typedef struct QmMoney
{
  int64_t minor;
  char currency[4];
} QmMoney;

/* A price can be finer than the minor unit (21.957642 USD an hour), so prices
 * are kept in millionths of the major unit. */
#define QM_MICROS_PER_UNIT 1000000

/* A date of which the day, or the month and the day, may be unknown (0).
 * `year` 0 means that nothing is known. */
typedef struct QmDate
{
  int year;
  int month;
  int day;
} QmDate;

/* Number of decimals of the minor unit of an ISO 4217 code: 2 for most, 0 for
 * JPY, KRW and their like, 3 for KWD and its like. */
int qm_currency_decimals (const char *currency);

/* True for three upper-case ASCII letters. */
bool qm_currency_valid (const char *currency);

/* Rounds micros of the major unit to the minor unit, halves away from zero. */
QmMoney qm_money_from_micros (int64_t micros, const char *currency);

/* The amount in major units, for arithmetic with rates and times. */
double qm_money_to_double (QmMoney money);

/* Nearest amount to `major` units.  Values beyond the range of int64 are
 * clamped; NaN gives 0. */
QmMoney qm_money_from_double (double major, const char *currency);

/* Reads a plain decimal ("1499.99", at most 6 decimals, no exponent, no
 * grouping, "." as the decimal point) into micros.  Returns false on anything
 * else or on overflow, leaving *micros as it was. */
bool qm_micros_parse (const char *text, int64_t *micros);

/* Reads "YYYY", "YYYY-MM" or "YYYY-MM-DD".  Returns false, leaving *date as it
 * was, where that is not a date of the Gregorian calendar from 1970 to 9999. */
bool qm_date_parse (const char *text, QmDate *date);

/* Compares for sorting; an unknown month or day counts as the first. */
int qm_date_compare (QmDate a, QmDate b);

/* Whole days from `from` to `to`, unknown parts counted as the first; negative
 * where `to` is earlier.  Both need a year. */
int qm_date_days_between (QmDate from, QmDate to);

/* Today in UTC, or the day of SOURCE_DATE_EPOCH, seconds since 1970, where the
 * environment has that: so that a document comes out the same again
 * (reproducible-builds.org/specs/source-date-epoch).  Year 0 where there is no
 * clock. */
QmDate qm_date_today (void);

#endif
