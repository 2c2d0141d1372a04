/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-request.h"

#include "data/architecture.h"
#include "pricing/qm-format.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* The first with FP8, Ada's, and those that scale rows, Hopper's. */
#define FP8_ARCHITECTURE 89
#define FP8_ROWS         9

/* What is looked at. */
typedef struct
{
  const QmRequest *request;
  const QmCatalog *catalog;
  const QmQuoteComparison *comparison;
  const QmComparedQuote *compared;
  guint index;
} Check;

static void
answer_clear (gpointer data)
{
  g_free (((QmAnswer *) data)->text);
}

/* `text` is taken over. */
static QmAnswer
answer (gboolean holds, char *text)
{
  return (QmAnswer){ .state = holds ? QM_ANSWER_YES : QM_ANSWER_NO,
                     .text = text };
}

static QmAnswer
untold (void)
{
  return (QmAnswer){ .state = QM_ANSWER_UNTOLD };
}

/* "48 GiB", of a format with a number.  (transfer full) */
static char *
number_text (const char *format, double value)
{
  g_autofree char *number = qm_format_number (value, value < 100 ? 1 : 0);

  return g_strdup_printf (format, number);
}

/* --- the words of lines --- */

/* The sum of what a pattern finds in all lines that count, as `amount` makes of
 * a match; NaN where it finds nothing. */
static double
find_all (const QmQuote *quote,
          const GRegex *regex,
          double (*amount) (const GMatchInfo *match, const QmQuoteLine *line),
          gboolean greatest)
{
  double found = (double) NAN;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
      g_autoptr (GMatchInfo) match = NULL;

      if (line->description == NULL
          || (line->role != QM_LINE_QUOTED && line->role != QM_LINE_PART))
        continue;
      for (g_regex_match (regex, line->description, 0, &match);
           g_match_info_matches (match); g_match_info_next (match, NULL))
        {
          double value = amount (match, line);

          if (!(value > 0))
            continue;
          found = !qm_known (found) ? value
                  : greatest        ? fmax (found, value)
                                    : found + value;
        }
    }
  return found;
}

static double
group (const GMatchInfo *match, int index)
{
  g_autofree char *text = g_match_info_fetch (match, index);

  return text != NULL && *text != '\0' ? g_ascii_strtod (text, NULL)
                                       : (double) NAN;
}

/* "16 x 64 GB DDR5", "512GB RAM". */
static double
memory_of (const GMatchInfo *match, const QmQuoteLine *line)
{
  double times = group (match, 1);
  double size = group (match, 2);
  g_autofree char *unit = g_match_info_fetch (match, 3);
  double pieces = line->role == QM_LINE_QUOTED
                          && line->quantity_micros > QM_MICROS_PER_UNIT
                          && line->item == NULL
                      ? (double) line->quantity_micros / QM_MICROS_PER_UNIT
                      : 1;

  if (unit != NULL && g_ascii_toupper (*unit) == 'T')
    size *= 1024;
  return size * (qm_known (times) ? times : 1) * pieces;
}

/* "5 years", "36 months". */
static double
years_of (const GMatchInfo *match, const QmQuoteLine *line)
{
  double n = group (match, 1);
  g_autofree char *unit = g_match_info_fetch (match, 2);

  return unit != NULL && g_ascii_tolower (*unit) == 'm' ? n / 12 : n;
}

static double
host_memory_of (const QmQuote *quote)
{
  static GRegex *regex;

  if (g_once_init_enter (&regex))
    g_once_init_leave (
        &regex,
        g_regex_new ("(?:\\b(\\d{1,2}) ?[x×*] ?)?(\\d{1,5}) ?(GI?B|TI?B|GO|TO)"
                     "[ ,-]{0,3}(?:\\w+[ -]){0,2}?"
                     "(?:ECC|REG|R?DIMM|DDR[45]|RAM|memory|m[ée]moire|memoria|"
                     "Arbeitsspeicher|Hauptspeicher|geheugen)",
                     G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL));
  return find_all (quote, regex, memory_of, FALSE);
}

static double
warranty_of (const QmQuote *quote)
{
  static GRegex *regex;

  if (g_once_init_enter (&regex))
    g_once_init_leave (
        &regex,
        g_regex_new ("\\b(\\d{1,2})[ -]?(years?|yrs?|jahre?n?|ans?|años?|anni|"
                     "anos?|jaar|lata?|months?|monate?|mois|meses|mesi)\\b",
                     G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL));
  return find_all (quote, regex, years_of, TRUE);
}

/* --- each requirement --- */

/* The only type of GPU that is offered; NULL. */
static const QmGpu *
gpu_of (const Check *check)
{
  g_autoptr (GArray) offers =
      qm_quote_offers (check->catalog, check->compared->quote, NULL);
  const QmGpu *found = NULL;

  for (guint i = 0; i < offers->len; i++)
    {
      const QmQuoteOffer *offer = &g_array_index (offers, QmQuoteOffer, i);
      const QmGpu *gpu = qm_catalog_gpu (check->catalog, offer->item);

      if (offer->variant || gpu == NULL)
        continue;
      if (found != NULL && found != gpu)
        return NULL;
      found = gpu;
    }
  return found;
}

static QmAnswer
check_rate (const Check *check, const QmNeed *need)
{
  const QmComparedTraining *training;
  const QmRequestedTraining *requested =
      &g_array_index (check->request->trainings, QmRequestedTraining,
                      need->training);
  double days, rate;

  if (need->training >= (int) check->comparison->trainings->len)
    return untold ();
  training = &g_array_index (check->comparison->trainings, QmComparedTraining,
                             need->training);
  days = training->times[check->index].days;
  if (!qm_known (days))
    return untold ();
  rate =
      (double) requested->model->recipe.batch_size
      * (double) requested->model->recipe.steps
      * (requested->tokens ? (double) requested->model->recipe.sequence_length
                           : 1)
      * check->request->time_factor / (days * 86400);
  /* Translators: a rate that was computed from a known or predicted time. */
  return answer (rate >= need->least, number_text (_ ("about %s"), rate));
}

/* Of other makers' it is not known. */
static QmAnswer
check_fp8 (const QmGpu *gpu, gboolean rows)
{
  const int architecture = qm_gpu_architecture (gpu);

  if (architecture == 0)
    return untold ();
  return answer (rows ? architecture / 10 == FP8_ROWS
                      : architecture >= FP8_ARCHITECTURE,
                 NULL);
}

static QmAnswer
check_gpu (const Check *check, const QmNeed *need)
{
  const QmGpu *gpu = gpu_of (check);

  if (gpu == NULL)
    return untold ();
  switch (need->kind)
    {
    case QM_NEED_GPU_MEMORY:
      return answer (gpu->memory_gib >= need->least,
                     number_text (_ ("%s GiB"), gpu->memory_gib));
    case QM_NEED_PRECISION:
      if (need->least == QM_PRECISION_FP8)
        return check_fp8 (gpu, need->rows);
      return need->least == QM_PRECISION_BF16
                 ? answer (gpu->bf16 != QM_NO && gpu->fp16_tflops > 0, NULL)
                 : answer (gpu->fp16_tflops > 0, NULL);
    case QM_NEED_LINK:
    default:
      return qm_known (gpu->pcie_generation)
                 ? answer (gpu->pcie_generation >= need->least,
                           number_text ("PCIe %s", gpu->pcie_generation))
                 : untold ();
    }
}

/* What the GPUs alone may draw is more than is allowed: no.  Else the quote has
 * to tell it. */
static QmAnswer
check_power (const Check *check, const QmNeed *need)
{
  const QmGpu *gpu = gpu_of (check);
  double watts;

  if (gpu == NULL || !qm_known (gpu->tdp_w))
    return untold ();
  watts = gpu->tdp_w * (double) check->compared->gpus
          / (double) MAX (check->compared->machines, 1);
  if (watts <= need->least)
    return untold ();
  /* Translators: a power. */
  return answer (FALSE, number_text (_ ("the GPUs alone: %s W"), watts));
}

/* A number from the words of the quote against the least one. */
static QmAnswer
check_number (double found, const QmNeed *need, const char *format)
{
  return qm_known (found)
             ? answer (found >= need->least, number_text (format, found))
             : untold ();
}

static QmAnswer
check_amount (const Check *check, gint64 minor)
{
  return minor != QM_AMOUNT_UNSTATED
             ? answer (TRUE,
                       qm_minor_for_people (minor,
                                            check->comparison->terms.currency))
             : untold ();
}

static QmAnswer
check_validity (const Check *check)
{
  const QmQuote *quote = check->compared->quote;
  QmDate day = qm_quote_day (quote);
  int days;

  if (quote->valid_until.year == 0 || day.year == 0)
    return untold ();
  days = qm_date_days_between (day, quote->valid_until);
  return answer (check->compared->holds
                     && days >= check->request->terms.valid_days,
                 number_text (days == 1 ? _ ("%s day") : _ ("%s days"), days));
}

static QmAnswer
check_need (const Check *check, const QmNeed *need)
{
  const QmComparedQuote *compared = check->compared;

  switch (need->kind)
    {
    case QM_NEED_MACHINES:
      return answer ((double) compared->machines >= need->least,
                     number_text ("%s", (double) compared->machines));
    case QM_NEED_GPU_MEMORY:
    case QM_NEED_PRECISION:
    case QM_NEED_LINK:
      return check_gpu (check, need);
    case QM_NEED_RATE:
      return check_rate (check, need);
    case QM_NEED_HOST_MEMORY:
      return check_number (host_memory_of (compared->quote), need,
                           _ ("%s GiB"));
    case QM_NEED_POWER:
      return check_power (check, need);
    case QM_NEED_WARRANTY:
      return check_number (warranty_of (compared->quote), need, _ ("%s years"));
    case QM_NEED_NET:
      return compared->net_derived ? untold ()
                                   : check_amount (check, compared->net_minor);
    case QM_NEED_TAX:
      return compared->net_derived || compared->gross_derived
                 ? untold ()
                 : check_amount (check, compared->tax_minor);
    case QM_NEED_SHIPPING:
      return compared->parts[QM_PART_SHIPPING].state != QM_STATE_MISSING
                 ? answer (TRUE, NULL)
                 : untold ();
    case QM_NEED_VALIDITY:
    default:
      return check_validity (check);
    }
}

GArray *
qm_request_check (const QmRequest *request,
                  const QmCatalog *catalog,
                  const QmQuoteComparison *comparison,
                  guint quote)
{
  Check check = { .request = request,
                  .catalog = catalog,
                  .comparison = comparison,
                  .index = quote };
  GArray *answers;

  g_return_val_if_fail (request != NULL && catalog != NULL, NULL);
  g_return_val_if_fail (comparison != NULL && quote < comparison->n_quotes,
                        NULL);

  check.compared = &comparison->quotes[quote];
  answers = g_array_new (FALSE, FALSE, sizeof (QmAnswer));
  g_array_set_clear_func (answers, answer_clear);
  for (guint i = 0; i < request->needs->len; i++)
    {
      QmAnswer one =
          check_need (&check, &g_array_index (request->needs, QmNeed, i));

      g_array_append_val (answers, one);
    }
  return answers;
}

gboolean
qm_answers_are_complete (const GArray *answers)
{
  g_return_val_if_fail (answers != NULL, FALSE);

  for (guint i = 0; i < answers->len; i++)
    if (g_array_index (answers, QmAnswer, i).state != QM_ANSWER_YES)
      return FALSE;
  return TRUE;
}
