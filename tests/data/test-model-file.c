/* SPDX-License-Identifier: Apache-2.0 */

/* Model files that are written read back equal, in whatever locale. */

#include "data/model-file.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check_written (const QmModelFile *model, const char *id, const char *name)
{
  char *text = qm_model_file_format (id, name, model->source,
                                     model->config_text, &model->recipe);
  char before[QM_MODEL_KEY_BYTES], after[QM_MODEL_KEY_BYTES];
  QmModelFile back;
  QmError error = { 0 };

  CHECK (text != NULL);
  CHECK_INT (qm_model_file_parse (text, strlen (text), "x.json", &back, &error),
             QM_OK);
  CHECK_STRING (error.message, "");
  qm_model_key (&model->config, &model->recipe, before);
  qm_model_key (&back.config, &back.recipe, after);
  CHECK_STRING (after, before);
  CHECK_STRING (back.id, id);
  CHECK_STRING (back.name, name);
  CHECK_STRING (back.source, model->source);
  CHECK_STRING (back.config_text, model->config_text);
  qm_model_file_clear (&back);
  CHECK (back.id == NULL);
  free (text);
}

static void
check_recipe (const QmRecipe *recipe)
{
  char *text = qm_recipe_format (recipe);
  QmRecipe back;
  QmError error = { 0 };

  CHECK (text != NULL);
  CHECK_INT (qm_recipe_parse (text, strlen (text), "r", &back, &error), QM_OK);
  CHECK (back.learning_rate == recipe->learning_rate);
  CHECK (back.epsilon == recipe->epsilon);
  CHECK (isnan (back.dropout) == isnan (recipe->dropout));
  CHECK (back.z_loss == recipe->z_loss);
  CHECK (back.ema_decay == recipe->ema_decay);
  CHECK_INT (back.optimizer, recipe->optimizer);
  CHECK_INT (back.muon_scale, recipe->muon_scale);
  CHECK (back.muon_learning_rate == recipe->muon_learning_rate);
  CHECK (back.muon_momentum == recipe->muon_momentum);
  CHECK (back.muon_weight_decay == recipe->muon_weight_decay);
  CHECK_INT (back.precision, recipe->precision);
  CHECK_INT (back.fp8.scales, recipe->fp8.scales);
  CHECK_INT (back.fp8.amax, recipe->fp8.amax);
  CHECK_INT (back.fp8.gradients, recipe->fp8.gradients);
  free (text);
}

/* Every shipped model, again under a name that needs care. */
static void
test_shipped (void)
{
  char folder[512], path[1024];
  struct dirent *entry;
  DIR *dir;
  int n = 0;

  snprintf (folder, sizeof folder, "%s/models", getenv ("QM_SHIPPED_DATA_DIR"));
  dir = opendir (folder);
  CHECK (dir != NULL);
  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      char *text;
      size_t length;
      QmModelFile model;
      QmError error;

      if (strstr (entry->d_name, ".json") == NULL)
        continue;
      check_case (entry->d_name);
      snprintf (path, sizeof path, "%s/%s", folder, entry->d_name);
      CHECK_INT (qm_text_read_file (path, &text, &length, &error), QM_OK);
      CHECK_INT (qm_model_file_parse (text, length, path, &model, &error),
                 QM_OK);
      check_written (&model, model.id, model.name);
      check_written (&model, "my-own.1", "“ \"quoted\\ ünï, {[");
      check_recipe (&model.recipe);
      model.recipe.dropout = NAN;
      model.recipe.learning_rate = 1.0 / 3;
      model.recipe.z_loss = 1e-4;
      model.recipe.ema_decay = 0.9999;
      model.recipe.epsilon = 1.2345678901234567e-12;
      check_recipe (&model.recipe);
      model.recipe.optimizer = QM_OPTIMIZER_MUON;
      model.recipe.muon_learning_rate = 1.0 / 30;
      model.recipe.muon_momentum = 0.95;
      model.recipe.muon_weight_decay = 0.25;
      model.recipe.muon_scale = QM_MUON_SCALE_MOONSHOT;
      check_recipe (&model.recipe);
      model.recipe.precision = QM_PRECISION_FP8;
      model.recipe.fp8.amax = QM_FP8_AMAX_DELAYED;
      model.recipe.fp8.gradients = QM_FP8_GRADIENTS_E4M3;
      check_recipe (&model.recipe);
      model.recipe.fp8 = (QmFp8){ .scales = QM_FP8_SCALES_ROW };
      check_recipe (&model.recipe);
      qm_model_file_clear (&model);
      free (text);
      n++;
    }
  closedir (dir);
  CHECK (n >= 9);
}

/* The configuration is found by its place, not by its name. */
static void
test_config_text (void)
{
  static const char text[] =
      "{\"name\": \"config\", \"source\": \"{\\\"config\\\": {}}\", "
      "\"recipe\": {\"batch_size\": 8, \"steps\": 3, \"sequence_length\": 4, "
      "\"precision\": \"fp32\", \"optimizer\": \"adam\", "
      "\"learning_rate\": 1, \"beta1\": 0, \"beta2\": 0, \"epsilon\": 0, "
      "\"weight_decay\": 0}, \"id\": \"x\",\n"
      "\"config\" : {\"model_type\": \"gpt_neox\", \"vocab_size\": 8, "
      "\"hidden_size\": 8, \"num_hidden_layers\": 1, "
      "\"num_attention_heads\": 1, \"intermediate_size\": 8, "
      "\"task_specific_params\": {\"a\": [\"}\", {\"b\": \"]\"}]}} }";
  QmModelFile model;
  QmError error = { 0 };

  CHECK_INT (qm_model_file_parse (text, strlen (text), "x", &model, &error),
             QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_STRING (model.config_text,
                "{\"model_type\": \"gpt_neox\", \"vocab_size\": 8, "
                "\"hidden_size\": 8, \"num_hidden_layers\": 1, "
                "\"num_attention_heads\": 1, \"intermediate_size\": 8, "
                "\"task_specific_params\": {\"a\": [\"}\", {\"b\": \"]\"}]}}");
  check_written (&model, "y", "y");
  qm_model_file_clear (&model);
}

int
main (void)
{
  test_shipped ();
  test_config_text ();
  if (setlocale (LC_ALL, "de_DE.UTF-8") != NULL)
    test_shipped ();
  return check_report ();
}
