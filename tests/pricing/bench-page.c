/* SPDX-License-Identifier: Apache-2.0 */

/* How long it takes to read what a page of 1 MB says its product costs.  The
 * page is made up as those of large shops are: a third each of scripts, of
 * elements with classes, and of cards of other products with prices. */

#include "pricing/pages/qm-page.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define REPEATS   15
#define PAGE_SIZE 1000000
#define LIMIT_MS  50.0

/* Milliseconds of this thread's processor time: other work on the machine does
 * not count. */
static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec * 1000 + (double) time.tv_nsec / 1e6;
}

static void
append_script (GString *page, gsize until)
{
  g_string_append (page, "<script>window.__STATE__ = {\"items\":[");
  for (int i = 0; page->len < until; i++)
    g_string_append_printf (page,
                            "{\"id\":%d,\"title\":\"Card %d\",\"price\":%d.99,"
                            "\"image\":\"https://cdn.example/i/%d.webp\"},",
                            i, i, 100 + i, i);
  g_string_append (page, "{}]};</script>");
}

static void
append_elements (GString *page, gsize until)
{
  for (int i = 0; page->len < until; i++)
    g_string_append_printf (page,
                            "<div class=\"spec-row grid grid-cols-2 s%d\"><span"
                            " class=\"spec-name text-sm\">Value %d</span><span "
                            "class=\"spec-value\">%d W</span></div>",
                            i % 7, i, i);
}

static void
append_cards (GString *page, gsize until)
{
  g_string_append (page, "<div class=\"product-grid\">");
  for (int i = 0; page->len < until; i++)
    g_string_append_printf (
        page,
        "<div class=\"product-card\"><a class=\"product-card__link\" "
        "href=\"/p/%d\">Card %d</a><div class=\"price-box\"><span "
        "class=\"old-price\">%d,99&nbsp;€</span> <span class=\"price\">%d,49"
        "&nbsp;€</span></div></div>",
        i, i, 200 + i, 150 + i);
  g_string_append (page, "</div>");
}

static GString *
make_page (void)
{
  GString *page = g_string_new (
      "<!DOCTYPE html><html lang=\"de-DE\"><head><meta charset=utf-8><title>"
      "Card X100</title><script type=\"application/ld+json\">{\"@context\":"
      "\"https://schema.org\",\"@type\":\"Product\",\"name\":\"Card X100\","
      "\"offers\":{\"@type\":\"Offer\",\"price\":\"1299.50\","
      "\"priceCurrency\":\"EUR\"}}</script></head><body>");

  append_script (page, PAGE_SIZE / 3);
  g_string_append (page, "<main><h1>Card X100</h1><div class=\"price-box\">"
                         "<span class=\"price\">1.299,50 €</span></div><button "
                         "class=\"add-to-cart\">In den Warenkorb</button>");
  append_elements (page, PAGE_SIZE * 2 / 3);
  g_string_append (page, "</main>");
  append_cards (page, PAGE_SIZE);
  g_string_append (page, "</body></html>");
  return page;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

int
main (void)
{
  GString *page = make_page ();
  double times[REPEATS];

  for (int i = 0; i < REPEATS; i++)
    {
      double start = now ();
      g_autoptr (QmPageOffer) offer =
          qm_page_read ((const guint8 *) page->str, page->len, NULL, NULL,
                        NULL);

      times[i] = now () - start;
      if (offer == NULL || offer->price_micros != 1299500000
          || !offer->confirmed)
        {
          fprintf (stderr, "the price was not found\n");
          return 1;
        }
    }
  qsort (times, REPEATS, sizeof times[0], compare);
  printf ("a page of %.1f MB: %.1f ms (median of %d), %.1f ms at most; the "
          "limit is %.0f ms\n",
          (double) page->len / 1e6, times[REPEATS / 2], REPEATS,
          times[REPEATS - 1], LIMIT_MS);
  g_string_free (page, TRUE);
  return times[REPEATS / 2] < LIMIT_MS ? 0 : 1;
}
