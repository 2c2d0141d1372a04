/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-machine-links.h"

#include "pricing/qm-format.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/machine/qm-machine-text.h"
#include "ui/qm-sideways.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Milliseconds in which eight GPUs that wake up have exchanged, too. */
#define PATIENCE 180000

/* No machine has more. */
#define MOST_DEVICES 16
#define MOST_MODELS  8

/* Bytes of the sum that is told: gradients are summed in pieces of about that,
 * and links are as fast then as they become. */
#define LARGE ((gint64) 256 << 20)

struct _QmMachineLinks
{
  AdwPreferencesGroup parent_instance;

  QmLocalMachine *machine;
  QmCatalogKeeper *keeper;
  GtkWidget *ask;          /* the row with the button */
  GPtrArray *rows;         /* GtkWidget: what was found */
  char *devices;           /* that it was found of */
  GCancellable *measuring; /* NULL: nothing is measured */
  gboolean allowed;
};

enum
{
  CHANGED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmMachineLinks,
                     qm_machine_links,
                     ADW_TYPE_PREFERENCES_GROUP)

static guint signals[N_SIGNALS];

static gboolean
is_gpu (const QmMachineDevice *device)
{
  return !device->is_cpu && device->usable && !device->is_part;
}

/* Ids of the GPUs that can be used, between commas; *n: how many. */
static char *
list_gpus (QmLocalMachine *machine, guint *n)
{
  GString *ids = g_string_new (NULL);
  guint all;
  const QmMachineDevice *devices = qm_local_machine_get_devices (machine, &all);

  *n = 0;
  for (guint i = 0; i < all; i++)
    if (is_gpu (&devices[i]))
      g_string_append_printf (ids, "%s%s", (*n)++ > 0 ? "," : "",
                              devices[i].id);
  return g_string_free (ids, FALSE);
}

static void
add_link_row (QmMachineLinks *self, GtkWidget *row)
{
  g_ptr_array_add (self->rows, row);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
}

static void
add_words (QmMachineLinks *self, const char *title, const char *subtitle)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  add_link_row (self, row);
}

static void
clear (QmMachineLinks *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self),
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
}

/* All together. */

static const char *
name_transport (const char *transport)
{
  if (strcmp (transport, "nccl") == 0)
    return _ ("through NCCL");
  if (strcmp (transport, "host") == 0)
    return _ ("through the memory of the host");
  return transport;
}

/* The entry of a collective that is closest to that size. */
static const json_t *
find_size (const json_t *collective, gint64 bytes)
{
  const json_t *best = NULL;
  double off = INFINITY;

  for (size_t i = 0; i < json_array_size (collective); i++)
    {
      const json_t *entry = json_array_get (collective, i);
      double its = fabs (qm_line_number (entry, "bytes") - (double) bytes);

      if (its < off)
        {
          best = entry;
          off = its;
        }
    }
  return best;
}

static void
show_together (QmMachineLinks *self, const json_t *links)
{
  int n = (int) json_array_size (json_object_get (links, "devices"));
  const json_t *sums =
      json_object_get (json_object_get (links, "collectives"), "all_reduce");
  const json_t *large = find_size (sums, LARGE);
  const json_t *small = find_size (sums, 0);
  g_autofree char *rate = NULL;
  g_autofree char *size = NULL;
  g_autofree char *time = NULL;
  g_autofree char *title = NULL;
  g_autofree char *words = NULL;

  if (large == NULL || !isfinite (qm_line_number (large, "bus_gbs"))
      || !isfinite (qm_line_number (small, "seconds")))
    return;
  rate = qm_machine_text_figure (qm_line_number (large, "bus_gbs"));
  size = qm_machine_text_bytes ((gint64) qm_line_number (large, "bytes"));
  time = qm_machine_text_figure (qm_line_number (small, "seconds") * 1e6);
  /* Translators: a number of GPUs, and through what they exchange. */
  title = g_strdup_printf (_ ("All %d, %s"), n,
                           name_transport (qm_line_text (links, "transport")));
  /* Translators: a rate, a size, a time. */
  words = g_strdup_printf (_ ("Each sends %s GB/s while %s are summed; the "
                              "least sum takes %s µs"),
                           rate, size, time);
  add_words (self, title, words);
}

/* Each two. */

static GtkWidget *
new_rate_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_widget_add_css_class (label, "numeric");
  if (class != NULL)
    gtk_widget_add_css_class (label, class);
  return label;
}

static void
embolden (GtkWidget *label)
{
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes,
                          pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  gtk_label_set_attributes (GTK_LABEL (label), attributes);
  pango_attr_list_unref (attributes);
}

static int
find_device (const json_t *devices, const char *id)
{
  for (size_t i = 0; i < json_array_size (devices) && i < MOST_DEVICES; i++)
    if (strcmp (qm_line_text (json_array_get (devices, i), "id"), id) == 0)
      return (int) i;
  return -1;
}

/* In both cells of a pair, for it goes both ways. */
static void
fill_pair (GtkGrid *grid, const json_t *devices, const json_t *pair)
{
  const json_t *ids = json_object_get (pair, "devices");
  const char *a = json_string_value (json_array_get (ids, 0));
  const char *b = json_string_value (json_array_get (ids, 1));
  gboolean peers = json_is_true (json_object_get (pair, "peers"));
  int i = a != NULL ? find_device (devices, a) : -1;
  int j = b != NULL ? find_device (devices, b) : -1;
  double gbs = qm_line_number (pair, "gbs");
  g_autofree char *rate =
      isfinite (gbs) ? qm_format_number (gbs, 1) : g_strdup ("?");
  g_autofree char *time =
      qm_machine_text_figure (qm_line_number (pair, "latency_s") * 1e6);
  g_autofree char *what = NULL;

  if (i < 0 || j < 0 || i == j)
    return;
  what = g_strdup_printf (
      peers
          /* Translators: two GPUs, a rate, a time. */
          ? _ ("%s and %s: %s GB/s each way, the least exchange takes %s µs; "
               "they read each other’s memory")
          : _ ("%s and %s: %s GB/s each way, the least exchange takes %s µs"),
      a, b, rate, time);
  for (int k = 0; k < 2; k++)
    {
      GtkWidget *label = new_rate_label (rate, NULL);

      if (peers)
        embolden (label);
      gtk_widget_set_tooltip_text (label, what);
      gtk_accessible_update_property (GTK_ACCESSIBLE (label),
                                      GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
      gtk_grid_attach (grid, label, 1 + (k == 0 ? j : i), 1 + (k == 0 ? i : j),
                       1, 1);
    }
}

static GtkWidget *
new_grid (const json_t *devices, const json_t *pairs)
{
  GtkWidget *grid = gtk_grid_new ();
  int n = (int) MIN (json_array_size (devices), MOST_DEVICES);

  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 3);
  for (int i = 0; i < n; i++)
    {
      const char *id =
          qm_line_text (json_array_get (devices, (size_t) i), "id");

      gtk_grid_attach (GTK_GRID (grid), new_rate_label (id, "dim-label"), 0,
                       1 + i, 1, 1);
      gtk_grid_attach (GTK_GRID (grid), new_rate_label (id, "dim-label"), 1 + i,
                       0, 1, 1);
      gtk_grid_attach (GTK_GRID (grid), new_rate_label ("–", "dim-label"),
                       1 + i, 1 + i, 1, 1);
    }
  for (size_t i = 0; i < json_array_size (pairs); i++)
    fill_pair (GTK_GRID (grid), devices, json_array_get (pairs, i));
  return grid;
}

/* As a picture: who reaches whom how fast. */
static void
show_pairs (QmMachineLinks *self, const json_t *links)
{
  const json_t *devices = json_object_get (links, "devices");
  const json_t *pairs = json_object_get (links, "pairs");
  GtkWidget *row = adw_preferences_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *words = gtk_label_new (
      _ ("GB/s between each two, each way and both at once; bold: they read "
         "each other’s memory"));

  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller),
                                  GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER);
  qm_sideways_init (GTK_SCROLLED_WINDOW (scroller));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller),
                                 new_grid (devices, pairs));
  gtk_label_set_wrap (GTK_LABEL (words), TRUE);
  gtk_label_set_xalign (GTK_LABEL (words), 0);
  gtk_widget_add_css_class (words, "caption");
  gtk_widget_add_css_class (words, "dim-label");
  gtk_widget_set_margin_start (box, 12);
  gtk_widget_set_margin_end (box, 12);
  gtk_widget_set_margin_top (box, 9);
  gtk_widget_set_margin_bottom (box, 9);
  gtk_box_append (GTK_BOX (box), scroller);
  gtk_box_append (GTK_BOX (box), words);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("Each Two"));
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  add_link_row (self, row);
}

/* What it makes of models. */

static void
show_model (QmMachineLinks *self, const json_t *model, int n)
{
  const char *id = qm_line_text (model, "model");
  const QmModel *known =
      qm_catalog_model (qm_catalog_keeper_get (self->keeper), id);
  double whole = qm_line_number (model, "data_parallel") * n;
  double best = qm_line_number (model, "best") * n;
  double nvlink = qm_line_number (model, "nvlink") * n;
  g_autofree char *times = qm_machine_text_figure (best);
  g_autofree char *plain = qm_machine_text_figure (whole);
  g_autofree char *ideal = qm_machine_text_figure (nvlink);
  g_autoptr (GString) words = g_string_new (NULL);

  if (!isfinite (best))
    return;
  /* Translators: a number, a number of GPUs. */
  g_string_append_printf (words, _ ("Predicted %s times as fast on %d"), times,
                          n);
  if (isfinite (whole) && whole < best)
    /* Translators: a number. */
    g_string_append_printf (words, _ (", %s where each has the whole model"),
                            plain);
  if (isfinite (nvlink) && nvlink > best)
    /* Translators: a number. */
    g_string_append_printf (words, _ (", %s if they had NVLink"), ideal);
  add_words (self, known != NULL ? known->name : id, words->str);
}

static void
show_links (QmMachineLinks *self, const json_t *links)
{
  const json_t *scaling = json_object_get (links, "scaling");
  int n = (int) json_array_size (json_object_get (links, "devices"));

  if (n < 2 || n > MOST_DEVICES)
    return;
  show_together (self, links);
  show_pairs (self, links);
  for (size_t i = 0; i < json_array_size (scaling) && i < MOST_MODELS; i++)
    show_model (self, json_array_get (scaling, i), n);
}

/* Measuring. */

static void
say (QmMachineLinks *self, const char *words)
{
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->ask), words);
}

static void
update_measure_action (QmMachineLinks *self)
{
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "links.measure",
                                 self->allowed && self->measuring == NULL);
}

static void
links_answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmMachineLinks) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *log = NULL;
  g_autoptr (GPtrArray) answer = qm_bench_query_finish (result, &log, &error);

  /* Nobody waits for it any more. */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object (&self->measuring);
  if (error != NULL)
    say (self, error->message);
  else
    {
      say (self, _ ("Measured just now"));
      for (guint i = 0; i < answer->len && i < 1; i++)
        show_links (self, g_ptr_array_index (answer, i));
    }
  update_measure_action (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
measure_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachineLinks *self = QM_MACHINE_LINKS (widget);
  const char *const arguments[] = { "links", "--json", NULL };

  if (self->measuring != NULL || !self->allowed)
    return;
  clear (self);
  say (self, _ ("Measuring, for some seconds…"));
  self->measuring = g_cancellable_new ();
  update_measure_action (self);
  g_signal_emit (self, signals[CHANGED], 0);
  qm_bench_query_async (arguments, PATIENCE, self->measuring, links_answered_cb,
                        g_object_ref (self));
}

/* What was measured of other GPUs than there are is nothing any more. */
static void
machine_changed_cb (QmMachineLinks *self)
{
  guint n;
  g_autofree char *devices = list_gpus (self->machine, &n);

  if (qm_local_machine_get_state (self->machine) == QM_MACHINE_ASKING)
    return;
  gtk_widget_set_visible (GTK_WIDGET (self), n > 1);
  if (g_strcmp0 (devices, self->devices) == 0)
    return;
  g_free (self->devices);
  self->devices = g_steal_pointer (&devices);
  clear (self);
  say (self, _ ("Not measured: it decides what several GPUs together are "
                "worth"));
}

void
qm_machine_links_open (QmMachineLinks *self,
                       QmLocalMachine *machine,
                       QmCatalogKeeper *keeper)
{
  g_return_if_fail (QM_IS_MACHINE_LINKS (self));
  g_return_if_fail (QM_IS_LOCAL_MACHINE (machine));
  g_return_if_fail (QM_IS_CATALOG_KEEPER (keeper));
  g_return_if_fail (self->machine == NULL);

  self->machine = g_object_ref (machine);
  self->keeper = g_object_ref (keeper);
  g_signal_connect_object (machine, "changed", G_CALLBACK (machine_changed_cb),
                           self, G_CONNECT_SWAPPED);
  machine_changed_cb (self);
}

gboolean
qm_machine_links_is_measuring (QmMachineLinks *self)
{
  g_return_val_if_fail (QM_IS_MACHINE_LINKS (self), FALSE);

  return self->measuring != NULL;
}

void
qm_machine_links_set_allowed (QmMachineLinks *self, gboolean allowed)
{
  g_return_if_fail (QM_IS_MACHINE_LINKS (self));

  self->allowed = allowed;
  update_measure_action (self);
}

static void
qm_machine_links_dispose (GObject *object)
{
  QmMachineLinks *self = QM_MACHINE_LINKS (object);

  if (self->measuring != NULL)
    g_cancellable_cancel (self->measuring);
  g_clear_object (&self->measuring);
  g_clear_object (&self->machine);
  g_clear_object (&self->keeper);

  G_OBJECT_CLASS (qm_machine_links_parent_class)->dispose (object);
}

static void
qm_machine_links_finalize (GObject *object)
{
  QmMachineLinks *self = QM_MACHINE_LINKS (object);

  g_ptr_array_unref (self->rows);
  g_free (self->devices);
  G_OBJECT_CLASS (qm_machine_links_parent_class)->finalize (object);
}

static void
qm_machine_links_class_init (QmMachineLinksClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_machine_links_dispose;
  G_OBJECT_CLASS (klass)->finalize = qm_machine_links_finalize;

  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (klass), "links.measure",
                                   NULL, measure_cb);
}

static void
qm_machine_links_init (QmMachineLinks *self)
{
  GtkWidget *button = gtk_button_new_with_label (_ ("Measure"));

  self->rows = g_ptr_array_new ();
  self->allowed = TRUE;
  self->ask = adw_action_row_new ();
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (
      button, _ ("Measure how fast these GPUs exchange, for some seconds"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "links.measure");
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->ask), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->ask),
                                 _ ("Exchange between GPUs"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->ask), button);
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (self), _ ("Links"));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), self->ask);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
