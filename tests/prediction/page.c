/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/page.h"

#include "data/text.h"
#include "tests/prediction/model-errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "<!-- made: "
#define END   "<!-- end -->"

/* Standard deviations of a normal distribution that nine of ten are within. */
#define NINE_OF_TEN 1.6449

typedef struct Page
{
  const Rates *rates;
  const QmCalibration *calibration, *prior;
  const double *fitted, *calibrated;
  const LeftOut *left_out;
  const Clusters *clusters;
  const Basis *basis; /* of the calibration */
} Page;

static Summary
summary_of (const Page *page, const double *errors, const Group *group)
{
  return summarize (page->rates, errors, NULL, page->calibration, group);
}

static Summary
summary_without (const Page *page, int without, const Group *group)
{
  return summarize (page->rates, page->left_out->errors[without],
                    page->left_out->left[without], page->calibration, group);
}

static void
write_sizes (FILE *out, const Summary *is)
{
  fprintf (out, " %.1f, %.0f, %.0f |", 100 * is->half, 100 * is->most,
           100 * is->all);
}

/* Of a level, or a part of it. */
static void
write_level (FILE *out, const Page *page, const Group *group, const char *name)
{
  Summary is = summary_of (page, page->fitted, group);

  fprintf (out, "| %s (%zu) |", name, is.n);
  write_sizes (out, &is);
  for (int k = 0; k < N_WITHOUT; k++)
    {
      is = summary_without (page, k, group);
      write_sizes (out, &is);
    }
  for (int k = 0; k < N_WITHOUT; k++)
    {
      is = summary_without (page, k, group);
      fprintf (out, "%s %.1f, %.0f", k > 0 ? ";" : "", 100 * is.half_of_sources,
               100 * is.most_of_sources);
    }
  is = summary_without (page, WITHOUT_SOURCE, group);
  fprintf (out, " | %.0f, %.0f, %.0f | %.2f |\n", 100 * is.covered,
           100 * summary_without (page, WITHOUT_GPU, group).covered,
           100 * summary_without (page, WITHOUT_MODEL, group).covered,
           is.width);
}

static void
write_levels (FILE *out, const Page *page)
{
  fputs ("| level (rates) | fitted | without its source | without its GPU | "
         "without its model | without, sources alike | covered | width |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
         out);
  for (size_t i = 0; i < page->calibration->n_levels; i++)
    {
      Group group = { .level = page->calibration->levels[i].name };

      write_level (out, page, &group, group.level);
      if (strcmp (group.level, "engine") != 0)
        continue;
      group.key = place_of;
      group.value = "not offloaded";
      write_level (out, page, &group, "… not offloaded");
      group.value = "offloaded";
      write_level (out, page, &group, "… offloaded");
    }
  write_level (out, page,
               &(const Group){ .key = aim_of, .value = "tuned, cuda" },
               "tuned and cuda");
  write_level (out, page, &(const Group){ .level = NULL }, "all");
}

static void
write_order (FILE *out, const Page *page)
{
  fputs ("| predicted without its | pairs | in their order |\n"
         "| --- | --- | --- |\n",
         out);
  for (int k = 0; k < N_WITHOUT; k++)
    {
      Order order = order_of (page->rates, page->left_out->errors[k]);

      fprintf (out, "| %s | %zu | %zu (%.1f %%) |\n", without_name (k),
               order.pairs, order.right,
               100 * (double) order.right / (double) order.pairs);
    }
}

/* What errors of one source and model do not share, as shares of the variance
 * that the interval of their level is for. */
static void
write_common (FILE *out, const Page *page)
{
  fputs ("| level | variance, boards and cards | two types of GPU (pairs) | "
         "one type (pairs) |\n"
         "| --- | --- | --- | --- |\n",
         out);
  for (size_t i = 0; i < page->calibration->n_levels; i++)
    {
      const QmLevel *level = &page->calibration->levels[i];
      double boards = level->constants[QM_CONSTANT_SPREAD] / NINE_OF_TEN;
      double cards = level->constants[QM_CONSTANT_SPREAD_CARDS] / NINE_OF_TEN;

      for (int two = 1; two >= 0; two--)
        {
          Apart apart =
              apart_of (page->rates, page->left_out->errors[WITHOUT_SOURCE],
                        page->left_out->left[WITHOUT_SOURCE], page->calibration,
                        level->name, two == 1);

          if (two == 1)
            fprintf (out, "| %s | %.4f, %.4f |", level->name, boards * boards,
                     cards * cards);
          if (apart.pairs > 0)
            fprintf (out, " %.2f (%zu) |", apart.share, apart.pairs);
          else
            fputs (" |", out);
        }
      fputs ("\n", out);
    }
}

/* By a key and by level, of what was left out. */
static void
write_keys (
    FILE *out, const Page *page, KeyOf key, const char *name, int without)
{
  fprintf (out,
           "| %s | level | rates | half | nine of ten | worst | mean |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n",
           name);
  for (size_t i = 0; i < page->rates->n; i++)
    for (size_t j = 0;
         is_first (page->rates, key, i) && j < page->calibration->n_levels; j++)
      {
        const Group group = { .level = page->calibration->levels[j].name,
                              .key = key,
                              .value = key (&page->rates->rates[i]) };
        Summary is = summary_without (page, without, &group);

        if (is.n > 0)
          fprintf (out, "| %s | %s | %zu | %.1f | %.1f | %.1f | %+.1f |\n",
                   group.value, group.level, is.n, 100 * is.half, 100 * is.most,
                   100 * is.all, 100 * is.bias);
      }
}

static void
write_sources (FILE *out, const Page *page)
{
  write_keys (out, page, source_of, "source", WITHOUT_SOURCE);
}

static void
write_gpus (FILE *out, const Page *page)
{
  write_keys (out, page, gpu_of, "GPU", WITHOUT_GPU);
}

static void
write_families (FILE *out, const Page *page)
{
  write_keys (out, page, family_of, "family", WITHOUT_SOURCE);
}

/* What is held back, by model. */
static void
write_held (FILE *out, const Page *page)
{
  fputs ("| on an H100 | level | results | half | worst | mean | calibrated: "
         "half | worst | mean |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
         out);
  for (size_t j = 0; j < page->calibration->n_levels; j++)
    for (size_t i = 0; i <= page->rates->n; i++)
      {
        bool all = i == page->rates->n;
        const Group group = { .level = page->calibration->levels[j].name,
                              .key = all ? NULL : model_of,
                              .value =
                                  all ? "all" : page->rates->rates[i].model,
                              .held = HELD_RESULT };
        Summary is, known;

        if (!all && !is_first (page->rates, model_of, i))
          continue;
        is = summary_of (page, page->fitted, &group);
        known = summary_of (page, page->calibrated, &group);
        if (is.n > 0)
          fprintf (out,
                   "| %s | %s | %zu | %.1f | %.1f | %+.1f | %.1f | %.1f | "
                   "%+.1f |\n",
                   group.value, group.level, is.n, 100 * is.half, 100 * is.all,
                   100 * is.bias, 100 * known.half, 100 * known.all,
                   100 * known.bias);
      }
}

/* In brackets what no rate moved from where it began. */
static void
write_value (FILE *out, double value, double prior)
{
  bool moved = fabs (value / prior - 1) > 1e-3;

  fprintf (out, moved ? " %.3g |" : " (%.3g) |", value);
}

static const char *const meanings[QM_N_CONSTANTS] = {
  [QM_CONSTANT_PRODUCT_16] = "e of products of 16 bits",
  [QM_CONSTANT_PRODUCT_TF32] = "e of products of TF32",
  [QM_CONSTANT_PRODUCT_FP32] = "e of products of fp32",
  [QM_CONSTANT_MATMUL] = "e of products of unfused attention",
  [QM_CONSTANT_ATTENTION] = "e of fused attention",
  [QM_CONSTANT_ATTENTION_BACKWARD] = "… backward",
  [QM_CONSTANT_ATTENTION_HOPPER] = "what is left of it on Hopper",
  [QM_CONSTANT_ATTENTION_MASKED] =
      "… and of that where kernels are given a mask",
  [QM_CONSTANT_ATTENTION_TF32] = "what is left of it in TF32, both ways",
  [QM_CONSTANT_ATTENTION_DROPOUT] = "times longer, fused attention that drops",
  [QM_CONSTANT_EXPERTS] =
      "times longer, experts whose products are not of 16 bits",
  [QM_CONSTANT_LOADS] = "share of loads that products reach",
  [QM_CONSTANT_UNALIGNED] = "times longer, products that are padded",
  [QM_CONSTANT_INNER] = "k₀ of products",
  [QM_CONSTANT_HEAD] = "d₀ of heads",
  [QM_CONSTANT_SEQUENCE] = "s₀ of sequences",
  [QM_CONSTANT_SEQUENCE_UNMASKED] = "… without a mask on Hopper",
  [QM_CONSTANT_BANDWIDTH] = "e′, share of the memory's rate",
  [QM_CONSTANT_SATURATION] = "s, seconds for a byte besides",
  [QM_CONSTANT_SHARPNESS] = "p; 1: nothing is hidden",
  [QM_CONSTANT_DUAL_SCAN] = "Mamba-2’s products of chunks, as a share",
  [QM_CONSTANT_DUAL_SCAN_BACKWARD] = "… of their gradients",
  [QM_CONSTANT_HOST_UPDATE] =
      "u, times that an update by the host takes longer than ours",
  [QM_CONSTANT_COPIES_HIDDEN] = "h, share of the shorter that the longer hides",
  [QM_CONSTANT_LAUNCH] = "launch, s",
  [QM_CONSTANT_DISPATCH] = "s of the host for a call",
  [QM_CONSTANT_CAST] = "bytes a parameter and pass for casts",
  [QM_CONSTANT_NORM] = "bytes of norms forward, times",
  [QM_CONSTANT_NORM_BACKWARD] = "… backward",
  [QM_CONSTANT_RMS_NORM] = "… of norms over squares, without a kernel",
  [QM_CONSTANT_GATE] = "… of gates, without a kernel",
  [QM_CONSTANT_GELU_NEW] = "… of gelu_new, without a kernel",
  [QM_CONSTANT_SOFTMAX] = "… of unfused softmax",
  [QM_CONSTANT_CROSS_ENTROPY] = "… of the loss",
  [QM_CONSTANT_ROTARY] = "… of rotary embeddings, of what turns",
  [QM_CONSTANT_ROTARY_WHOLE] = "… of whole heads of which a part turns",
  [QM_CONSTANT_CONVOLUTION] = "… of depthwise convolutions",
  [QM_CONSTANT_CONVOLUTION_BACKWARD] = "… backward",
  [QM_CONSTANT_CONVOLUTION_FP32] = "… forward in fp32, times that",
  [QM_CONSTANT_CONVOLUTION_BACKWARD_FP32] = "… backward in fp32, times that",
  [QM_CONSTANT_SCAN] = "… of scans",
  [QM_CONSTANT_SCAN_BACKWARD] = "… backward",
  [QM_CONSTANT_EXPONENTIALS] = "exponentials of a scan, for a state",
  [QM_CONSTANT_EXPONENTIALS_BACKWARD] = "… backward",
  [QM_CONSTANT_UPDATE] = "… of updates",
  [QM_CONSTANT_OTHER] = "… of all else",
  [QM_CONSTANT_SPREAD] = "interval: times or divided by exp of it",
  [QM_CONSTANT_SPREAD_CARDS] = "… on cards",
  [QM_CONSTANT_RESIDUAL_MODEL] = "of an error: its model's, as a deviation",
  [QM_CONSTANT_RESIDUAL_GENERATION] = "… its model's on a generation of GPUs",
  [QM_CONSTANT_RESIDUAL_TYPE] = "… its model's on a type",
  [QM_CONSTANT_RESIDUAL_SEVERAL] = "… its model's on a number of several",
  [QM_CONSTANT_RESIDUAL_RATE] = "… the rate's own",
  [QM_CONSTANT_RESIDUAL_SETTINGS] = "… of settings that are not the fastest",
};

static void
write_constants (FILE *out, const Page *page)
{
  const QmCalibration *is = page->calibration, *was = page->prior;

  fputs ("| constant | meaning |", out);
  for (size_t i = 0; i < is->n_levels; i++)
    fprintf (out, " %s |", is->levels[i].name);
  fputs ("\n| --- | --- |", out);
  for (size_t i = 0; i < is->n_levels; i++)
    fputs (" --- |", out);
  fputs ("\n", out);
  for (int j = 0; j < QM_N_CONSTANTS; j++)
    {
      fprintf (out, "| %s | %s |", qm_constant_name ((QmConstant) j),
               meanings[j]);
      for (size_t i = 0; i < is->n_levels; i++)
        write_value (out, is->levels[i].constants[j],
                     was->levels[i].constants[j]);
      fputs ("\n", out);
    }
}

static void
write_generations (FILE *out, const Page *page)
{
  const QmCalibration *is = page->calibration, *was = page->prior;

  fputs ("| compute capability | pJ for an operation | highest clock |\n"
         "| --- | --- | --- |\n",
         out);
  for (size_t i = 0; i < is->n_generations; i++)
    {
      fprintf (out, "| %d.%d |", is->generations[i].architecture / 10,
               is->generations[i].architecture % 10);
      write_value (out, is->generations[i].joules_per_flop * 1e12,
                   was->generations[i].joules_per_flop * 1e12);
      write_value (out, is->generations[i].clock, was->generations[i].clock);
      fputs ("\n", out);
    }
}

static void
write_others (FILE *out, const Page *page)
{
  const QmCalibration *is = page->calibration, *was = page->prior;
  const struct
  {
    const char *meaning;
    double value, prior;
  } rows[] = {
    { "joules of a TF32 operation, of one of 16 bits", is->power.tf32,
      was->power.tf32 },
    { "joules of an fp32 operation, of one of 16 bits", is->power.fp32,
      was->power.fp32 },
    { "j′, pJ for a byte", is->power.joules_per_byte * 1e12,
      was->power.joules_per_byte * 1e12 },
    { "k₁, a product with that K draws twice as much", is->power.inner,
      was->power.inner },
    { "g, how what is drawn grows with the clock", is->power.exponent,
      was->power.exponent },
    { "base, share of the limit without any work", is->power.base,
      was->power.base },
    { "products of GPUs with half a rate, of others'", is->half_rate,
      was->half_rate },
    { "share of NVLink's rate that collectives reach", is->nvlink,
      was->nvlink },
    { "share of PCIe's rate that collectives reach, GPU to GPU", is->pcie,
      was->pcie },
    { "… through the host's memory", is->pcie_host, was->pcie_host },
    { "latency of a collective, µs", is->latency * 1e6, was->latency * 1e6 },
    { "share of a pass that hides exchange", is->hidden, was->hidden },
    { "how far GPUs of a type are apart, as a deviation, %", is->differ * 100,
      was->differ * 100 },
    { "c, share of PCIe's rate that copies to the host reach", is->host.copies,
      was->host.copies },
    { "add, ps for a gradient that the host adds", is->host.add * 1e12,
      was->host.add * 1e12 },
    { "adam, ps for a parameter that the host updates", is->host.adam * 1e12,
      was->host.adam * 1e12 },
  };

  fputs ("| of all levels | |\n| --- | --- |\n", out);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    {
      fprintf (out, "| %s |", rows[i].meaning);
      write_value (out, rows[i].value, rows[i].prior);
      fputs ("\n", out);
    }
}

/* What no rate moved, and what it rests on instead. */
static void
write_assumed (FILE *out, const Page *page)
{
  const Basis *basis = page->basis;

  fputs ("| of | constant | value | rests on |\n| --- | --- | --- | --- |\n",
         out);
  for (size_t i = 0; i < basis->n; i++)
    {
      const BasisRow *row = &basis->rows[i];

      if (strcmp (row->basis, BASIS_FIT) != 0)
        fprintf (out, "| %s | %s | %.4g | %s |\n",
                 strcmp (row->name, "all") == 0 ? row->scope : row->name,
                 row->constant, row->value, row->basis);
    }
}

/* What rates on other places tell of those of a model: of rates that were
 * fitted to, and of what was held back. */
static void
write_known (FILE *out, const Page *page)
{
  static const struct
  {
    const char *name;
    Held held;
  } kinds[] = { { "fitted", NOT_HELD },
                { "another GPU", HELD_RESULT },
                { "other places", HELD_TIME } };
  double after[MAX_RATES], left[MAX_RATES], before[MAX_RATES];

  fputs ("| level | rates of known models | before: mean | half | worst | "
         "after: mean | half | worst | covered | width |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
         out);
  known_errors (page->rates, page->calibration, page->fitted, before, after,
                left);
  for (size_t i = 0; i < page->calibration->n_levels; i++)
    for (size_t j = 0; j < sizeof kinds / sizeof kinds[0]; j++)
      {
        const Group group = { .level = page->calibration->levels[i].name,
                              .held = kinds[j].held };
        Summary was =
            summarize (page->rates, before, left, page->calibration, &group);
        Summary is =
            summarize (page->rates, after, left, page->calibration, &group);

        if (is.n > is.missing)
          fprintf (out,
                   "| %s | %zu, %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | "
                   "%.0f | %.2f |\n",
                   group.level, is.n - is.missing, kinds[j].name,
                   100 * was.size, 100 * was.half, 100 * was.all, 100 * is.size,
                   100 * is.half, 100 * is.all, 100 * is.covered, is.width);
      }
}

static void
write_clusters (FILE *out, const Page *page)
{
  clusters_write (out, page->clusters);
}

static void
write_bert (FILE *out, const Page *page)
{
  clusters_write_bert (out, page->rates->catalog, page->calibration);
}

static const struct
{
  const char *name;
  void (*write) (FILE *out, const Page *page);
} tables[] = {
  { "levels", write_levels },
  { "order", write_order },
  { "common", write_common },
  { "sources", write_sources },
  { "gpus", write_gpus },
  { "families", write_families },
  { "held", write_held },
  { "clusters", write_clusters },
  { "bert", write_bert },
  { "constants", write_constants },
  { "generations", write_generations },
  { "others", write_others },
  { "assumed", write_assumed },
  { "known", write_known },
};
#define N_TABLES (sizeof tables / sizeof tables[0])

/* Copies a page with its tables made anew; false where a mark is not known. */
static bool
write_page (FILE *out, const Page *page, const char *text, size_t *made)
{
  const char *mark, *end;

  *made = 0;
  while ((mark = strstr (text, BEGIN)) != NULL)
    {
      const char *name = mark + strlen (BEGIN);
      size_t i = 0, line = strcspn (mark, "\n") + 1;

      while (i < N_TABLES
             && (strncmp (name, tables[i].name, strlen (tables[i].name)) != 0
                 || name[strlen (tables[i].name)] != ' '))
        i++;
      end = strstr (mark, END);
      if (i == N_TABLES || end == NULL)
        return false;
      fwrite (text, 1, (size_t) (mark - text) + line, out);
      tables[i].write (out, page);
      text = end;
      (*made)++;
    }
  fputs (text, out);
  return true;
}

/* Writes the file, or compares it. */
static bool
keep (const char *path, const char *text, bool check)
{
  QmError error = { 0 };
  char *there = NULL;
  size_t length;
  bool same = qm_text_read_file (path, &there, &length, &error) == QM_OK
              && strcmp (there, text) == 0;
  FILE *file;

  free (there);
  if (same)
    return true;
  if (check)
    {
      fprintf (stderr, "%s is not what it would be: make it anew\n", path);
      return false;
    }
  file = fopen (path, "w");
  if (file == NULL)
    return false;
  fputs (text, file);
  return fclose (file) == 0;
}

bool
page_make (const Rates *rates,
           const QmCalibration *calibration,
           const QmCalibration *prior,
           const double *fitted,
           const double *calibrated,
           const LeftOut *left_out,
           const Clusters *clusters,
           const Basis *basis,
           const char *page,
           const char *plot,
           bool check)
{
  const Page now = { rates,      calibration, prior,    fitted,
                     calibrated, left_out,    clusters, basis };
  QmError error = { 0 };
  char *text = NULL, *made = NULL, *drawn = NULL;
  size_t length, n = 0;
  FILE *out;
  bool good;

  if (qm_text_read_file (page, &text, &length, &error) != QM_OK)
    {
      fprintf (stderr, "%s: %s\n", page, error.message);
      return false;
    }
  out = open_memstream (&made, &length);
  good = write_page (out, &now, text, &n) && n == N_TABLES;
  fclose (out);
  out = open_memstream (&drawn, &length);
  page_plot (out, rates, fitted, left_out);
  fclose (out);
  if (!good)
    fprintf (stderr, "%s: a table's mark is wrong, or one is missing\n", page);
  else
    {
      good = keep (page, made, check);
      good = keep (plot, drawn, check) && good;
    }
  free (text);
  free (made);
  free (drawn);
  return good;
}
