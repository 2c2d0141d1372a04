/* SPDX-License-Identifier: Apache-2.0 */

/* Which of the amounts that people see is the price of the page's product. */

#include "pricing/pages/qm-page-sight.h"

/* What the price of the product is not called. */
#define UNFIT                                                                \
  (QM_SEEN_OLD | QM_SEEN_ASIDE | QM_SEEN_PART | QM_SEEN_FROM | QM_SEEN_RANGE \
   | QM_SEEN_CARD | QM_SEEN_LINK)

static const QmSeenAmount *
amount_at (const QmPage *page, guint i)
{
  return &g_array_index (page->seen, QmSeenAmount, i);
}

/* Whether an amount is one to look at: with all of `with` and none of
 * `without`.  Where prices have currencies, numbers alone are others, unless
 * they are called the current price. */
static gboolean
counts (const QmPage *page,
        const QmSeenAmount *amount,
        guint with,
        guint without)
{
  return (amount->flags & with) == with && (amount->flags & without) == 0
         && amount->micros != 0
         && (amount->sign[0] != '\0' || (amount->flags & QM_SEEN_CURRENT) != 0
             || !page->sees_signed);
}

/* Of amounts with all of `with` and none of `without` in an area, the one value
 * that there is. */
static QmSight
look (const QmPage *page, guint with, guint without, guint area)
{
  QmSight sight = { 0 };

  for (guint i = 0; i < page->seen->len; i++)
    {
      const QmSeenAmount *amount = amount_at (page, i);

      if (!counts (page, amount, with, without) || amount->area != area)
        continue;
      if (sight.amount == NULL)
        sight.amount = amount;
      else if (sight.amount->micros != amount->micros)
        sight.several = TRUE;
      else if (sight.amount->sign[0] == '\0' && amount->sign[0] != '\0')
        sight.amount = amount;
    }
  return sight;
}

/* The nearest area with such an amount; G_MAXUINT: none. */
static guint
nearest_area (const QmPage *page, guint with, guint without)
{
  guint nearest = G_MAXUINT;

  for (guint i = 0; i < page->seen->len; i++)
    if (counts (page, amount_at (page, i), with, without))
      nearest = MIN (nearest, amount_at (page, i)->area);
  return nearest;
}

/* Of several, narrower: those called current, without those called regular,
 * with a currency, and these without those called regular. */
static QmSight
look_closer (const QmPage *page, guint kind, guint area)
{
  static const struct
  {
    guint with;
    guint without;
  } narrower[] = { { QM_SEEN_CURRENT, QM_SEEN_REGULAR },
                   { 0, QM_SEEN_REGULAR },
                   { QM_SEEN_CURRENCY, 0 },
                   { QM_SEEN_CURRENCY, QM_SEEN_REGULAR } };
  QmSight sight = look (page, kind, UNFIT, area);

  for (guint i = 0; sight.several && i < G_N_ELEMENTS (narrower); i++)
    {
      QmSight one = look (page, kind | narrower[i].with,
                          UNFIT | narrower[i].without, area);

      if (one.amount != NULL && !one.several)
        return one;
    }
  return sight;
}

QmSight
qm_page_see_price (const QmPage *page)
{
  static const guint kinds[] = { QM_SEEN_PRICE | QM_SEEN_LONE,
                                 QM_SEEN_CURRENCY | QM_SEEN_LONE };
  QmSight sight = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (kinds) && sight.amount == NULL; i++)
    {
      guint area = nearest_area (page, kinds[i], UNFIT);

      if (area == G_MAXUINT)
        continue;
      sight = look_closer (page, kinds[i], area);
      sight.called_price = (kinds[i] & QM_SEEN_PRICE) != 0;
    }
  return sight;
}

gboolean
qm_page_is_seen (const QmPage *page, gint64 micros, guint without)
{
  for (guint i = 0; i < page->seen->len; i++)
    if (amount_at (page, i)->micros == micros
        && (amount_at (page, i)->flags & without) == 0)
      return TRUE;
  return FALSE;
}

gboolean
qm_page_is_seen_as_price (const QmPage *page, gint64 micros)
{
  const guint with = QM_SEEN_PRICE | QM_SEEN_CURRENCY;

  for (guint i = 0; i < page->seen->len; i++)
    if (amount_at (page, i)->micros == micros
        && counts (page, amount_at (page, i), with, UNFIT | QM_SEEN_REGULAR))
      return TRUE;
  return FALSE;
}
