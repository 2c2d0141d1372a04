/* SPDX-License-Identifier: Apache-2.0 */

#include "data/model.h"

#include "data/family.h"
#include "data/flops.h"
#include "data/model-config.h"
#include "data/text.h"

#include <math.h>
#include <string.h>

const char *
qm_model_group_name (QmModelGroup group)
{
  switch (group)
    {
    case QM_MODEL_GROUP_TODAY:
      return "today";
    case QM_MODEL_GROUP_PUBLICATION:
      return "publication";
    case QM_MODEL_GROUP_OWN:
      break;
    }
  return "";
}

int
qm_model_compare (const QmModel *a, const QmModel *b)
{
  int64_t n_a, n_b;

  if (a->group != b->group)
    return (int) a->group - (int) b->group;
  if (a->config.family != b->config.family)
    return (int) a->config.family - (int) b->config.family;
  n_a = qm_parameter_count (&a->config);
  n_b = qm_parameter_count (&b->config);
  if (n_a != n_b)
    return n_a < n_b ? -1 : 1;
  return strcmp (a->id, b->id);
}

const char *
qm_precision_name (QmPrecision precision)
{
  switch (precision)
    {
    case QM_PRECISION_FP32:
      return "fp32";
    case QM_PRECISION_FP16:
      return "fp16";
    case QM_PRECISION_BF16:
      return "bf16";
    case QM_PRECISION_FP8:
      return "fp8";
    }
  return "";
}

const char *
qm_fp8_scales_name (QmFp8Scales scales)
{
  return scales == QM_FP8_SCALES_ROW ? "row" : "tensor";
}

const char *
qm_fp8_amax_name (QmFp8Amax amax)
{
  return amax == QM_FP8_AMAX_DELAYED ? "delayed" : "current";
}

const char *
qm_fp8_gradients_name (QmFp8Gradients gradients)
{
  return gradients == QM_FP8_GRADIENTS_E4M3 ? "e4m3" : "e5m2";
}

const char *
qm_optimizer_name (QmOptimizer optimizer)
{
  switch (optimizer)
    {
    case QM_OPTIMIZER_ADAM:
      return "adam";
    case QM_OPTIMIZER_ADAMW:
      return "adamw";
    case QM_OPTIMIZER_LAMB:
      return "lamb";
    case QM_OPTIMIZER_MUON:
      return "muon";
    }
  return "";
}

const char *
qm_muon_scale_name (QmMuonScale scale)
{
  return scale == QM_MUON_SCALE_MOONSHOT ? "moonshot" : "jordan";
}

static QmPrecision
read_precision (QmJsonObject *object)
{
  const char *word = qm_json_string (object, "precision", true);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    return QM_PRECISION_FP32;
  for (int i = 0; i < QM_N_PRECISIONS; i++)
    if (strcmp (word, qm_precision_name ((QmPrecision) i)) == 0)
      return (QmPrecision) i;
  qm_json_fail (object, "precision", QM_STATUS_UNSUPPORTED,
                "%s is not 'fp32', 'fp16', 'bf16' or 'fp8'",
                qm_text_quote (word, quoted));
  return QM_PRECISION_FP32;
}

/* Which of two words stands there: false for the first, or where there is none
 * and `otherwise` is that. */
static bool
read_second (QmJsonObject *object,
             const char *key,
             const char *first,
             const char *second,
             bool otherwise)
{
  const char *word = qm_json_string (object, key, false);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    return otherwise;
  if (strcmp (word, first) != 0 && strcmp (word, second) != 0)
    qm_json_fail (object, key, QM_STATUS_UNSUPPORTED, "%s is not '%s' or '%s'",
                  qm_text_quote (word, quoted), first, second);
  return strcmp (word, second) == 0;
}

static QmFp8
read_fp8 (QmJsonObject *object)
{
  QmFp8 fp8 = { 0 };
  bool row = read_second (object, "fp8_scales", "tensor", "row", false);

  if (row)
    fp8.scales = QM_FP8_SCALES_ROW;
  if (read_second (object, "fp8_amax", "current", "delayed", false))
    fp8.amax = QM_FP8_AMAX_DELAYED;
  if (read_second (object, "fp8_gradients", "e5m2", "e4m3", row))
    fp8.gradients = QM_FP8_GRADIENTS_E4M3;
  if (row && fp8.amax == QM_FP8_AMAX_DELAYED)
    qm_json_fail (object, "fp8_amax", QM_STATUS_UNSUPPORTED,
                  "rows are others in every pass, and have no scales of the "
                  "passes before");
  return fp8;
}

static QmOptimizer
read_optimizer (QmJsonObject *object)
{
  const char *word = qm_json_string (object, "optimizer", true);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    return QM_OPTIMIZER_ADAM;
  for (int i = 0; i < QM_N_OPTIMIZERS; i++)
    if (strcmp (word, qm_optimizer_name ((QmOptimizer) i)) == 0)
      return (QmOptimizer) i;
  qm_json_fail (object, "optimizer", QM_STATUS_UNSUPPORTED,
                "%s is not 'adam', 'adamw', 'lamb' or 'muon'",
                qm_text_quote (word, quoted));
  return QM_OPTIMIZER_ADAM;
}

static QmMuonScale
read_muon_scale (QmJsonObject *object)
{
  const char *word = qm_json_string (object, "muon_scale", true);
  char quoted[QM_QUOTE_BYTES];

  for (int i = 0; word != NULL && i < QM_N_MUON_SCALES; i++)
    if (strcmp (word, qm_muon_scale_name ((QmMuonScale) i)) == 0)
      return (QmMuonScale) i;
  if (word != NULL)
    qm_json_fail (object, "muon_scale", QM_STATUS_UNSUPPORTED,
                  "%s is not 'jordan' or 'moonshot'",
                  qm_text_quote (word, quoted));
  return QM_MUON_SCALE_JORDAN;
}

static void
read_muon (QmJsonObject *object, QmRecipe *recipe)
{
  recipe->muon_learning_rate = qm_json_number (object, "muon_learning_rate", 0,
                                               QM_RECIPE_MAX_LEARNING_RATE);
  recipe->muon_momentum = qm_json_number (object, "muon_momentum", 0, 1);
  recipe->muon_weight_decay = qm_json_number (object, "muon_weight_decay", 0,
                                              QM_RECIPE_MAX_WEIGHT_DECAY);
  recipe->muon_scale = read_muon_scale (object);
}

QmStatus
qm_recipe_read (QmJsonObject *object, QmRecipe *recipe)
{
  static const char *const none[] = { NULL };

  recipe->batch_size =
      qm_json_integer (object, "batch_size", 1, QM_RECIPE_MAX_BATCH);
  recipe->steps = qm_json_integer (object, "steps", 1, QM_RECIPE_MAX_STEPS);
  recipe->sequence_length = qm_json_integer_or (object, "sequence_length", 1,
                                                QM_RECIPE_MAX_SEQUENCE, 0);
  recipe->image_size =
      qm_json_integer_or (object, "image_size", 1, QM_RECIPE_MAX_IMAGE, 0);
  recipe->precision = read_precision (object);
  recipe->fp8 = (QmFp8){ 0 };
  if (recipe->precision == QM_PRECISION_FP8)
    recipe->fp8 = read_fp8 (object);
  recipe->optimizer = read_optimizer (object);
  recipe->learning_rate =
      qm_json_number (object, "learning_rate", 0, QM_RECIPE_MAX_LEARNING_RATE);
  recipe->beta1 = qm_json_number (object, "beta1", 0, 1);
  recipe->beta2 = qm_json_number (object, "beta2", 0, 1);
  recipe->epsilon = qm_json_number (object, "epsilon", 0, 1);
  recipe->weight_decay =
      qm_json_number (object, "weight_decay", 0, QM_RECIPE_MAX_WEIGHT_DECAY);
  recipe->max_grad_norm = qm_json_number_or (object, "max_grad_norm", 0,
                                             QM_RECIPE_MAX_GRAD_NORM, 0);
  recipe->dropout = qm_json_number_or (object, "dropout", 0, 1, NAN);
  recipe->z_loss =
      qm_json_number_or (object, "z_loss", 0, QM_RECIPE_MAX_Z_LOSS, 0);
  recipe->ema_decay = qm_json_number_or (object, "ema_decay", 0, 1, 0);
  recipe->muon_learning_rate = recipe->muon_momentum = 0;
  recipe->muon_weight_decay = 0;
  recipe->muon_scale = QM_MUON_SCALE_JORDAN;
  if (recipe->optimizer == QM_OPTIMIZER_MUON)
    read_muon (object, recipe);
  if (recipe->ema_decay >= 1)
    qm_json_fail (object, "ema_decay", QM_STATUS_INVALID,
                  "an average that is kept whole never changes");
  if (recipe->dropout >= 1)
    qm_json_fail (object, "dropout", QM_STATUS_INVALID,
                  "a probability of 1 leaves nothing");
  if ((recipe->sequence_length == 0) == (recipe->image_size == 0))
    qm_json_fail (object, "sequence_length", QM_STATUS_INVALID,
                  "exactly one of sequence_length and image_size must be "
                  "given");
  return qm_json_finish (object, none);
}

static void
check_text (QmJsonObject *object,
            const QmModelConfig *config,
            const QmRecipe *recipe)
{
  int64_t positions = qm_model_positions (config);

  if (recipe->sequence_length == 0)
    qm_json_fail (object, "image_size", QM_STATUS_INVALID,
                  "a %s model is trained on text and needs a "
                  "sequence_length",
                  qm_family_name (config->family));
  else if (qm_family_info (config->family)->positions != NULL
           && recipe->sequence_length > positions)
    qm_json_fail (object, "sequence_length", QM_STATUS_INVALID,
                  "%lld is more than the model's %lld positions",
                  (long long) recipe->sequence_length, (long long) positions);
  else if (recipe->sequence_length < 2
           && qm_family_info (config->family)->objective
                  == QM_OBJECTIVE_NEXT_TOKEN)
    qm_json_fail (object, "sequence_length", QM_STATUS_INVALID,
                  "a %s model learns to tell the next token, of which a single "
                  "one has none",
                  qm_family_name (config->family));
}

static void
check_image (QmJsonObject *object,
             const QmModelConfig *config,
             const QmRecipe *recipe)
{
  const QmFamilyInfo *info = qm_family_info (config->family);
  int64_t only = qm_model_image_size (config);

  if (recipe->image_size == 0)
    qm_json_fail (object, "sequence_length", QM_STATUS_INVALID,
                  "a %s model is trained on images and needs an image_size",
                  info->name);
  else if (only != 0 && recipe->image_size != only)
    qm_json_fail (object, "image_size", QM_STATUS_INVALID,
                  "%lld is not the configuration's image_size, %lld",
                  (long long) recipe->image_size, (long long) only);
  else if (info->image_fits != NULL
           && !info->image_fits (config, recipe->image_size))
    qm_json_fail (object, "image_size", QM_STATUS_INVALID,
                  "%lld is too small for the model's stages",
                  (long long) recipe->image_size);
}

/* Else it would be left out in silence. */
static void
check_z_loss (QmJsonObject *object,
              const QmModelConfig *config,
              const QmRecipe *recipe)
{
  if (recipe->z_loss > 0 && !qm_model_has_z_loss (config))
    qm_json_fail (object, "z_loss", QM_STATUS_UNSUPPORTED,
                  "the loss of a %s model%s has no logits of words or classes",
                  qm_family_name (config->family),
                  qm_model_has_teacher (config) ? " with a teacher" : "");
}

static bool
set_field_number (QmModelConfig *config, const char *name, double value)
{
  const QmField *field = qm_family_field (config->family, name);

  if (field != NULL)
    *(double *) (void *) ((char *) config + field->offset) = value;
  return field != NULL;
}

QmStatus
qm_recipe_apply (QmJsonObject *object,
                 const QmRecipe *recipe,
                 QmModelConfig *config)
{
  if (qm_family_has_images (config->family))
    check_image (object, config, recipe);
  else
    check_text (object, config, recipe);

  if (qm_model_has_teacher (config) && recipe->ema_decay <= 0)
    qm_json_fail (object, "ema_decay", QM_STATUS_INVALID,
                  "is missing: the teacher is the average of the weights");
  check_z_loss (object, config, recipe);
  if (isnan (recipe->dropout))
    return object->status;
  if (set_field_number (config, "hidden_dropout", recipe->dropout))
    set_field_number (config, "embedding_dropout", recipe->dropout);
  else if (recipe->dropout != 0)
    qm_json_fail (object, "dropout", QM_STATUS_UNSUPPORTED,
                  "a %s model has no dropout of hidden states",
                  qm_family_name (config->family));
  return object->status;
}

QmStatus
qm_model_apply_recipe (QmModelConfig *config,
                       const QmRecipe *recipe,
                       const char *file,
                       QmError *error)
{
  const QmJsonText nowhere = { .text = "", .file = file };
  QmJsonObject object;
  QmStatus status;

  qm_json_begin (&object, &nowhere, NULL, error);
  status = qm_recipe_apply (&object, recipe, config);
  if (status != QM_OK && error != NULL)
    error->line = error->column = 0;
  return status;
}

QmStatus
qm_model_config_parse (const char *text,
                       size_t length,
                       const char *file,
                       QmModelConfig *config,
                       QmError *error)
{
  const QmJsonText source = { text, length, file };
  QmJsonObject object;
  json_t *root;
  QmStatus status = qm_json_parse (&source, &root, error);

  if (status != QM_OK)
    return status;
  qm_json_begin (&object, &source, root, error);
  status = qm_model_config_read (&object, config);
  json_decref (root);
  return status;
}

QmStatus
qm_recipe_parse (const char *text,
                 size_t length,
                 const char *file,
                 QmRecipe *recipe,
                 QmError *error)
{
  const QmJsonText source = { text, length, file };
  QmJsonObject object;
  json_t *root;
  QmStatus status = qm_json_parse (&source, &root, error);

  if (status != QM_OK)
    return status;
  qm_json_begin (&object, &source, root, error);
  status = qm_recipe_read (&object, recipe);
  json_decref (root);
  return status;
}
