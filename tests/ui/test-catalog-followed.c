/* SPDX-License-Identifier: Apache-2.0 */

/* Who shows something of the catalog follows it: a GPU that is called otherwise
 * from now on, GPUs and models that were not there before.  The window as a
 * whole and the machine page are looked at in test-window.c. */

#include "config.h"

#include "tests/ui/folder.h"
#include "tests/ui/widgets.h"
#include "ui/machine/qm-elsewhere-window.h"
#include "ui/models/qm-model-editor.h"
#include "ui/models/qm-model-gpus.h"
#include "ui/models/qm-model-memory.h"
#include "ui/models/qm-models-window.h"
#include "ui/qm-field-row.h"
#include "ui/quotes/qm-quote-view.h"
#include "ui/quotes/qm-quotes-page.h"
#include "ui/quotes/qm-watch-window.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#include <string.h>

#define GPU "h100-80gb-sxm"

typedef struct
{
  QmCatalogKeeper *keeper;
  char *user; /* the folder of the user's files */
} Fixture;

static void
load (Fixture *f)
{
  QmError error = { 0 };

  if (!qm_catalog_keeper_load (f->keeper, &error))
    g_error ("%s", error.message);
  widgets_settle ();
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->user =
      g_build_filename (g_getenv ("XDG_DATA_HOME"), "quartermaster", NULL);
  f->keeper = qm_catalog_keeper_new ();
  load (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  /* A child process that was asked is waited for by the window that did. */
  while (G_OBJECT (f->keeper)->ref_count > 1)
    g_main_context_iteration (NULL, TRUE);
  g_assert_finalize_object (f->keeper);
  remove_folder (f->user);
  g_free (f->user);
}

static void
write_file (Fixture *f, const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (f->user, folder, NULL);
  g_autofree char *file = g_build_filename (path, name, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
  g_file_set_contents (file, text, -1, &error);
  g_assert_no_error (error);
}

/* One GPU has another name from now on, and there is one more. */
static void
change_gpus (Fixture *f)
{
  write_file (f, "", "gpus.csv",
              "id,name,memory_gib,fp16_tflops,source\n" GPU
              ",Our H100,80,989,test\nnew-gpu,New GPU,48,150,test\n");
  load (f);
}

/* A model of the user's, that of the catalog by another name. */
static void
write_model (Fixture *f, const char *id, const char *name)
{
  g_autofree char *from = g_build_filename (g_getenv ("QM_TEST_DATA_DIR"),
                                            "models", "pythia-160m.json", NULL);
  g_autofree char *file = g_strconcat (id, ".json", NULL);
  g_autofree char *quoted_id = g_strdup_printf ("\"%s\"", id);
  g_autofree char *quoted_name = g_strdup_printf ("\"%s\"", name);
  g_autofree char *text = NULL;
  g_autoptr (GString) changed = NULL;

  g_assert_true (g_file_get_contents (from, &text, NULL, NULL));
  changed = g_string_new (text);
  g_string_replace (changed, "\"pythia-160m\"", quoted_id, 0);
  g_string_replace (changed, "\"Pythia (160M)\"", quoted_name, 0);
  write_file (f, "models", file, changed->str);
}

/* Whether a label in there has those words. */
static gboolean
says (gpointer root, const char *words)
{
  for (guint i = 0, n = widgets_count (root, GTK_TYPE_LABEL); i < n; i++)
    if (strstr (gtk_label_get_text (widgets_find (root, GTK_TYPE_LABEL, i)),
                words)
        != NULL)
      return TRUE;
  return FALSE;
}

/* The row of that title; NULL: there is none. */
static gpointer
find_row (gpointer root, GType type, const char *title)
{
  for (guint i = 0, n = widgets_count (root, type); i < n; i++)
    {
      gpointer row = widgets_find (root, type, i);

      if (g_strcmp0 (adw_preferences_row_get_title (row), title) == 0)
        return row;
    }
  return NULL;
}

/* Where a choice of a row or a drop-down is; G_MAXUINT: there is none. */
static guint
find_choice (GListModel *choices, const char *name)
{
  for (guint i = 0, n = g_list_model_get_n_items (choices); i < n; i++)
    if (strcmp (gtk_string_list_get_string (GTK_STRING_LIST (choices), i), name)
        == 0)
      return i;
  return G_MAXUINT;
}

static char *
chosen_of (AdwComboRow *row)
{
  GtkStringObject *item = adw_combo_row_get_selected_item (row);

  return g_strdup (item != NULL ? gtk_string_object_get_string (item) : "");
}

static void
choose (AdwComboRow *row, const char *name)
{
  guint position = find_choice (adw_combo_row_get_model (row), name);

  g_assert_cmpuint (position, !=, G_MAXUINT);
  adw_combo_row_set_selected (row, position);
}

static QmQuote *
make_quote (void)
{
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  quote->vendor = g_strdup ("Delta");
  g_strlcpy (quote->currency, "USD", sizeof quote->currency);
  line->description = g_strdup ("one");
  line->item = g_strdup (GPU);
  line->match = QM_MATCH_CHOSEN;
  line->gpus = 1;
  line->quantity_micros = QM_MICROS_PER_UNIT;
  line->price_micros = 9000 * (gint64) QM_MICROS_PER_UNIT;
  line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  line->description = g_strdup ("one of two");
  line->match = QM_MATCH_AMBIGUOUS;
  line->candidates = g_strdup (GPU ";a6000");
  return quote;
}

/* Names of what is quoted, and of what may be. */
static void
test_quote_view (Fixture *f, gconstpointer data)
{
  g_autoptr (QmQuote) quote = make_quote ();
  QmQuoteView *view =
      g_object_ref_sink (g_object_new (QM_TYPE_QUOTE_VIEW, NULL));

  qm_quote_view_set_quote (view, f->keeper, quote);
  g_assert_true (says (view, "Catalog: H100 SXM5 80GB"));
  change_gpus (f);
  g_assert_false (says (view, "H100 SXM5 80GB"));
  g_assert_true (says (view, "Catalog: Our H100"));
  g_assert_cmpuint (find_choice (gtk_drop_down_get_model (widgets_find (
                                     view, GTK_TYPE_DROP_DOWN, 0)),
                                 "Our H100"),
                    ==, 1);
  widgets_finalize (view);
}

static QmQuoteBook *
open_book (Fixture *f)
{
  QmQuoteBook *book = qm_quote_book_new (f->keeper, QM_QUOTE_STORE_IN_MEMORY);

  while (qm_quote_book_get_index (book) == NULL)
    g_main_context_iteration (NULL, TRUE);
  return book;
}

/* Names in the list of quotes, and in the choice above it. */
static void
test_quote_list (Fixture *f, gconstpointer data)
{
  g_autoptr (QmQuoteBook) book = open_book (f);
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GArray) ids = NULL;
  GtkWidget *window = gtk_window_new ();

  g_ptr_array_add (quotes, make_quote ());
  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, NULL);
  g_assert_nonnull (ids);
  gtk_window_set_default_size (GTK_WINDOW (window), 1200, 700);
  gtk_window_set_child (GTK_WINDOW (window), qm_quotes_page_new (book, NULL));
  gtk_window_present (GTK_WINDOW (window));
  while (!says (window, "H100 SXM5 80GB"))
    g_main_context_iteration (NULL, TRUE);
  change_gpus (f);
  while (says (window, "H100 SXM5 80GB") || !says (window, "Our H100"))
    g_main_context_iteration (NULL, TRUE);
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
  qm_quote_book_close (book);
}

/* What can be watched, and names of what is. */
static void
test_watch_window (Fixture *f, gconstpointer data)
{
  g_autoptr (QmQuoteBook) book = open_book (f);
  g_autoptr (QmPriceWatch) watch = qm_price_watch_new (book, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *address =
      qm_price_watch_add (watch, QM_WATCH_PAGE, "http://localhost/gpu", GPU,
                          &error);
  GtkWidget *window = qm_watch_window_new (NULL, watch);
  AdwComboRow *items = NULL;
  g_autofree char *chosen = NULL;

  g_assert_no_error (error);
  for (guint i = 0; items == NULL; i++)
    {
      AdwComboRow *row = widgets_find (window, ADW_TYPE_COMBO_ROW, i);

      if (find_choice (adw_combo_row_get_model (row), "H100 SXM5 80GB")
          != G_MAXUINT)
        items = row;
    }
  choose (items, "H100 SXM5 80GB");
  g_assert_true (says (window, "H100 SXM5 80GB"));
  change_gpus (f);
  chosen = chosen_of (items);
  g_assert_cmpstr (chosen, ==, "Our H100");
  g_assert_cmpuint (find_choice (adw_combo_row_get_model (items), "New GPU"),
                    !=, G_MAXUINT);
  g_assert_false (says (window, "H100 SXM5 80GB"));
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
  qm_price_watch_close (watch);
  qm_quote_book_close (book);
}

/* GPUs that a training is planned on. */
static void
test_model_gpus (Fixture *f, gconstpointer data)
{
  g_autoptr (QmModelPlans) plans = qm_model_plans_new ();
  GtkWidget *gpus = g_object_ref_sink (qm_model_gpus_new (f->keeper, plans));
  AdwComboRow *counts = widgets_find (gpus, ADW_TYPE_COMBO_ROW, 0);
  guint n = widgets_count (gpus, ADW_TYPE_ACTION_ROW);
  g_autofree char *chosen = NULL;

  choose (counts, "4");
  g_assert_nonnull (find_row (gpus, ADW_TYPE_ACTION_ROW, "H100 SXM5 80GB"));
  g_assert_null (find_row (gpus, ADW_TYPE_ACTION_ROW, "New GPU"));
  change_gpus (f);
  g_assert_null (find_row (gpus, ADW_TYPE_ACTION_ROW, "H100 SXM5 80GB"));
  g_assert_nonnull (find_row (gpus, ADW_TYPE_ACTION_ROW, "Our H100"));
  g_assert_nonnull (find_row (gpus, ADW_TYPE_ACTION_ROW, "New GPU"));
  g_assert_cmpuint (widgets_count (gpus, ADW_TYPE_ACTION_ROW), ==, n + 1);
  chosen = chosen_of (counts);
  g_assert_cmpstr (chosen, ==, "4");
  widgets_finalize (gpus);
}

/* The GPU whose memory is looked at. */
static void
test_model_memory (Fixture *f, gconstpointer data)
{
  g_autoptr (QmModelPlans) plans = qm_model_plans_new ();
  GtkWidget *memory =
      g_object_ref_sink (qm_model_memory_new (f->keeper, plans));
  AdwComboRow *gpus = widgets_find (memory, ADW_TYPE_COMBO_ROW, 0);
  g_autofree char *chosen = NULL;

  choose (gpus, "H100 SXM5 80GB");
  change_gpus (f);
  g_assert_cmpuint (find_choice (adw_combo_row_get_model (gpus), "New GPU"), !=,
                    G_MAXUINT);
  chosen = chosen_of (gpus);
  g_assert_cmpstr (chosen, ==, "Our H100");
  widgets_finalize (memory);
}

/* The row of the id, whose title is beside the one of the name. */
static QmFieldRow *
id_row (GtkWidget *editor)
{
  for (guint i = 0;; i++)
    {
      QmFieldRow *row = widgets_find (editor, QM_TYPE_FIELD_ROW, i);

      if (g_str_equal (qm_field_row_get_text (row), "mine"))
        return row;
    }
}

/* Which ids are taken, and what refers to the one that is changed. */
static void
test_model_editor (Fixture *f, gconstpointer data)
{
  g_autoptr (GPtrArray) models = NULL;
  GtkWidget *editor;
  QmFieldRow *row;

  write_model (f, "mine", "Mine");
  load (f);
  models = qm_model_folder_list ();
  g_assert_cmpuint (models->len, ==, 1);
  editor = qm_model_editor_new (NULL, f->keeper);
  qm_model_editor_edit (QM_MODEL_EDITOR (editor),
                        g_ptr_array_index (models, 0));
  row = id_row (editor);
  g_assert_false (says (row, "refers to it"));
  write_file (f, "measurements", "m.csv",
              "model,gpu,gpus,settings,feasibility,days,provenance,source\n"
              "mine," GPU ",1,optimal,feasible,10,measured,ours\n");
  load (f);
  g_assert_true (says (row, "1 training time refers to it"));

  qm_field_row_set_text (row, "other");
  g_assert_false (says (row, "It is that of"));
  write_model (f, "other", "The Other One");
  load (f);
  g_assert_true (says (row, "It is that of “The Other One”"));
  gtk_window_destroy (GTK_WINDOW (editor));
  widgets_settle ();
}

static void
test_models_window (Fixture *f, gconstpointer data)
{
  GtkWidget *window = qm_models_window_new (NULL, f->keeper);

  g_assert_null (find_row (window, ADW_TYPE_ACTION_ROW, "Mine"));
  write_model (f, "mine", "Mine");
  load (f);
  g_assert_nonnull (find_row (window, ADW_TYPE_ACTION_ROW, "Mine"));
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
}

static guint
count_editors (void)
{
  GListModel *windows = gtk_window_get_toplevels ();
  guint count = 0;

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWidget) window = g_list_model_get_item (windows, i);

      count += QM_IS_MODEL_EDITOR (window);
    }
  return count;
}

/* Lets GTK's dialog that chooses a file come up.  libcloudproviders, which it
 * asks for places, loses a string for each folder of data; of the calls that
 * lead there, too few are known for a suppression. */
static void
settle_with_chooser (void)
{
#ifdef __SANITIZE_ADDRESS__
  __lsan_disable ();
#endif
  widgets_settle ();
#ifdef __SANITIZE_ADDRESS__
  __lsan_enable ();
#endif
}

/* Who chooses no configuration is left without an editor. */
static void
test_model_not_chosen (Fixture *f, gconstpointer data)
{
  GtkWidget *window = qm_models_window_new (NULL, f->keeper);
  GListModel *windows = gtk_window_get_toplevels ();
  guint dialogs = 0;

  gtk_window_present (GTK_WINDOW (window));
  gtk_widget_activate_action (window, "models.new", NULL);
  settle_with_chooser ();
  g_assert_cmpuint (count_editors (), ==, 1);
  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWidget) dialog = g_list_model_get_item (windows, i);

      if (!GTK_IS_DIALOG (dialog))
        continue;
      dialogs++;
      gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
    }
  g_assert_cmpuint (dialogs, ==, 1);
  widgets_settle ();
  g_assert_cmpuint (count_editors (), ==, 0);
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
}

/* A configuration that is dropped on the window opens an editor, which is
 * called as its folder is and takes another configuration likewise. */
static void
test_model_dropped (Fixture *f, gconstpointer data)
{
  static const char config[] =
      "{\"model_type\": \"gpt_neox\", \"vocab_size\": 256,"
      " \"hidden_size\": 32, \"num_hidden_layers\": 1,"
      " \"num_attention_heads\": 4, \"intermediate_size\": 64,"
      " \"hidden_act\": \"gelu\", \"max_position_embeddings\": 32}";
  g_autofree char *path =
      g_build_filename (f->user, "mine", "config.json", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  GtkWidget *window = qm_models_window_new (NULL, f->keeper);
  GListModel *windows = gtk_window_get_toplevels ();

  write_file (f, "mine", "config.json", config);
  g_assert_true (widgets_drop (window, G_TYPE_FILE, file));
  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWidget) editor = g_list_model_get_item (windows, i);

      if (!QM_IS_MODEL_EDITOR (editor))
        continue;
      g_assert_nonnull (id_row (editor));
      g_assert_true (widgets_drop (editor, G_TYPE_FILE, file));
    }
  g_assert_cmpuint (count_editors (), ==, 1);
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
}

/* The models that another machine is to measure; ticked ones stay so. */
static void
test_elsewhere (Fixture *f, gconstpointer data)
{
  static const char *const ticked[] = { "vit-large", NULL };
  GtkWidget *window = qm_elsewhere_window_new (NULL, f->keeper, ticked);
  AdwActionRow *row;

  write_model (f, "mine", "Mine");
  load (f);
  row = find_row (window, ADW_TYPE_ACTION_ROW, "Mine");
  g_assert_nonnull (row);
  g_assert_false (gtk_check_button_get_active (
      widgets_find (row, GTK_TYPE_CHECK_BUTTON, 0)));
  row = find_row (window, ADW_TYPE_ACTION_ROW, "ViT (large)");
  g_assert_nonnull (row);
  g_assert_true (gtk_check_button_get_active (
      widgets_find (row, GTK_TYPE_CHECK_BUTTON, 0)));
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
}

#define ADD(name, function)                                               \
  g_test_add ("/catalog-followed/" name, Fixture, NULL, set_up, function, \
              tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_setenv ("QUARTERMASTER_DATA_DIR", g_getenv ("QM_TEST_DATA_DIR"), TRUE);

  ADD ("quote-view", test_quote_view);
  ADD ("quote-list", test_quote_list);
  ADD ("watch-window", test_watch_window);
  ADD ("gpus-followed", test_model_gpus);
  ADD ("model-memory", test_model_memory);
  ADD ("model-editor", test_model_editor);
  ADD ("models-window", test_models_window);
  ADD ("model-not-chosen", test_model_not_chosen);
  ADD ("model-dropped", test_model_dropped);
  ADD ("elsewhere", test_elsewhere);

  return g_test_run ();
}
