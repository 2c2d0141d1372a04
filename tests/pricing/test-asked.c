/* SPDX-License-Identifier: Apache-2.0 */

/* Questions as files: what is written is read back equal, and what is no
 * question is refused with its line and the name of the field. */

#include "pricing/advice/qm-asked.h"

#include <glib/gstdio.h>
#include <string.h>

#define HEAD "{\"format\": \"quartermaster-question\", \"version\": 1, "
#define ONE  HEAD "\"models\": [\"pythia-1b\"]"

static QmCatalog *catalog;

static QmAsked *
read_text (const char *text, GError **error)
{
  return qm_asked_read (text, strlen (text), "x.quartermaster", error);
}

static QmAsked *
read_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  QmAsked *asked = read_text (text, &error);

  g_assert_no_error (error);
  g_assert_nonnull (asked);
  return asked;
}

/* A question with every field other than by default. */
static QmAsked *
ask_all (gboolean portfolio)
{
  static const char *const models[] = { "pythia-1b", "vit-large", NULL };
  static const int counts[] = { 1, 4 };
  g_autoptr (QmQuestion) question = qm_question_new ();
  QmOwnershipSettings ownership = qm_ownership_settings_default ();
  QmPurse purse = qm_purse_default ();

  if (portfolio)
    {
      qm_question_add_run (question, "pythia-1b", 5);
      qm_question_add_run (question, "vit-large", 0.1);
    }
  question->at_once = 2;
  question->deadline_days = 300;
  question->run_deadline_days = 42.5;
  g_strlcpy (purse.currency, "EUR", sizeof purse.currency);
  purse.budget_minor = 6000001;
  purse.tax_percent = 19;
  purse.gross = TRUE;
  purse.machine_least = 1000000;
  purse.machine_most = 9000000;
  question->purse = purse;
  question->gpus = g_strsplit ("a6000,rtx4090", ",", -1);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_vals (question->counts, counts, 2);
  question->kinds = QM_KINDS_SERVER;
  question->times_of = QM_TIMES_OF_QUARTERMASTER;
  question->predictions = QM_PREDICTIONS_NONE;
  question->link = QM_GPU_LINK_PCIE;
  question->settings = QM_SETTINGS_NAIVE;
  question->any_price = TRUE;
  question->expired_offers = TRUE;
  question->room_watts = 3210;
  question->lifetime_years = 4;
  question->time_factor = 1.3;
  question->slack_percent = 0;
  qm_question_add_use (question, "a6000", 4, 1500000, 24);
  qm_question_add_use (question, "rtx4090", 1, 0, NAN);
  g_assert_true (qm_ownership_settings_set (&ownership, "kwh", "0.31", NULL));
  ownership.parts = QM_OWNERSHIP_ELECTRICITY | QM_OWNERSHIP_SUPPORT;
  qm_question_set_ownership (question, &ownership);
  return qm_asked_new (portfolio ? NULL : models, question);
}

static void
test_round_trip (void)
{
  for (int portfolio = 0; portfolio < 2; portfolio++)
    {
      g_autoptr (QmAsked) asked = ask_all (portfolio);
      g_autofree char *first = qm_asked_write (asked);
      g_autoptr (QmAsked) again = read_good (first);
      g_autofree char *second = qm_asked_write (again);
      const QmQuestion *question = again->question;
      const QmUse *use = &g_array_index (question->uses, QmUse, 0);

      g_assert_cmpstr (first, ==, second);
      g_assert_cmpuint (g_strv_length (again->models), ==, portfolio ? 0 : 2);
      g_assert_cmpint (question->at_once, ==, 2);
      g_assert_cmpfloat (question->deadline_days, ==, 300);
      g_assert_cmpfloat (question->run_deadline_days, ==, 42.5);
      g_assert_cmpstr (question->purse.currency, ==, "EUR");
      g_assert_cmpint (question->purse.budget_minor, ==, 6000001);
      g_assert_cmpfloat (question->purse.tax_percent, ==, 19);
      g_assert_true (question->purse.gross);
      g_assert_cmpint (question->purse.machine_least, ==, 1000000);
      g_assert_cmpint (question->purse.machine_most, ==, 9000000);
      g_assert_cmpstr (question->gpus[1], ==, "rtx4090");
      g_assert_cmpint (g_array_index (question->counts, int, 1), ==, 4);
      g_assert_cmpint (question->kinds, ==, QM_KINDS_SERVER);
      g_assert_cmpint (question->times_of, ==, QM_TIMES_OF_QUARTERMASTER);
      g_assert_cmpint (question->predictions, ==, QM_PREDICTIONS_NONE);
      g_assert_cmpint (question->link, ==, QM_GPU_LINK_PCIE);
      g_assert_cmpint (question->settings, ==, QM_SETTINGS_NAIVE);
      g_assert_true (question->any_price && question->expired_offers);
      g_assert_cmpfloat (question->room_watts, ==, 3210);
      g_assert_cmpfloat (question->lifetime_years, ==, 4);
      g_assert_cmpfloat (question->time_factor, ==, 1.3);
      g_assert_cmpfloat (question->slack_percent, ==, 0);
      g_assert_cmpint (use->hour_micros, ==, 1500000);
      g_assert_cmpfloat (use->walltime_hours, ==, 24);
      g_assert_cmpint (question->ownership->parts, ==,
                       QM_OWNERSHIP_ELECTRICITY | QM_OWNERSHIP_SUPPORT);
      g_assert_cmpint (question->ownership->kwh_micros, ==, 310000);
      if (portfolio)
        g_assert_cmpfloat (
            g_array_index (question->runs, QmRun, 1).runs_per_year, ==, 0.1);
      g_assert_true (qm_asked_check (again, catalog, NULL));
    }
}

/* What is not said is as a new question has it. */
static void
test_defaults (void)
{
  g_autoptr (QmAsked) asked = read_good (ONE "}");
  g_autoptr (QmQuestion) plain = qm_question_new ();
  const QmQuestion *question = asked->question;

  g_assert_cmpstr (asked->models[0], ==, "pythia-1b");
  g_assert_null (question->runs);
  g_assert_null (question->gpus);
  g_assert_null (question->counts);
  g_assert_null (question->uses);
  g_assert_null (question->ownership);
  g_assert_cmpint (question->purse.budget_minor, ==, -1);
  g_assert_cmpstr (question->purse.currency, ==, "USD");
  g_assert_false (qm_known (question->deadline_days));
  g_assert_false (qm_known (question->run_deadline_days));
  g_assert_cmpint (question->kinds, ==, plain->kinds);
  g_assert_cmpfloat (question->room_watts, ==, plain->room_watts);
  g_assert_cmpfloat (question->lifetime_years, ==, plain->lifetime_years);
  g_assert_cmpfloat (question->time_factor, ==, plain->time_factor);
  g_assert_cmpfloat (question->slack_percent, ==, plain->slack_percent);
}

static void
test_paper (void)
{
  g_autoptr (QmAsked) asked = read_good (ONE ", \"as_in_the_paper\": true}");
  g_autofree char *text = qm_asked_write (asked);
  g_autoptr (QmAsked) again = read_good (text);

  g_assert_true (asked->question->as_in_paper);
  g_assert_true (again->question->as_in_paper);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *text;
    const char *says;
  } cases[] = {
    { "", "x.quartermaster:1:1:" },
    { "[]", "is not a JSON object" },
    { "{}", "format: is missing" },
    { "{\"format\": \"quotes\"}", "format: is not quartermaster-question" },
    { "{\"format\": \"quartermaster-question\"}", "version: is missing" },
    { "{\"format\": \"quartermaster-question\", \"version\": 2}",
      "newer version" },
    { "{\"format\": \"quartermaster-question\", \"version\": 1}",
      "or runs is needed" },
    { HEAD "\"models\": []}", "or runs is needed" },
    { ONE ", \"runs\": [{\"model\": \"a\", \"runs_per_year\": 1}]}",
      "one of them" },
    { HEAD "\"runs\": []}", "runs: is empty" },
    { HEAD "\"runs\": [1]}", "runs: is not a list of objects" },
    { HEAD "\"runs\": [{\"model\": \"a\"}]}",
      "runs.runs_per_year: is missing" },
    { HEAD "\"runs\": [{\"model\": \"a\", \"runs_per_year\": 0}]}",
      "runs.runs_per_year" },
    { HEAD "\"runs\": [{\"model\": \"a\", \"runs_per_year\": 1, \"n\": 1}]}",
      "runs.n: unsupported field" },
    { HEAD "\"models\": \"a\"}", "models: is not a list" },
    { HEAD "\"models\": [\"a\", \"a\"]}", "twice" },
    { HEAD "\"models\": [\"a\\u0001\"]}", "names" },
    { ONE ", \"budget\": 5}", "budget: unsupported field" },
    { ONE ", \"deadline_day\": 5}", "did you mean 'deadline_days'" },
    { ONE ", \"deadline_days\": NaN}", "invalid token" },
    { ONE ", \"deadline_days\": 1e400}", "overflow" },
    { ONE ", \"deadline_days\": -1}", "deadline_days" },
    { ONE ", \"deadline_days\": \"5\"}", "deadline_days" },
    { ONE ", \"at_once\": 0}", "at_once" },
    { ONE ", \"at_once\": 2.5}", "at_once: is not a whole number" },
    { ONE ", \"at_once\": 1, \"at_once\": 2}", "duplicate" },
    { ONE ", \"money\": {}}", "money.currency: is missing" },
    { ONE ", \"money\": {\"currency\": \"eur\"}}", "money.currency" },
    { ONE ", \"money\": {\"currency\": \"EUR\", \"budget\": 1e20}}",
      "money.budget" },
    { ONE ", \"money\": {\"currency\": \"EUR\", \"gross\": true}}",
      "money.gross: needs" },
    { ONE ", \"money\": {\"currency\": \"EUR\", \"gross\": 1}}",
      "money.gross" },
    { ONE ", \"money\": {\"currency\": \"JPY\", \"budget\": 0.2}}",
      "smallest coin" },
    { ONE ", \"money\": {\"currency\": \"EUR\", \"machine_least\": 3, "
          "\"machine_most\": 2}}",
      "machine_least: is more" },
    { ONE ", \"room\": \"garage\"}", "room" },
    { ONE ", \"room\": -5}", "room" },
    { ONE ", \"machine\": \"laptop\"}", "machine" },
    { ONE ", \"gpus\": [0]}", "gpus" },
    { ONE ", \"gpus\": [99999999999]}", "gpus" },
    { ONE ", \"times_of\": \"published\"}", "times_of" },
    { ONE ", \"ownership\": {\"parts\": [\"bribes\"]}}", "ownership.parts" },
    { ONE ", \"ownership\": {\"values\": {\"pue\": 0.5}}}",
      "ownership.values" },
    { ONE ", \"ownership\": {\"parts\": [\"tax\"]}, \"money\": {\"currency\": "
          "\"EUR\", \"tax_percent\": 19}}",
      "counts tax" },
    { ONE ", \"as_in_the_paper\": true, \"room\": \"any\"}",
      "room: does not go" },
    { ONE ", \"use\": [{\"gpu\": \"a6000\", \"gpus\": 0}]}", "use.gpus" },
    { ONE "} x", "end of file" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmAsked) asked = read_text (cases[i].text, &error);

      g_assert_null (asked);
      g_assert_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_FORMAT);
      if (strstr (error->message, cases[i].says) == NULL)
        g_error ("%s\n%s\n%s", cases[i].text, error->message, cases[i].says);
    }
}

/* Depth, length and numbers of things have bounds. */
static void
test_heaps (void)
{
  g_autoptr (GString) deep = g_string_new (ONE ", \"use\": ");
  g_autoptr (GString) many = g_string_new (HEAD "\"models\": [");
  g_autofree char *large = g_strnfill (QM_ASKED_MAX_BYTES + 1, ' ');
  g_autoptr (GError) error = NULL;

  for (int i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  g_assert_null (read_text (deep->str, &error));
  g_assert_nonnull (strstr (error->message, "depth"));
  g_clear_error (&error);
  for (int i = 0; i <= QM_ASKED_MAX_LINES; i++)
    g_string_append_printf (many, "\"%d\",", i);
  g_string_append (many, "\"x\"]}");
  g_assert_null (read_text (many->str, &error));
  g_assert_nonnull (strstr (error->message, "too many"));
  g_clear_error (&error);
  g_assert_null (read_text (large, &error));
  g_assert_nonnull (strstr (error->message, "too large"));
}

/* Every cut and every change of a byte is read, or refused with a reason. */
static void
test_broken (void)
{
  g_autoptr (QmAsked) asked = ask_all (TRUE);
  g_autofree char *text = qm_asked_write (asked);
  gsize length = strlen (text);
  guint refused = 0;

  for (gsize i = 0; i < length - 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmAsked) cut = qm_asked_read (text, i, "x", &error);

      g_assert_null (cut);
      g_assert_nonnull (error);
    }
  for (int i = 0; i < 4000; i++)
    {
      gsize at = (gsize) g_test_rand_int_range (0, (gint32) length);
      char was = text[at];
      g_autoptr (GError) error = NULL;
      g_autoptr (QmAsked) changed = NULL;

      text[at] = (char) g_test_rand_int_range (0, 256);
      changed = qm_asked_read (text, length, "x", &error);
      g_assert_true ((changed == NULL) == (error != NULL));
      refused += changed == NULL;
      text[at] = was;
    }
  g_assert_cmpuint (refused, >, 2000);
}

static void
test_unknown (void)
{
  static const char *const texts[] = {
    HEAD "\"models\": [\"nothing\"]}",
    HEAD "\"runs\": [{\"model\": \"nothing\", \"runs_per_year\": 1}]}",
    ONE ", \"gpu\": [\"nothing\"]}",
    ONE ", \"use\": [{\"gpu\": \"nothing\", \"gpus\": 1}]}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (QmAsked) asked = read_good (texts[i]);
      g_autoptr (GError) error = NULL;

      g_assert_false (qm_asked_check (asked, catalog, &error));
      g_assert_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_UNKNOWN);
      g_assert_nonnull (strstr (error->message, "nothing"));
    }
}

static void
test_load (void)
{
  g_autofree char *folder = g_dir_make_tmp ("asked-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a.quartermaster", NULL);
  g_autofree char *pipe = g_build_filename (folder, "b.quartermaster", NULL);
  g_autoptr (QmAsked) asked = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_asked_load (path, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_null (qm_asked_load (folder, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_null (qm_asked_load (pipe, &error));
  g_assert_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_FORMAT);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (path, ONE "}", -1, NULL));
  asked = qm_asked_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (asked->models[0], ==, "pythia-1b");
  g_remove (path);
  g_remove (pipe);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  QmError error;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s", error.message);
  g_test_add_func ("/asked/round-trip", test_round_trip);
  g_test_add_func ("/asked/defaults", test_defaults);
  g_test_add_func ("/asked/paper", test_paper);
  g_test_add_func ("/asked/refused", test_refused);
  g_test_add_func ("/asked/heaps", test_heaps);
  g_test_add_func ("/asked/broken", test_broken);
  g_test_add_func ("/asked/unknown", test_unknown);
  g_test_add_func ("/asked/load", test_load);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
