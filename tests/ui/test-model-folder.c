/* SPDX-License-Identifier: Apache-2.0 */

/* The folder of the user's own models. */

#include "config.h"

#include "data/model-file.h"
#include "ui/models/qm-model-folder.h"

#include <glib/gstdio.h>
#include <string.h>

#define CONFIG                                                             \
  "{\"model_type\": \"gpt_neox\", \"vocab_size\": 8, \"hidden_size\": 8, " \
  "\"num_hidden_layers\": 1, \"num_attention_heads\": 1, "                 \
  "\"intermediate_size\": 8}"

static const QmRecipe recipe = { .batch_size = 4,
                                 .steps = 10,
                                 .sequence_length = 8,
                                 .precision = QM_PRECISION_FP32,
                                 .optimizer = QM_OPTIMIZER_ADAM };

static gboolean
save (const char *id, const char *name, const char *before, GError **error)
{
  char *text = qm_model_file_format (id, name, "a test", CONFIG, &recipe);
  gboolean saved = qm_model_folder_write (id, text, before, error);

  free (text);
  return saved;
}

static char *
only_name (void)
{
  g_autoptr (GPtrArray) models = qm_model_folder_list ();

  g_assert_cmpuint (models->len, ==, 1);
  return g_strdup (((QmOwnModel *) g_ptr_array_index (models, 0))->file.name);
}

static void
test_life (void)
{
  g_autofree char *one = qm_model_folder_path ("one");
  g_autofree char *two = qm_model_folder_path ("two");
  g_autofree char *name = NULL;
  g_autofree char *again = NULL;
  g_autoptr (GBytes) content = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (save ("one", "The first", NULL, &error));
  g_assert_no_error (error);
  name = only_name ();
  g_assert_cmpstr (name, ==, "The first");

  /* Nothing else is written over. */
  g_assert_false (save ("one", "Another", NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  g_clear_error (&error);

  /* Under another id it leaves the first. */
  g_assert_true (save ("two", "The second", one, &error));
  g_assert_false (g_file_test (one, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (two, G_FILE_TEST_EXISTS));

  content = qm_model_folder_remove (two, &error);
  g_assert_no_error (error);
  g_assert_false (g_file_test (two, G_FILE_TEST_EXISTS));
  g_assert_true (qm_model_folder_restore (two, content, &error));
  again = only_name ();
  g_assert_cmpstr (again, ==, "The second");
  g_assert_false (qm_model_folder_restore (two, content, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  g_clear_error (&error);
  g_assert_null (qm_model_folder_remove (one, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

/* What the catalog would refuse is not written, and what lies there unreadable
 * does no harm. */
static void
test_bad (void)
{
  g_autofree char *bad = qm_model_folder_path ("bad");
  g_autofree char *name = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_false (qm_model_folder_write ("bad", "{}", NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_false (g_file_test (bad, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_set_contents (bad, "\x00{[", 3, NULL));
  name = only_name ();
  g_assert_cmpstr (name, ==, "The second");
}

static void
test_ids (void)
{
  static const char *const cases[][2] = {
    { "My Model 2", "my-model-2" },
    { "Größe (1.5B)", "grosse-1.5b" },
    { "  --x--  ", "x" },
    { "日本", "" },
    { "../../etc/passwd", "..-..-etc-passwd" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *id = qm_model_folder_make_id (cases[i][0]);

      if (i == 1) /* as the C library spells it */
        g_assert_true (g_str_has_prefix (id, "gr")
                       && g_str_has_suffix (id, "-1.5b"));
      else
        g_assert_cmpstr (id, ==, cases[i][1]);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *home = g_dir_make_tmp ("qm-models-XXXXXX", NULL);

  g_setenv ("XDG_DATA_HOME", home, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model-folder/life", test_life);
  g_test_add_func ("/model-folder/bad", test_bad);
  g_test_add_func ("/model-folder/ids", test_ids);
  return g_test_run ();
}
