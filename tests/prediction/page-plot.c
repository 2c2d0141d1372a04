/* SPDX-License-Identifier: Apache-2.0 */

/* Written as text, so that it is the same wherever it is made. */

#include "tests/prediction/page.h"

#include <math.h>
#include <string.h>

#define SIZE   640.0
#define LEFT   76.0
#define TOP    16.0
#define BOTTOM 48.0
#define LOW    -4.0 /* decades of seconds */
#define HIGH   1.0

/* Colours are those of Okabe and Ito, which the colour-blind tell apart. */
static const struct
{
  const char *level, *colour, *text;
} kinds[] = {
  { "engine", "#0072b2", "our engine" },
  { "tuned", "#d55e00", "PyTorch, compiled" },
  { "eager", "#009e73", "PyTorch, eager" },
  { "naive", "#cc79a7", "naive settings" },
  { "cuda", "#8a6d00", "other engines in CUDA" },
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static double
across (double decade)
{
  return LEFT + (decade - LOW) / (HIGH - LOW) * SIZE;
}

static double
down (double decade)
{
  return TOP + (HIGH - decade) / (HIGH - LOW) * SIZE;
}

static void
draw_grid (FILE *out)
{
  static const char *const labels[] = { "0.1 ms", "1 ms", "10 ms",
                                        "0.1 s",  "1 s",  "10 s" };

  for (int i = 0; i <= (int) (HIGH - LOW); i++)
    {
      double x = across (LOW + i), y = down (LOW + i);

      fprintf (out,
               "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n",
               x, TOP, TOP + SIZE, LEFT, y, LEFT + SIZE);
      fprintf (out,
               "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
               x, TOP + SIZE + 18, labels[i]);
      fprintf (out,
               "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
               LEFT - 8, y + 4, labels[i]);
    }
  fprintf (
      out,
      "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">measured time of "
      "a sample</text>\n",
      LEFT + SIZE / 2, TOP + SIZE + 40);
  fprintf (out,
           "<text transform=\"translate(16 %.1f) rotate(-90)\" "
           "text-anchor=\"middle\">predicted without its source</text>\n",
           TOP + SIZE / 2);
}

/* Where predicted / measured is that. */
static void
draw_line (FILE *out, double ratio, const char *dashes)
{
  double shift = log10 (ratio);

  fprintf (out,
           "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#666\" "
           "stroke-dasharray=\"%s\"/>\n",
           across (LOW - fmin (shift, 0)), down (LOW + fmax (shift, 0)),
           across (HIGH - fmax (shift, 0)), down (HIGH + fmin (shift, 0)),
           dashes);
}

static void
draw_rates (FILE *out,
            const Rates *rates,
            size_t kind,
            const double *fitted,
            const LeftOut *left_out)
{
  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];
      double error =
          rate->held ? fitted[i] : left_out->errors[WITHOUT_SOURCE][i];
      double measured = -log10 (rate->samples_per_s);

      if (strcmp (rate->trained.level, kinds[kind].level) != 0 || isnan (error))
        continue;
      fprintf (out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" %s=\"%s\"/>\n",
               across (measured), down (measured + error / log (10)),
               rate->held ? "4.5" : "3", rate->held ? "stroke" : "fill",
               kinds[kind].colour);
    }
}

void
page_plot (FILE *out,
           const Rates *rates,
           const double *fitted,
           const LeftOut *left_out)
{
  fprintf (
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
      "<title>Predicted over measured time of a sample</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      LEFT + SIZE + 16, TOP + SIZE + BOTTOM);
  draw_grid (out);
  draw_line (out, 1, "none");
  draw_line (out, 1.2, "5 4");
  draw_line (out, 1 / 1.2, "5 4");
  for (size_t k = 0; k < N_KINDS; k++)
    {
      double y = TOP + 24 + 20 * (double) k;

      fputs ("<g fill=\"none\" stroke-width=\"1.2\" fill-opacity=\"0.75\">\n",
             out);
      draw_rates (out, rates, k, fitted, left_out);
      fprintf (out,
               "</g>\n<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
               LEFT + 16, y - 4, kinds[k].colour);
      fprintf (out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT + 28, y,
               kinds[k].text);
    }
  fprintf (out,
           "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"none\" "
           "stroke=\"#222\"/>\n<text x=\"%.1f\" y=\"%.1f\">a ring: on an H100, "
           "held back</text>\n<text x=\"%.1f\" y=\"%.1f\">dashed: a fifth more "
           "or less</text>\n</svg>\n",
           LEFT + 16, TOP + 120, LEFT + 28, TOP + 124, LEFT + 28, TOP + 144);
}
