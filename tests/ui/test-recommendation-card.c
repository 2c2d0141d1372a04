/* SPDX-License-Identifier: Apache-2.0 */

#include "data/identity.h"
#include "tests/ui/widgets.h"
#include "ui/advisor/qm-recommendation-card.h"
#include "ui/qm-text.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  GtkWidget *window;
  QmRecommendationCard *card;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  fixture->window = gtk_window_new ();
  /* Without a width GTK 4.18 tries ever narrower ones. */
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 640, 640);
  fixture->card =
      QM_RECOMMENDATION_CARD (g_object_new (QM_TYPE_RECOMMENDATION_CARD, NULL));
  qm_recommendation_card_set_advisor (fixture->card, fixture->advisor);
  gtk_window_set_child (GTK_WINDOW (fixture->window),
                        GTK_WIDGET (fixture->card));
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (fixture->window);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  GtkWidget *card = GTK_WIDGET (fixture->card);

  g_object_add_weak_pointer (G_OBJECT (card), (gpointer *) &card);
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  widgets_settle ();
  g_assert_null (card);
  g_assert_finalize_object (fixture->advisor);
}

/* All words that are shown, a line each. */
static void
collect (GtkWidget *widget, GString *words)
{
  if (!gtk_widget_get_visible (widget))
    return;
  if (GTK_IS_LABEL (widget))
    g_string_append_printf (words, "%s\n",
                            gtk_label_get_text (GTK_LABEL (widget)));
  else if (QM_IS_TEXT (widget))
    {
      g_autofree char *text = widgets_get_label (widget);

      g_string_append_printf (words, "%s\n", text);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    collect (child, words);
}

static gboolean
says (Fixture *fixture, const char *what)
{
  g_autoptr (GString) words = g_string_new (NULL);

  collect (GTK_WIDGET (fixture->card), words);
  if (strstr (words->str, what) != NULL)
    return TRUE;
  g_test_message ("The card says: %s", words->str);
  return FALSE;
}

static GtkListBox *
list_named (Fixture *fixture, const char *name)
{
  for (guint i = 0;; i++)
    {
      GtkWidget *list = widgets_find (fixture->card, GTK_TYPE_LIST_BOX, i);

      if (strcmp (gtk_buildable_get_buildable_id (GTK_BUILDABLE (list)), name)
          == 0)
        return GTK_LIST_BOX (list);
    }
}

static void
test_found (Fixture *fixture, gconstpointer data)
{
  g_assert_true (says (fixture, "Buy 1 × H100 SXM5 80GB: $31,000 (a price "));
  g_assert_true (says (fixture, " old), 37 days"));
  g_assert_true (says (fixture, "Nothing else within $40,000 trains"));
  g_assert_true (says (fixture, "Runner-up: 2 × A100 SXM4 80GB"));
  g_assert_true (says (fixture, "Next faster: 8 × RTX A6000"));
  g_assert_true (says (fixture, "Next cheaper: 4 × RTX A6000"));
  g_assert_true (says (fixture, "119\u00a0%"));
  g_assert_true (says (fixture, "Prices date from 21 September 2024"));
  g_assert_true (says (fixture, "Renting 1 × H100 SXM5 80GB for 5 years at "));
  g_assert_true (says (fixture, " Buying costs $31,000. "));
  g_assert_true (says (fixture, "(egress)"));
  g_assert_true (says (fixture, "an hour on 1 × H100 SXM5 80GB costs $"));
  g_assert_false (says (fixture, "Selected"));
}

/* The paper's own answer, which rests on a time that no card reaches: it says
 * so. */
static void
test_as_in_paper (Fixture *fixture, gconstpointer data)
{
  g_object_set (fixture->advisor, "as-in-paper", TRUE, NULL);
  widgets_settle ();
  g_assert_true (says (fixture, "Buy 8 × GeForce RTX 3090: $20,900, 30 days"));
  g_assert_true (says (fixture, "119\u00a0%"));
  g_assert_true (says (fixture, "Runner-up: 1 × H100 SXM5 80GB"));
  g_object_set (fixture->advisor, "as-in-paper", FALSE, NULL);
  widgets_settle ();
  g_assert_true (says (fixture, "Buy 1 × H100 SXM5 80GB: $31,000"));
}

static void
select_of (Fixture *fixture, const char *gpu, int gpus)
{
  guint n;
  const QmCandidate *candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, gpu) == 0 && candidates[i].gpus == gpus)
      {
        qm_advisor_select (fixture->advisor, 0, i);
        return;
      }
  g_assert_not_reached ();
}

/* Who selects what is not offered reads why; of what is, what it stands in. */
static void
test_not_carried (Fixture *fixture, gconstpointer data)
{
  g_object_set (fixture->advisor, "room", QM_ROOM_ONE_CIRCUIT, NULL);
  widgets_settle ();
  select_of (fixture, "h100-80gb-sxm", 8);
  g_assert_true (says (fixture, "Selected: 8 × H100 SXM5 80GB: –, 4.4 days"));
  g_assert_true (says (fixture,
                       "It is not offered: no machine; GPU server for "
                       "8 GPUs draws 6,413\u00a0W, and the circuit gives "
                       "2,944\u00a0W."));
  select_of (fixture, "h100-80gb-sxm", 2);
  g_assert_true (says (fixture, "Selected: 2 × H100 SXM5 80GB: $61,500"));
  g_assert_true (says (fixture, "The machine is the Desktop for 2 GPUs"));
  g_assert_false (says (fixture, "It is not offered"));
}

static void
test_over_budget (Fixture *fixture, gconstpointer data)
{
  g_object_set (fixture->advisor, "budget", 1000.0, NULL);
  g_assert_true (says (fixture, "Nothing within the budget will do"));
  g_assert_true (says (fixture, "The cheapest that would do is "
                                "1 × GeForce RTX 3090"));
  g_assert_false (says (fixture, "Runner-up"));
  /* And back again. */
  g_object_set (fixture->advisor, "budget", 40000.0, NULL);
  g_assert_true (says (fixture, "Buy 1 × H100"));
  g_assert_true (says (fixture, "Runner-up"));
}

static void
test_too_late (Fixture *fixture, gconstpointer data)
{
  g_object_set (fixture->advisor, "deadline", 1.0, NULL);
  g_assert_true (says (fixture, "Nothing is fast enough"));
  g_assert_true (says (fixture, "The fastest is 8 × H100 SXM5 80GB"));
}

static void
test_nothing (Fixture *fixture, gconstpointer data)
{
  g_object_set (fixture->advisor, "desktops", FALSE, "servers", FALSE, NULL);
  widgets_settle ();
  g_assert_true (says (fixture, "No machine is left to choose from"));
  g_assert_false (says (fixture, "119\u00a0%"));
}

static void
test_alternatives_select (Fixture *fixture, gconstpointer data)
{
  GtkListBox *list = list_named (fixture, "alternatives");
  const QmRecommendation *recommendation =
      qm_advisor_get_recommendation (fixture->advisor, 0);
  const int expected[] = { recommendation->runner_up, recommendation->faster,
                           recommendation->cheaper };
  guint selected;

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      GtkListBoxRow *row = gtk_list_box_get_row_at_index (list, (int) i);

      g_assert_true (gtk_list_box_row_get_activatable (row));
      g_signal_emit_by_name (list, "row-activated", row);
      g_assert_true (
          qm_advisor_get_selected (fixture->advisor, NULL, &selected));
      g_assert_cmpint ((int) selected, ==, expected[i]);
      g_assert_true (says (fixture, "Selected: "));
    }
  g_signal_emit_by_name (
      widgets_find_button (fixture->card, "Select this machine"), "clicked");
  g_assert_true (qm_advisor_get_selected (fixture->advisor, NULL, &selected));
  g_assert_cmpint ((int) selected, ==, recommendation->best);
  qm_advisor_unselect (fixture->advisor);
  g_assert_false (says (fixture, "Selected: "));
}

/* Times of this machine as its results file has them. */
static QmHostTimes *
times_here (void)
{
  const QmModel *model = qm_catalog_model (widgets_catalog (), "pythia-1b");
  g_autofree char *folder = g_dir_make_tmp ("qm-card-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "here.jsonl", NULL);
  g_autofree char *id = g_build_filename (folder, "machine-id", NULL);
  g_autofree char *line = NULL;
  char key[QM_MODEL_KEY_BYTES];
  QmIdentity here;
  QmHostTimes *times;

  g_assert_true (
      g_file_set_contents (id, "0123456789abcdef0123456789abcdef\n", -1, NULL));
  g_setenv ("QUARTERMASTER_MACHINE_ID", id, TRUE);
  qm_identity_here (&here);
  qm_model_key (&model->config, &model->recipe, key);
  line = g_strdup_printf (
      "{\"schema\": 1, \"status\": \"measured\", \"model\": \"pythia-1b\","
      " \"model_key\": \"%s\", \"settings\": \"free-lunch\","
      " \"checkpointing\": false, \"sharding\": \"none\","
      " \"offloading\": false, \"precision\": \"bf16\", \"micro_batch\": 4,"
      " \"accumulation\": 8, \"gpu\": \"a6000\", \"gpus\": 1,"
      " \"engine\": \"pytorch\", \"version\": \"2.11.0\","
      " \"provenance\": \"measured\", \"deterministic\": false,"
      " \"time\": \"2026-11-20T10:00:00Z\", \"machine\": {\"id\": \"%s\"},"
      " \"device\": {\"name\": \"A device\", \"driver\": \"1\","
      " \"architecture\": 80, \"memory_bytes\": 1000},"
      " \"pass\": {\"mean_s\": 1}, \"update\": {\"mean_s\": 1},"
      " \"step\": {\"mean_s\": 9}, \"days\": 300}\n",
      key, here.machine);
  g_assert_true (g_file_set_contents (path, line, -1, NULL));
  times = qm_host_times_load (widgets_catalog (), path);
  g_unlink (path);
  g_unlink (id);
  g_rmdir (folder);
  g_assert_nonnull (times);
  return times;
}

/* To wait for this machine is the last alternative, and the others lead to
 * where they lead without it. */
static void
test_this_machine (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmHostTimes) times = times_here ();
  GtkListBox *list = list_named (fixture, "alternatives");
  const QmCandidate *candidates;
  guint selected, n;

  qm_advisor_set_host (fixture->advisor, times);
  widgets_settle ();
  g_assert_true (says (fixture, "Runner-up: "));
  g_assert_true (says (fixture, "Wait: This machine (1 × RTX A6000)"));
  for (int i = 0; i < 4; i++)
    {
      GtkListBoxRow *row = gtk_list_box_get_row_at_index (list, i);

      g_assert_true (gtk_list_box_row_get_activatable (row));
      g_signal_emit_by_name (list, "row-activated", row);
      g_assert_true (
          qm_advisor_get_selected (fixture->advisor, NULL, &selected));
      candidates =
          qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0),
                                &n);
      g_assert_cmpint (candidates[selected].here, ==, i == 3);
    }
  /* It stays selected, and not what could be bought of the same GPU. */
  g_object_set (fixture->advisor, "lifetime", 4.0, NULL);
  g_assert_true (qm_advisor_get_selected (fixture->advisor, NULL, &selected));
  candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);
  g_assert_true (candidates[selected].here);
}

static int
topic_of (GtkListBox *list)
{
  return gtk_list_box_row_get_index (gtk_list_box_get_selected_row (list));
}

static void
test_topics (Fixture *fixture, gconstpointer data)
{
  static const char *const two[] = { "vit-large", "pythia-1b", NULL };
  static const char *const one[] = { "vit-large", NULL };
  GtkListBox *list = list_named (fixture, "topics");

  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (list)));
  g_object_set (fixture->advisor, "models", two, NULL);
  widgets_settle ();
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (list)));
  g_assert_true (says (fixture, "ViT (large)"));
  g_assert_cmpint (topic_of (list), ==, 0);
  gtk_list_box_select_row (list, gtk_list_box_get_row_at_index (list, 1));
  g_assert_cmpint (topic_of (list), ==, 1);
  g_assert_true (says (fixture, "trains Pythia (1B) sooner"));

  /* A selection elsewhere brings its topic. */
  qm_advisor_select (fixture->advisor, 0, 2);
  g_assert_cmpint (topic_of (list), ==, 0);
  g_assert_true (says (fixture, "trains ViT (large) sooner"));
  qm_advisor_select (fixture->advisor, 1, 2);
  g_object_set (fixture->advisor, "models", one, NULL);
  widgets_settle ();
  g_assert_cmpint (topic_of (list), ==, 0);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (list)));
  g_assert_true (says (fixture, "trains ViT (large) sooner"));
}

/* A move that changes no word touches no label. */
static void
test_quiet (Fixture *fixture, gconstpointer data)
{
  GtkWidget *headline;
  guint n_headline;
  guint i = 0;

  do
    headline = widgets_find (fixture->card, GTK_TYPE_LABEL, i++);
  while (!gtk_widget_has_css_class (headline, "title-3"));
  widgets_count_notify (headline, "label", &n_headline);
  g_object_set (fixture->advisor, "budget", 40100.0, NULL);
  g_assert_cmpuint (n_headline, ==, 0);
  g_object_set (fixture->advisor, "budget", 140000.0, NULL);
  g_assert_cmpuint (n_headline, ==, 1);
}

/* The answer comes first, then what stands between, such as the plots, then
 * what the answer rests on. */
static void
test_middle (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) words = g_string_new (NULL);
  GtkWidget *middle = gtk_label_new ("In between");
  const char *answer, *between;

  g_object_set (fixture->card, "middle", middle, NULL);
  widgets_settle ();
  collect (GTK_WIDGET (fixture->card), words);
  answer = strstr (words->str, "Prices date from");
  between = strstr (words->str, "In between");
  g_assert_nonnull (answer);
  g_assert_nonnull (between);
  g_assert_true (strstr (words->str, "Buy 1 ×") < answer && answer < between);
  g_assert_nonnull (strstr (between, "Runner-up"));
  g_assert_null (strstr (between, "Buy 1 ×"));

  /* Without an answer it stays. */
  qm_recommendation_card_set_advisor (fixture->card, NULL);
  g_string_truncate (words, 0);
  collect (GTK_WIDGET (fixture->card), words);
  g_assert_cmpstr (words->str, ==, "In between\n");
  g_object_set (fixture->card, "middle", NULL, NULL);
  g_assert_false (says (fixture, "In between"));
}

static void
test_without_advisor (void)
{
  GtkWidget *card = g_object_new (QM_TYPE_RECOMMENDATION_CARD, NULL);

  qm_recommendation_card_set_advisor (QM_RECOMMENDATION_CARD (card), NULL);
  widgets_finalize (card);
}

#define ADD(name, function)                                                  \
  g_test_add ("/recommendation-card/" name, Fixture, NULL, set_up, function, \
              tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("found", test_found);
  ADD ("as-in-paper", test_as_in_paper);
  ADD ("not-carried", test_not_carried);
  ADD ("over-budget", test_over_budget);
  ADD ("too-late", test_too_late);
  ADD ("nothing", test_nothing);
  ADD ("alternatives-select", test_alternatives_select);
  ADD ("this-machine", test_this_machine);
  ADD ("topics", test_topics);
  ADD ("quiet", test_quiet);
  ADD ("middle", test_middle);
  g_test_add_func ("/recommendation-card/without-advisor",
                   test_without_advisor);
  return g_test_run ();
}
