/* SPDX-License-Identifier: Apache-2.0 */

/* Sentences about the quotes that an advice rests on. */

#include "config.h"

#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* No more lines of quotes than this are told one by one. */
#define MAX_LINES 5

static char *
format_micros (gint64 micros)
{
  return qm_format_money ((double) micros / QM_MICROS_PER_UNIT, "USD", FALSE);
}

static char *
basis_of_whole (const QmOffer *offer)
{
  g_autofree char *tax = NULL;

  if (offer->tax_micros <= 0)
    /* Translators: "Delta Computers, quote Q-17". */
    return g_strdup_printf (_ ("The price is that of %s, with everything that "
                               "is on it."),
                            offer->price.source);
  tax = format_micros (offer->tax_micros);
  /* Translators: "Delta Computers, quote Q-17", an amount. */
  return g_strdup_printf (_ ("The price is that of %s, with everything that is "
                             "on it but a tax of %s for each machine."),
                          offer->price.source, tax);
}

char *
qm_prose_price_basis (const QmCandidate *candidate)
{
  const QmOffer *gpu, *machine;
  g_autofree char *amount = NULL;
  g_autofree char *date = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  gpu = candidate->gpu_offer;
  machine = candidate->machine_offer;
  if (qm_candidate_is_whole (candidate))
    return basis_of_whole (machine);
  if (gpu != NULL && machine != NULL)
    /* Translators: "Delta Computers, quote Q-17", another quote. */
    return g_strdup_printf (_ ("The GPUs cost what %s says, the machine what "
                               "%s says."),
                            gpu->price.source, machine->price.source);
  if (machine != NULL)
    /* Translators: "Delta Computers, quote Q-17". */
    return g_strdup_printf (_ ("The machine costs what %s says."),
                            machine->price.source);
  if (gpu == NULL || candidate->machine_price == NULL)
    return NULL;
  amount = qm_format_price (candidate->machine_price, FALSE);
  date = qm_format_date (candidate->machine_price->observed_on);
  /* Translators: "Delta Computers, quote Q-17", "GPU server for 8 GPUs", its
   * price, a date. */
  return g_strdup_printf (
      _ ("The GPUs cost what %s says; it has no machine for "
         "them, so the catalog’s “%s” was added (%s, %s)."),
      gpu->price.source, qm_candidate_machine_name (candidate), amount, date);
}

static gboolean
is_filtered_out (const QmQuestion *question, const QmOffer *offer)
{
  gboolean counted = question->counts == NULL || !offer->whole;

  if (question->gpus != NULL
      && !g_strv_contains ((const char *const *) question->gpus,
                           offer->price.item))
    return TRUE;
  for (guint i = 0; !counted && i < question->counts->len; i++)
    counted = g_array_index (question->counts, int, i) == offer->price.gpus;
  if (!counted)
    return TRUE;
  return offer->whole
         && (question->kinds
             & (offer->kind == QM_MACHINE_DESKTOP ? QM_KINDS_DESKTOP
                                                  : QM_KINDS_SERVER))
                == 0;
}

/* What an offer is of: "4 h100-80gb-sxm", or "0 ..." for GPUs alone. */
static char *
key_of_offer (const char *gpu, int gpus)
{
  return g_strdup_printf ("%d %s", gpus, gpu);
}

/* The keys of all candidates with a time. */
static GHashTable *
timed_keys (const QmAdvice *advice)
{
  GHashTable *keys =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (!candidates[i].here && qm_known (candidates[i].days))
      {
        g_hash_table_add (keys, key_of_offer (candidates[i].gpu->id,
                                              candidates[i].gpus));
        g_hash_table_add (keys, key_of_offer (candidates[i].gpu->id, 0));
      }
  return keys;
}

static char *
describe_untimed (const QmOffer *offer)
{
  if (!offer->whole)
    /* Translators: "NVIDIA B200, 8 pieces", "Delta Computers, quote Q-17". */
    return g_strdup_printf (_ ("“%s” (%s) is not compared: no training time of "
                               "that GPU is known. Benchmark it, or ask for "
                               "predictions."),
                            offer->description, offer->price.source);
  /* Translators: "GPU server with 8 x B200", "Delta Computers, quote Q-17", a
   * number of GPUs. */
  return g_strdup_printf (
      ngettext ("“%s” (%s) is not compared: no training time of %d such GPU "
                "is known. Benchmark it, or ask for predictions.",
                "“%s” (%s) is not compared: no training time of %d such GPUs "
                "is known. Benchmark it, or ask for predictions.",
                (gulong) offer->price.gpus),
      offer->description, offer->price.source, offer->price.gpus);
}

GStrv
qm_prose_untimed_quotes (const QmAdvice *advice, const QmQuestion *question)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GHashTable) keys = NULL;
  const QmOffer *offers;
  guint n = 0;

  g_return_val_if_fail (advice != NULL && question != NULL, NULL);

  if (question->offers == NULL)
    return g_strv_builder_end (builder);
  keys = timed_keys (advice);
  offers = qm_offers_list (question->offers, &n);
  for (guint i = 0; i < n; i++)
    {
      const QmOffer *offer = &offers[i];
      char *key;
      char *text;

      if (!offer->is_gpu || is_filtered_out (question, offer)
          || (!offer->holds && !question->expired_offers))
        continue;
      key = key_of_offer (offer->price.item,
                          offer->whole ? offer->price.gpus : 0);
      if (!g_hash_table_add (keys, key))
        continue;
      text = describe_untimed (offer);
      g_strv_builder_add (builder, text);
      g_free (text);
    }
  return g_strv_builder_end (builder);
}

void
qm_prose_note_quotes (GStrvBuilder *builder,
                      const QmAdvice *advice,
                      const QmQuestion *question)
{
  g_auto (GStrv) untimed = qm_prose_untimed_quotes (advice, question);
  const char *const *left_out = NULL;
  guint n;

  if (question->offers == NULL)
    return;
  g_strv_builder_addv (builder, (const char **) untimed);
  left_out = qm_offers_left_out (question->offers);
  n = g_strv_length ((GStrv) left_out);
  for (guint i = 0; i < n && i < MAX_LINES; i++)
    {
      g_autofree char *text =
          /* Translators: a line of a quote and why it could not count. */
          g_strdup_printf (_ ("Does not count: %s"), left_out[i]);

      g_strv_builder_add (builder, text);
    }
  if (n > MAX_LINES)
    {
      g_autofree char *text = g_strdup_printf (
          ngettext ("%u more line of your quotes does not count.",
                    "%u more lines of your quotes do not count.",
                    n - MAX_LINES),
          n - MAX_LINES);

      g_strv_builder_add (builder, text);
    }
}
