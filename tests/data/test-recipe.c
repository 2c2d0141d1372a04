/* SPDX-License-Identifier: Apache-2.0 */

/* Recipes: what is read, refused, and part of a key. */

#include "data/model.h"
#include "tests/data/configurations.h"

#include <math.h>
#include <string.h>

#define RECIPE(more)                                           \
  "{\"batch_size\": 8, \"steps\": 10, " more                   \
  "\"precision\": \"bf16\", \"optimizer\": \"adamw\","         \
  "\"learning_rate\": 1e-4, \"beta1\": 0.9, \"beta2\": 0.999," \
  "\"epsilon\": 1e-8, \"weight_decay\": 0.1}"

#define SIZES                                      \
  "\"hidden_size\": 64, \"num_hidden_layers\": 2," \
  "\"num_attention_heads\": 4"
#define INNER ", \"intermediate_size\": 128"

#define MUON(more)                                                     \
  "{\"batch_size\": 8, \"steps\": 10, \"sequence_length\": 9, "        \
  "\"precision\": \"bf16\", \"optimizer\": \"muon\","                  \
  "\"learning_rate\": 1e-4, \"beta1\": 0.9, \"beta2\": 0.999,"         \
  "\"epsilon\": 1e-8, \"weight_decay\": 0.1, \"muon_momentum\": 0.95," \
  "\"muon_learning_rate\": 0.02, \"muon_weight_decay\": 0" more "}"

#define FP8(more)                                               \
  "{\"batch_size\": 8, \"steps\": 10, \"sequence_length\": 9, " \
  "\"precision\": \"fp8\", \"optimizer\": \"adamw\","           \
  "\"learning_rate\": 1e-4, \"beta1\": 0.9, \"beta2\": 0.999,"  \
  "\"epsilon\": 1e-8, \"weight_decay\": 0.1" more "}"

static const Refused refused_recipes[] = {
  { "{\n}", QM_STATUS_INVALID, 1, 1, "batch_size: is missing" },
  { RECIPE (""), QM_STATUS_INVALID, 1, 1, "exactly one of sequence_length" },
  { RECIPE ("\n\"sequence_length\": 9, \"image_size\": 9,"), QM_STATUS_INVALID,
    2, 1, "exactly one of sequence_length" },
  { RECIPE ("\"sequence_length\": 9,\n\"dropout\": 1,"), QM_STATUS_INVALID, 2,
    1, "dropout: a probability" },
  { RECIPE ("\"sequence_length\": 9,\n\"max_grad_norm\": -1,"),
    QM_STATUS_INVALID, 2, 1, "max_grad_norm: -1 is not between" },
  { RECIPE ("\"sequence_length\": 9,\n\"z_loss\": -1,"), QM_STATUS_INVALID, 2,
    1, "z_loss: -1 is not between" },
  { RECIPE ("\"sequence_length\": 9,\n\"ema_decay\": -0.5,"), QM_STATUS_INVALID,
    2, 1, "ema_decay: -0.5 is not between" },
  { RECIPE ("\"sequence_length\": 9,\n\"ema_decay\": 1,"), QM_STATUS_INVALID, 2,
    1, "ema_decay: an average that is kept whole" },
  { RECIPE ("\"sequence_length\": 9,\n\"momentum\": 0.9,"),
    QM_STATUS_UNSUPPORTED, 2, 1, "momentum: unsupported field" },
  { RECIPE ("\n\"sequence_length\": 9000000000,"), QM_STATUS_INVALID, 2, 1,
    "sequence_length: 9000000000 is not between 1 and 16777216" },
  { "{\"batch_size\": 8, \"steps\": 10, \"sequence_length\": 9,\n"
    "\"precision\": \"fp4\"}",
    QM_STATUS_UNSUPPORTED, 2, 1, "precision: 'fp4' is not 'fp32'" },
  { FP8 (",\n\"fp8_scales\": \"block\""), QM_STATUS_UNSUPPORTED, 2, 1,
    "fp8_scales: 'block' is not 'tensor' or 'row'" },
  { FP8 (",\n\"fp8_amax\": 3"), QM_STATUS_INVALID, 2, 1, "fp8_amax: " },
  { FP8 (",\n\"fp8_gradients\": \"bf16\""), QM_STATUS_UNSUPPORTED, 2, 1,
    "fp8_gradients: 'bf16' is not 'e5m2' or 'e4m3'" },
  { FP8 (",\"fp8_scales\": \"row\",\n\"fp8_amax\": \"delayed\""),
    QM_STATUS_UNSUPPORTED, 2, 1, "fp8_amax: rows are others in every pass" },
  { RECIPE ("\"sequence_length\": 9,\n\"fp8_scales\": \"row\","),
    QM_STATUS_UNSUPPORTED, 2, 1, "fp8_scales: unsupported field" },
  { "{\"batch_size\": 8, \"steps\": 10, \"sequence_length\": 9,\n"
    "\"precision\": \"fp16\", \"optimizer\": \"sgd\"}",
    QM_STATUS_UNSUPPORTED, 2, 22, "optimizer: 'sgd' is not 'adam'" },
  { RECIPE ("\"sequence_length\": 9,\n\"muon_momentum\": 0.9,"),
    QM_STATUS_UNSUPPORTED, 2, 1, "muon_momentum: unsupported field" },
  { MUON (""), QM_STATUS_INVALID, 1, 1, "muon_scale: is missing" },
  { MUON (",\n\"muon_scale\": \"spectral\""), QM_STATUS_UNSUPPORTED, 2, 1,
    "muon_scale: 'spectral' is not 'jordan' or 'moonshot'" },
};

static void
test_recipes (void)
{
  static const char good[] = RECIPE ("\"sequence_length\": 512,");
  static const char muon[] = MUON (", \"muon_scale\": \"moonshot\"");
  QmRecipe recipe;
  QmError error;

  for (size_t i = 0; i < sizeof refused_recipes / sizeof refused_recipes[0];
       i++)
    {
      const Refused *r = &refused_recipes[i];

      check_case (r->message);
      CHECK_INT (qm_recipe_parse (r->text, strlen (r->text), "recipe.json",
                                  &recipe, &error),
                 r->status);
      CHECK_INT (error.line, r->line);
      CHECK_INT (error.column, r->column);
      CHECK_CONTAINS (error.message, r->message);
    }
  check_case ("");
  CHECK (qm_recipe_parse (good, strlen (good), "", &recipe, &error) == QM_OK);
  CHECK_INT (recipe.sequence_length, 512);
  CHECK_INT (recipe.image_size, 0);
  CHECK_INT (recipe.precision, QM_PRECISION_BF16);
  CHECK_INT (recipe.optimizer, QM_OPTIMIZER_ADAMW);
  CHECK_NEAR (recipe.weight_decay, 0.1, 0);
  CHECK (isnan (recipe.dropout));
  CHECK_NEAR (recipe.muon_momentum, 0, 0);
  CHECK (qm_recipe_parse (muon, strlen (muon), "", &recipe, &error) == QM_OK);
  CHECK_INT (recipe.optimizer, QM_OPTIMIZER_MUON);
  CHECK_INT (recipe.muon_scale, QM_MUON_SCALE_MOONSHOT);
  CHECK_NEAR (recipe.muon_momentum, 0.95, 0);
  CHECK_NEAR (recipe.muon_learning_rate, 0.02, 0);
}

/* What stands in a file, or what labs do where it does not, and another key for
 * each. */
static void
test_fp8 (void)
{
  static const struct
  {
    const char *text;
    QmFp8 wanted;
  } cases[] = {
    { FP8 (""), { 0 } },
    { FP8 (",\"fp8_scales\": \"row\""),
      { QM_FP8_SCALES_ROW, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E4M3 } },
    { FP8 (",\"fp8_scales\": \"row\", \"fp8_gradients\": \"e5m2\""),
      { QM_FP8_SCALES_ROW, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E5M2 } },
    { FP8 (",\"fp8_amax\": \"delayed\""),
      { QM_FP8_SCALES_TENSOR, QM_FP8_AMAX_DELAYED, QM_FP8_GRADIENTS_E5M2 } },
    { FP8 (",\"fp8_gradients\": \"e4m3\""),
      { QM_FP8_SCALES_TENSOR, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E4M3 } },
    { RECIPE ("\"sequence_length\": 9,"), { 0 } },
  };
  char keys[sizeof cases / sizeof cases[0]][QM_MODEL_KEY_BYTES];
  const QmModelConfig config = { 0 };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      const QmFp8 *wanted = &cases[i].wanted;
      QmRecipe recipe;
      QmError error = { 0 };

      check_case (cases[i].text);
      CHECK_INT (qm_recipe_parse (cases[i].text, strlen (cases[i].text), "",
                                  &recipe, &error),
                 QM_OK);
      CHECK_STRING (error.message, "");
      CHECK_INT (recipe.precision,
                 i < 5 ? QM_PRECISION_FP8 : QM_PRECISION_BF16);
      CHECK_INT (recipe.fp8.scales, wanted->scales);
      CHECK_INT (recipe.fp8.amax, wanted->amax);
      CHECK_INT (recipe.fp8.gradients, wanted->gradients);
      qm_model_key (&config, &recipe, keys[i]);
      for (size_t j = 0; j < i; j++)
        CHECK (strcmp (keys[i], keys[j]) != 0);
    }
}

/* What makes another key; what only Muon has is of no weight for others. */
static void
test_key (void)
{
  static const char json[] = "{\"model_type\": \"mamba\", \"hidden_size\": 16,"
                             "\"num_hidden_layers\": 2, \"vocab_size\": 50}";
  QmRecipe recipe = { .batch_size = 4, .steps = 10, .dropout = NAN };
  QmModelConfig config;
  char first[QM_MODEL_KEY_BYTES], second[QM_MODEL_KEY_BYTES];

  check_case ("model key");
  CHECK_INT (qm_model_config_parse (json, sizeof json - 1, "", &config, NULL),
             QM_OK);
  qm_model_key (&config, &recipe, first);
  CHECK_INT ((int64_t) strspn (first, "0123456789abcdef"), 16);
  recipe.dropout = -NAN;
  qm_model_key (&config, &recipe, second);
  CHECK_STRING (second, first);
  recipe.steps = 11;
  qm_model_key (&config, &recipe, second);
  CHECK (strcmp (first, second) != 0);
  recipe.steps = 10;
  config.mamba.tie_word_embeddings = !config.mamba.tie_word_embeddings;
  qm_model_key (&config, &recipe, second);
  CHECK (strcmp (first, second) != 0);
  qm_model_key (&config, &recipe, first);
  recipe.optimizer = QM_OPTIMIZER_MUON;
  qm_model_key (&config, &recipe, second);
  CHECK (strcmp (first, second) != 0);
  recipe.muon_scale = QM_MUON_SCALE_MOONSHOT;
  qm_model_key (&config, &recipe, first);
  CHECK (strcmp (first, second) != 0);
  recipe.muon_momentum = 0.9;
  qm_model_key (&config, &recipe, second);
  CHECK (strcmp (first, second) != 0);
  recipe.optimizer = QM_OPTIMIZER_LAMB;
  qm_model_key (&config, &recipe, first);
  recipe.muon_momentum = 0.5;
  qm_model_key (&config, &recipe, second);
  CHECK_STRING (second, first);
  /* Nor is one number another's. */
  recipe.z_loss = 0.01;
  qm_model_key (&config, &recipe, first);
  recipe.z_loss = 0;
  recipe.ema_decay = 0.01;
  qm_model_key (&config, &recipe, second);
  CHECK (strcmp (first, second) != 0);
  recipe.ema_decay = 0;
  qm_model_key (&config, &recipe, first);
  CHECK (strcmp (first, second) != 0);
}

#define TOWERS "\"vision_config\": {\"image_size\": 16, \"patch_size\": 8}"

/* Where a loss has no logits of words or classes, a z-loss would be of none. */
static void
test_z_loss (void)
{
  static const struct
  {
    const char *config;
    int64_t tokens, image;
    const char *refused; /* or NULL */
  } cases[] = {
    { "{\"model_type\": \"mamba\", \"hidden_size\": 16,"
      "\"num_hidden_layers\": 2}",
      9, 0, NULL },
    { "{\"model_type\": \"bert\"," SIZES INNER "}", 9, 0, NULL },
    { "{\"model_type\": \"vit\", " SIZES INNER "}", 0, 224, NULL },
    { "{\"model_type\": \"dinov2\", " SIZES "}", 0, 224, NULL },
    { "{\"model_type\": \"dinov2\", " SIZES ", \"head_n_prototypes\": 100}", 0,
      224, "a dinov2 model with a teacher" },
    { "{\"model_type\": \"vit_mae\"}", 0, 224, "a vit_mae model" },
    { "{\"_class_name\": \"DiTTransformer2DModel\"}", 0, 32, "a dit model" },
    { "{\"model_type\": \"clip\"," TOWERS "}", 0, 16, "a clip model" },
    { "{\"model_type\": \"siglip\"," TOWERS "}", 0, 16, "a siglip model" },
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmRecipe recipe = { .batch_size = 4,
                          .steps = 10,
                          .sequence_length = cases[i].tokens,
                          .image_size = cases[i].image,
                          .ema_decay = 0.5,
                          .dropout = NAN };
      QmModelConfig config = parse_well (cases[i].config);
      QmError error = { 0 };

      CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", &error), QM_OK);
      CHECK_STRING (error.message, "");
      recipe.z_loss = 1e-4;
      CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", &error),
                 cases[i].refused != NULL ? QM_STATUS_UNSUPPORTED : QM_OK);
      CHECK_CONTAINS (error.message,
                      cases[i].refused != NULL ? "z_loss: the loss of" : "");
      CHECK_CONTAINS (error.message,
                      cases[i].refused != NULL ? cases[i].refused : "");
    }
  check_case ("");
}

int
main (void)
{
  test_recipes ();
  test_fp8 ();
  test_key ();
  test_z_loss ();
  return check_report ();
}
