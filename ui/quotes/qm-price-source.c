/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-price-source.h"

#include "pricing/qm-format.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* All prices in one currency. */
#define COMMON "USD"

struct _QmPriceSource
{
  QmPlotSource parent_instance;

  char *name;
  GPtrArray *history; /* QmPricePoint */
  QmRates *rates;

  QmPriceGroup group;
  QmPlotZoom range;
  GArray *points;   /* QmPlotPoint */
  GArray *of;       /* guint: the price in the history that a point is */
  GPtrArray *names; /* char *: of the series */
  GArray *series;   /* QmPlotSeries */
  int hovered;
  char *hovered_label;
  QmPlotData data;
};

G_DEFINE_FINAL_TYPE (QmPriceSource, qm_price_source, QM_TYPE_PLOT_SOURCE)

/* Groups. */

static gboolean
is_of_group (const QmPricePoint *price, const QmPriceGroup *group)
{
  return price->unit == group->unit
         && (group->converted
             || strcmp (price->currency, group->currency) == 0);
}

static guint
count_prices (GPtrArray *history, const QmPriceGroup *group)
{
  guint n = 0;

  for (guint i = 0; i < history->len; i++)
    n += is_of_group (g_ptr_array_index (history, i), group);
  return n;
}

static int
compare_groups (gconstpointer a, gconstpointer b, gpointer history)
{
  const QmPriceGroup *p = a;
  const QmPriceGroup *q = b;
  guint n_p = count_prices (history, p);
  guint n_q = count_prices (history, q);

  if (p->unit != q->unit)
    return p->unit < q->unit ? -1 : 1;
  if (n_p != n_q)
    return n_p > n_q ? -1 : 1;
  return strcmp (p->currency, q->currency);
}

static gboolean
has_group (GArray *groups, const QmPricePoint *price)
{
  for (guint i = 0; i < groups->len; i++)
    if (is_of_group (price, &g_array_index (groups, QmPriceGroup, i)))
      return TRUE;
  return FALSE;
}

GArray *
qm_price_groups (GPtrArray *history)
{
  GArray *groups = g_array_new (FALSE, TRUE, sizeof (QmPriceGroup));
  const QmPriceGroup all = { .currency = COMMON,
                             .unit = QM_PRICE_EACH,
                             .converted = TRUE };
  guint n_each = 0;

  g_return_val_if_fail (history != NULL, groups);

  for (guint i = 0; i < history->len; i++)
    {
      const QmPricePoint *price = g_ptr_array_index (history, i);
      QmPriceGroup group = { .unit = price->unit };

      if (has_group (groups, price))
        continue;
      memcpy (group.currency, price->currency, sizeof group.currency);
      g_array_append_val (groups, group);
      n_each += price->unit == QM_PRICE_EACH;
    }
  g_array_sort_with_data (groups, compare_groups, history);
  if (n_each > 1)
    g_array_prepend_val (groups, all);
  return groups;
}

char *
qm_price_group_text (const QmPriceGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  if (group->converted)
    /* Translators: a currency. */
    return g_strdup_printf (_ ("All, in %s"), group->currency);
  if (group->unit == QM_PRICE_HOUR)
    /* Translators: a currency. */
    return g_strdup_printf (_ ("%s, for an hour"), group->currency);
  return g_strdup (group->currency);
}

/* Points. */

/* The price of one, or of one GPU for an hour, in the currency of the group;
 * FALSE where there is no rate.
 *
 * rate: (out): what a price that is converted is converted with. */
static gboolean
convert (QmPriceSource *self,
         const QmPricePoint *price,
         double *value,
         QmCrossRate *rate)
{
  gint64 micros = price->micros;
  int parts = price->unit == QM_PRICE_HOUR && price->gpus > 1 ? price->gpus : 1;

  if (self->group.converted
      && (self->rates == NULL
          || !qm_rates_find (self->rates, price->currency, self->group.currency,
                             price->date, QM_RATES_STALE_DAYS, rate, NULL)
          || !qm_cross_rate_convert_micros (rate, price->micros, &micros,
                                            NULL)))
    return FALSE;
  *value = (double) micros / QM_MICROS_PER_UNIT / parts;
  return TRUE;
}

/* Who asks that price: the vendor, or the site where it was seen.
 * (transfer full) */
static char *
seller_text (const QmPricePoint *price)
{
  g_autoptr (GUri) uri = NULL;

  if (price->vendor != NULL)
    return g_strdup (price->vendor);
  if (price->source == NULL)
    return g_strdup (_ ("not said by whom"));
  uri = g_uri_parse (price->source, G_URI_FLAGS_ENCODED, NULL);
  return g_strdup (uri != NULL && g_uri_get_host (uri) != NULL
                       ? g_uri_get_host (uri)
                       : price->source);
}

/* The series of a name.  When there are no more looks the last one is for all
 * others: two of the same look would be one. */
static guint16
series_of (QmPriceSource *self, const char *name)
{
  guint index;

  if (g_ptr_array_find_with_equal_func (self->names, name, g_str_equal, &index))
    return (guint16) index;
  if (self->names->len == QM_PLOT_N_STYLES)
    {
      g_free (g_ptr_array_index (self->names, QM_PLOT_N_STYLES - 1));
      g_ptr_array_index (self->names, QM_PLOT_N_STYLES - 1) =
          g_strdup (_ ("Others"));
      return QM_PLOT_N_STYLES - 1;
    }
  g_ptr_array_add (self->names, g_strdup (name));
  return (guint16) (self->names->len - 1);
}

static void
add_point (QmPriceSource *self, guint index, double value)
{
  static const QmDate epoch = { 1970, 1, 1 };
  const QmPricePoint *price = g_ptr_array_index (self->history, index);
  g_autofree char *seller = seller_text (price);
  QmPlotPoint point = {
    .x = qm_date_days_between (epoch, price->date),
    .y = value,
    .series = series_of (self, seller),
    .weight = 1,
  };

  g_array_append_val (self->points, point);
  g_array_append_val (self->of, index);
}

static void
fill_data (QmPriceSource *self)
{
  g_array_set_size (self->series, 0);
  for (guint i = 0; i < self->names->len; i++)
    {
      const QmPlotSeries series = { g_ptr_array_index (self->names, i), i };

      g_array_append_val (self->series, series);
    }
  self->data = (QmPlotData){
    .title = self->name,
    .x = { .title = _ ("Day"),
           .unit = QM_PLOT_UNIT_DATE,
           .min = self->range.x_min,
           .max = self->range.x_max,
           .limit = NAN },
    .y = { .title = self->group.unit == QM_PRICE_HOUR
                        ? _ ("Price of one GPU for an hour")
                        : _ ("Price of one"),
           .unit = QM_PLOT_UNIT_MONEY,
           .currency = self->group.currency,
           .min = self->range.y_min,
           .max = self->range.y_max,
           .limit = NAN },
    .series = (const QmPlotSeries *) (gpointer) self->series->data,
    .n_series = self->series->len,
    .points = (const QmPlotPoint *) (gpointer) self->points->data,
    .n_points = self->points->len,
    .recommended = -1,
    .selected = -1,
    .hovered = self->hovered,
    .hovered_label = self->hovered_label,
    .empty_text = _ ("No price is known"),
  };
}

guint
qm_price_source_set_group (QmPriceSource *self, const QmPriceGroup *group)
{
  guint n_left_out = 0;

  g_return_val_if_fail (QM_IS_PRICE_SOURCE (self), 0);
  g_return_val_if_fail (group != NULL, 0);

  self->group = *group;
  self->range = qm_plot_zoom_all ();
  self->hovered = -1;
  g_clear_pointer (&self->hovered_label, g_free);
  g_array_set_size (self->points, 0);
  g_array_set_size (self->of, 0);
  g_ptr_array_set_size (self->names, 0);
  for (guint i = 0; i < self->history->len; i++)
    {
      const QmPricePoint *price = g_ptr_array_index (self->history, i);
      double value;
      QmCrossRate rate;

      if (!is_of_group (price, group))
        continue;
      if (convert (self, price, &value, &rate))
        add_point (self, i, value);
      else
        n_left_out++;
    }
  fill_data (self);
  qm_plot_source_rebuilt (QM_PLOT_SOURCE (self), TRUE);
  return n_left_out;
}

/* What a view asks for. */

static const QmPlotData *
get_data (QmPlotSource *source)
{
  return &QM_PRICE_SOURCE (source)->data;
}

/* A price in words: its day, who asks it, and where it is converted what it
 * comes to.  (transfer full) */
static char *
point_text (QmPriceSource *self, int index)
{
  const QmPlotPoint *point = &g_array_index (self->points, QmPlotPoint, index);
  const QmPricePoint *price =
      g_ptr_array_index (self->history, g_array_index (self->of, guint, index));
  g_autofree char *day = qm_format_date (price->date);
  g_autofree char *seller = seller_text (price);
  g_autofree char *amount =
      qm_quote_price_text (price->unit == QM_PRICE_HOUR
                               ? llround (point->y * QM_MICROS_PER_UNIT)
                               : price->micros,
                           price->currency);
  g_autofree char *converted = NULL;
  g_autofree char *of = NULL;
  QmCrossRate rate;
  double value;

  if (strcmp (price->currency, self->group.currency) == 0)
    /* Translators: a price, who asks it, a date. */
    return g_strdup_printf (_ ("%s\n%s, %s"), amount, seller, day);
  converted = qm_quote_price_text (llround (point->y * 100)
                                       * (QM_MICROS_PER_UNIT / 100),
                                   self->group.currency);
  if (!convert (self, price, &value, &rate))
    return g_steal_pointer (&amount);
  of = qm_format_date (rate.date);
  /* Translators: a price, the same in another currency, a date, who asks it, a
   * date. */
  return g_strdup_printf (_ ("%s, %s at the rate of %s\n%s, %s"), amount,
                          converted, of, seller, day);
}

static void
set_hovered (QmPlotSource *source, int index)
{
  QmPriceSource *self = QM_PRICE_SOURCE (source);

  self->hovered = index;
  g_free (self->hovered_label);
  self->hovered_label = index >= 0 && (guint) index < self->points->len
                            ? point_text (self, index)
                            : NULL;
  fill_data (self);
}

static void
set_range (QmPlotSource *source, const QmPlotZoom *range)
{
  QmPriceSource *self = QM_PRICE_SOURCE (source);

  self->range = *range;
  fill_data (self);
}

static char *
describe_prices (QmPlotSource *source)
{
  QmPriceSource *self = QM_PRICE_SOURCE (source);
  guint n = self->points->len;
  g_autofree char *first = NULL;
  g_autofree char *last = NULL;

  if (n == 0)
    /* Translators: name of a GPU or machine. */
    return g_strdup_printf (_ ("Prices of %s: none is known"), self->name);
  if (n == 1)
    {
      first = point_text (self, 0);
      /* Translators: name of a GPU or machine, its price. */
      return g_strdup_printf (_ ("Prices of %s: %s"), self->name, first);
    }
  first = point_text (self, 0);
  last = point_text (self, (int) n - 1);
  /* Translators: name of a GPU or machine, a number, two prices. */
  return g_strdup_printf (
      ngettext ("Prices of %s: %u. The first: %s. The last: %s",
                "Prices of %s: %u. The first: %s. The last: %s", n),
      self->name, n, first, last);
}

static GMenuModel *
create_menu (QmPlotSource *source)
{
  GMenu *menu = g_menu_new ();

  g_menu_append (menu, _ ("Zoom _In"), "history.zoom-in");
  g_menu_append (menu, _ ("Zoom _Out"), "history.zoom-out");
  g_menu_append (menu, _ ("_Show Everything"), "history.zoom-reset");
  return G_MENU_MODEL (menu);
}

QmPlotSource *
qm_price_source_new (const char *name, GPtrArray *history, QmRates *rates)
{
  QmPriceSource *self;

  g_return_val_if_fail (name != NULL && history != NULL, NULL);

  self = g_object_new (QM_TYPE_PRICE_SOURCE, NULL);
  self->name = g_strdup (name);
  self->history = g_ptr_array_ref (history);
  self->rates = rates != NULL ? qm_rates_ref (rates) : NULL;
  fill_data (self);
  return QM_PLOT_SOURCE (self);
}

static void
qm_price_source_finalize (GObject *object)
{
  QmPriceSource *self = QM_PRICE_SOURCE (object);

  g_clear_pointer (&self->history, g_ptr_array_unref);
  g_clear_pointer (&self->rates, qm_rates_unref);
  g_array_unref (self->points);
  g_array_unref (self->of);
  g_array_unref (self->series);
  g_ptr_array_unref (self->names);
  g_free (self->hovered_label);
  g_free (self->name);

  G_OBJECT_CLASS (qm_price_source_parent_class)->finalize (object);
}

static void
qm_price_source_class_init (QmPriceSourceClass *klass)
{
  QmPlotSourceClass *source_class = QM_PLOT_SOURCE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_price_source_finalize;

  source_class->get_data = get_data;
  source_class->set_hovered = set_hovered;
  source_class->set_range = set_range;
  source_class->describe = describe_prices;
  source_class->create_menu = create_menu;
}

static void
qm_price_source_init (QmPriceSource *self)
{
  self->group = (QmPriceGroup){ .currency = COMMON, .unit = QM_PRICE_EACH };
  self->range = qm_plot_zoom_all ();
  self->hovered = -1;
  self->points = g_array_new (FALSE, FALSE, sizeof (QmPlotPoint));
  self->of = g_array_new (FALSE, FALSE, sizeof (guint));
  self->series = g_array_new (FALSE, FALSE, sizeof (QmPlotSeries));
  self->names = g_ptr_array_new_with_free_func (g_free);
}
