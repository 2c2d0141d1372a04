/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-recipe-form.h"

#include "pricing/qm-format.h"
#include "ui/qm-field-row.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* The numbers that are read as they stand. */
typedef enum
{
  FIELD_LEARNING_RATE,
  FIELD_WEIGHT_DECAY,
  FIELD_MAX_GRAD_NORM,
  FIELD_BETA1,
  FIELD_BETA2,
  FIELD_EPSILON,
  FIELD_DROPOUT,
  FIELD_Z_LOSS,
  FIELD_EMA_DECAY,
  FIELD_MUON_LEARNING_RATE,
  FIELD_MUON_MOMENTUM,
  FIELD_MUON_WEIGHT_DECAY,
  N_FIELDS
} Field;

#define AT(member) G_STRUCT_OFFSET (QmRecipe, member)

static const struct
{
  const char *title;
  const char *hint;
  double max;
  gsize offset;
  double usual; /* of Muon, in recipes that do not have it */
  gboolean optional;
} fields[N_FIELDS] = {
  [FIELD_LEARNING_RATE] = { N_ ("Learning rate"), N_ ("At its greatest"),
                            QM_RECIPE_MAX_LEARNING_RATE, AT (learning_rate) },
  [FIELD_WEIGHT_DECAY] = { N_ ("Weight decay"), NULL,
                           QM_RECIPE_MAX_WEIGHT_DECAY, AT (weight_decay) },
  [FIELD_MAX_GRAD_NORM] = { N_ ("Largest norm of gradients"),
                            N_ ("0: they are not clipped"),
                            QM_RECIPE_MAX_GRAD_NORM, AT (max_grad_norm) },
  [FIELD_BETA1] = { N_ ("Beta 1"), NULL, 1, AT (beta1) },
  [FIELD_BETA2] = { N_ ("Beta 2"), NULL, 1, AT (beta2) },
  [FIELD_EPSILON] = { N_ ("Epsilon"), NULL, 1, AT (epsilon) },
  [FIELD_DROPOUT] = { N_ ("Dropout"), N_ ("Nothing: as the configuration says"),
                      0.999, AT (dropout), .optional = TRUE },
  [FIELD_Z_LOSS] = { N_ ("Z-loss"),
                     N_ ("Times the square of the logarithm of the sum of "
                         "exponentials; 0: none"),
                     QM_RECIPE_MAX_Z_LOSS, AT (z_loss) },
  [FIELD_EMA_DECAY] = { N_ ("Average of weights"),
                        N_ ("What is kept of it in each step, as 0.9999; 0: "
                            "there is none"),
                        0.999999999, AT (ema_decay) },
  /* As in https://kellerjordan.github.io/posts/muon/. */
  [FIELD_MUON_LEARNING_RATE] = { N_ ("Learning rate of matrices"), NULL,
                                 QM_RECIPE_MAX_LEARNING_RATE,
                                 AT (muon_learning_rate), 0.02 },
  [FIELD_MUON_MOMENTUM] = { N_ ("Momentum of matrices"), NULL, 1,
                            AT (muon_momentum), 0.95 },
  [FIELD_MUON_WEIGHT_DECAY] = { N_ ("Weight decay of matrices"), NULL,
                                QM_RECIPE_MAX_WEIGHT_DECAY,
                                AT (muon_weight_decay), 0 },
};

static gboolean
is_of_muon (Field field)
{
  return field >= FIELD_MUON_LEARNING_RATE;
}

/* How the length of the training is told. */
typedef enum
{
  LENGTH_STEPS,
  LENGTH_SAMPLES, /* tokens of text, or images */
} Length;

struct _QmRecipeForm
{
  AdwPreferencesGroup parent_instance;

  QmFieldRow *batch_row;
  QmFieldRow *sample_row; /* tokens in a sequence, or pixels a side */
  AdwComboRow *unit_row;
  QmFieldRow *length_row;
  AdwComboRow *precision_row;
  AdwComboRow *fp8_row;
  AdwComboRow *optimizer_row;
  AdwComboRow *scale_row;
  QmFieldRow *rows[N_FIELDS];

  QmModelConfig config;
  QmFp8 fp8; /* of the recipe that it was set to */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmRecipeForm, qm_recipe_form, ADW_TYPE_PREFERENCES_GROUP)

static gboolean
has_images (QmRecipeForm *self)
{
  return qm_family_has_images (self->config.family);
}

static gboolean
has_muon (QmRecipeForm *self)
{
  return adw_combo_row_get_selected (self->optimizer_row) == QM_OPTIMIZER_MUON;
}

/* How numbers in FP8 can be scaled, and what gradients are then, as where a
 * file does not say. */
static const QmFp8 scalings[] = {
  { QM_FP8_SCALES_TENSOR, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E5M2 },
  { QM_FP8_SCALES_TENSOR, QM_FP8_AMAX_DELAYED, QM_FP8_GRADIENTS_E5M2 },
  { QM_FP8_SCALES_ROW, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E4M3 },
};

static gboolean
has_fp8 (QmRecipeForm *self)
{
  return adw_combo_row_get_selected (self->precision_row) == QM_PRECISION_FP8;
}

static gboolean
is_scaled_as (const QmFp8 *a, const QmFp8 *b)
{
  return a->scales == b->scales && a->amax == b->amax;
}

/* What is chosen; gradients stay what they were with the same scales. */
static QmFp8
chosen_fp8 (QmRecipeForm *self)
{
  const guint chosen = adw_combo_row_get_selected (self->fp8_row);
  const QmFp8 *fp8 = &scalings[MIN (chosen, G_N_ELEMENTS (scalings) - 1)];

  return is_scaled_as (fp8, &self->fp8) ? self->fp8 : *fp8;
}

static void
choose_fp8 (QmRecipeForm *self, const QmRecipe *recipe)
{
  self->fp8 = recipe->precision == QM_PRECISION_FP8 ? recipe->fp8 : scalings[0];
  for (guint i = 0; i < G_N_ELEMENTS (scalings); i++)
    if (is_scaled_as (&scalings[i], &self->fp8))
      adw_combo_row_set_selected (self->fp8_row, i);
}

/* What the precision and the optimizer have. */
static void
show_wanted (QmRecipeForm *self)
{
  const gboolean muon = has_muon (self);

  gtk_widget_set_visible (GTK_WIDGET (self->fp8_row), has_fp8 (self));
  gtk_widget_set_visible (GTK_WIDGET (self->scale_row), muon);
  for (Field i = 0; i < N_FIELDS; i++)
    if (is_of_muon (i))
      gtk_widget_set_visible (GTK_WIDGET (self->rows[i]), muon);
}

/* Words that depend on what is trained on. */
static void
name_fields (QmRecipeForm *self)
{
  const gboolean images = has_images (self);
  const char *units[] = { _ ("Steps"), images ? _ ("Images") : _ ("Tokens"),
                          NULL };
  g_autoptr (GtkStringList) list = gtk_string_list_new (units);
  guint chosen = adw_combo_row_get_selected (self->unit_row);

  qm_field_row_set_hint (self->batch_row, images ? _ ("Images in a step")
                                                 : _ ("Sequences in a step"));
  qm_field_row_set_title (self->sample_row,
                          images ? _ ("Image size") : _ ("Sequence length"));
  qm_field_row_set_hint (self->sample_row,
                         images ? _ ("Pixels a side") : _ ("Tokens"));
  adw_combo_row_set_model (self->unit_row, G_LIST_MODEL (list));
  adw_combo_row_set_selected (self->unit_row, MIN (chosen, LENGTH_SAMPLES));
  gtk_widget_set_visible (GTK_WIDGET (self->rows[FIELD_DROPOUT]),
                          qm_family_has_dropout (self->config.family));
  gtk_widget_set_visible (GTK_WIDGET (self->rows[FIELD_Z_LOSS]),
                          qm_model_has_z_loss (&self->config));
}

void
qm_recipe_form_set_config (QmRecipeForm *self, const QmModelConfig *config)
{
  g_return_if_fail (QM_IS_RECIPE_FORM (self) && config != NULL);

  self->updating = TRUE;
  self->config = *config;
  name_fields (self);
  self->updating = FALSE;
}

void
qm_recipe_form_set_recipe (QmRecipeForm *self, const QmRecipe *recipe)
{
  g_return_if_fail (QM_IS_RECIPE_FORM (self) && recipe != NULL);

  self->updating = TRUE;
  qm_field_row_set_number (self->batch_row, (double) recipe->batch_size);
  qm_field_row_set_number (self->sample_row,
                           (double) (recipe->sequence_length > 0
                                         ? recipe->sequence_length
                                         : recipe->image_size));
  adw_combo_row_set_selected (self->unit_row, LENGTH_STEPS);
  qm_field_row_set_number (self->length_row, (double) recipe->steps);
  adw_combo_row_set_selected (self->precision_row, recipe->precision);
  choose_fp8 (self, recipe);
  adw_combo_row_set_selected (self->optimizer_row, recipe->optimizer);
  adw_combo_row_set_selected (self->scale_row, recipe->muon_scale);
  for (Field i = 0; i < N_FIELDS; i++)
    qm_field_row_set_number (
        self->rows[i],
        is_of_muon (i) && recipe->optimizer != QM_OPTIMIZER_MUON
            ? fields[i].usual
            : G_STRUCT_MEMBER (double, recipe, fields[i].offset));
  show_wanted (self);
  self->updating = FALSE;
}

/* Reads how long is trained, in steps or in what these are made of. */
static gboolean
read_length (QmRecipeForm *self, QmRecipe *recipe)
{
  const double in_step = (double) recipe->batch_size
                         * (has_images (self) ? 1 : recipe->sequence_length);
  g_autofree char *steps = NULL;
  g_autofree char *hint = NULL;
  gint64 samples;

  if (adw_combo_row_get_selected (self->unit_row) == LENGTH_STEPS)
    {
      qm_field_row_set_hint (self->length_row, _ ("Updates of the weights"));
      return qm_field_row_read_whole (self->length_row, 1, QM_RECIPE_MAX_STEPS,
                                      &recipe->steps);
    }
  if (!qm_field_row_read_whole (
          self->length_row, 1,
          (gint64) MIN (in_step * QM_RECIPE_MAX_STEPS, 9e18), &samples))
    return FALSE;
  recipe->steps = (gint64) ceil ((double) samples / in_step);
  steps = qm_format_number ((double) recipe->steps, 0);
  /* Translators: a number. */
  hint = g_strdup_printf (_ ("%s steps"), steps);
  qm_field_row_set_hint (self->length_row, hint);
  return TRUE;
}

/* What is wrong with a sample for this model, in the user's language where we
 * know it.  (transfer full) */
static char *
describe_refusal (QmRecipeForm *self,
                  const QmRecipe *recipe,
                  const QmError *error)
{
  const QmModelConfig *config = &self->config;
  const gint64 positions = qm_model_positions (config);
  const gint64 pixels = qm_model_image_size (config);
  g_autofree char *number =
      qm_format_number ((double) MAX (positions, pixels), 0);

  if (!qm_family_has_images (config->family) && recipe->sequence_length < 2)
    return g_strdup (_ ("A single token has no next one to tell"));
  if (qm_model_has_teacher (config) && recipe->ema_decay <= 0
      && (pixels == 0 || recipe->image_size == pixels))
    return g_strdup (_ ("The teacher is the average of weights, and there is "
                        "none"));
  if (positions > 0)
    /* Translators: number of tokens. */
    return g_strdup_printf (_ ("The model has positions for %s tokens"),
                            number);
  if (pixels > 0)
    /* Translators: pixels. */
    return g_strdup_printf (_ ("The configuration’s images have %s"), number);
  if (qm_family_has_images (config->family))
    return g_strdup (_ ("Too small for the stages of the model"));
  return g_strdup (error->message);
}

static gboolean
read_sizes (QmRecipeForm *self, QmRecipe *recipe)
{
  const gboolean images = has_images (self);
  gboolean good =
      qm_field_row_read_whole (self->batch_row, 1, QM_RECIPE_MAX_BATCH,
                               &recipe->batch_size);

  good = qm_field_row_read_whole (
             self->sample_row, 1,
             images ? QM_RECIPE_MAX_IMAGE : QM_RECIPE_MAX_SEQUENCE,
             images ? &recipe->image_size : &recipe->sequence_length)
         && good;
  return good && read_length (self, recipe);
}

gboolean
qm_recipe_form_read (QmRecipeForm *self,
                     QmModelConfig *config,
                     QmRecipe *recipe)
{
  gboolean good;
  QmError error;

  g_return_val_if_fail (QM_IS_RECIPE_FORM (self), FALSE);
  g_return_val_if_fail (config != NULL && recipe != NULL, FALSE);

  *recipe = (QmRecipe){
    .precision = adw_combo_row_get_selected (self->precision_row),
    .optimizer = adw_combo_row_get_selected (self->optimizer_row),
  };
  good = read_sizes (self, recipe);
  if (has_fp8 (self))
    recipe->fp8 = chosen_fp8 (self);
  if (has_muon (self))
    recipe->muon_scale = adw_combo_row_get_selected (self->scale_row);
  for (Field i = 0; i < N_FIELDS; i++)
    if (!is_of_muon (i) || has_muon (self))
      good = qm_field_row_read_number (
                 self->rows[i], 0, fields[i].max, fields[i].optional,
                 &G_STRUCT_MEMBER (double, recipe, fields[i].offset))
             && good;
  if (!qm_family_has_dropout (self->config.family))
    recipe->dropout = NAN;
  if (!qm_model_has_z_loss (&self->config))
    recipe->z_loss = 0;
  if (good && qm_model_apply_recipe (config, recipe, "", &error) != QM_OK)
    {
      g_autofree char *problem = describe_refusal (self, recipe, &error);

      qm_field_row_set_problem (self->sample_row, problem);
      good = FALSE;
    }
  return good;
}

static void
recipe_changed_cb (QmRecipeForm *self)
{
  /* Not while rows are made. */
  if (self->rows[N_FIELDS - 1] != NULL)
    show_wanted (self);
  if (!self->updating)
    g_signal_emit_by_name (self, "changed");
}

static QmFieldRow *
add_field (QmRecipeForm *self,
           AdwExpanderRow *expander,
           const char *title,
           const char *hint)
{
  GtkWidget *row = qm_field_row_new (title, hint);

  g_signal_connect_object (row, "changed", G_CALLBACK (recipe_changed_cb), self,
                           G_CONNECT_SWAPPED);
  if (expander != NULL)
    adw_expander_row_add_row (expander, row);
  else
    adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
  return QM_FIELD_ROW (row);
}

static AdwComboRow *
add_choice (QmRecipeForm *self, const char *title, const char *const *names)
{
  g_autoptr (GtkStringList) list = gtk_string_list_new (names);
  GtkWidget *row = adw_combo_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (list));
  g_signal_connect_object (row, "notify::selected",
                           G_CALLBACK (recipe_changed_cb), self,
                           G_CONNECT_SWAPPED);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
  return ADW_COMBO_ROW (row);
}

static void
add_numbers (QmRecipeForm *self)
{
  GtkWidget *expander = adw_expander_row_new ();

  for (guint i = 0; i < N_FIELDS; i++)
    {
      if (i == FIELD_WEIGHT_DECAY)
        {
          adw_preferences_row_set_title (ADW_PREFERENCES_ROW (expander),
                                         _ ("More of the optimizer"));
          adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), expander);
        }
      self->rows[i] = add_field (
          self, i >= FIELD_WEIGHT_DECAY ? ADW_EXPANDER_ROW (expander) : NULL,
          _ (fields[i].title),
          fields[i].hint != NULL ? _ (fields[i].hint) : NULL);
    }
}

static void
qm_recipe_form_class_init (QmRecipeFormClass *klass)
{
  g_signal_new ("changed", QM_TYPE_RECIPE_FORM, G_SIGNAL_RUN_LAST, 0, NULL,
                NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_recipe_form_init (QmRecipeForm *self)
{
  const char *units[] = { _ ("Steps"), _ ("Tokens"), NULL };
  const char *precisions[] = { _ ("fp32"), _ ("fp16, mixed"), _ ("bf16, mixed"),
                               _ ("FP8 and bf16"), NULL };
  const char *scaled[] = { _ ("A scale for each tensor, of its own numbers"),
                           _ ("A scale for each tensor, of the passes before"),
                           _ ("A scale for each row"), NULL };
  const char *optimizers[] = { _ ("Adam"), _ ("AdamW"), _ ("LAMB"), _ ("Muon"),
                               NULL };
  const char *scales[] = { _ ("By outputs over inputs (Jordan)"),
                           _ ("As large as of AdamW (Moonshot)"), NULL };

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (self), _ ("Recipe"));
  self->batch_row = add_field (self, NULL, _ ("Batch size"), NULL);
  self->sample_row = add_field (self, NULL, _ ("Sequence length"), NULL);
  self->unit_row = add_choice (self, _ ("Length of training in"), units);
  self->length_row = add_field (self, NULL, _ ("Length of training"), NULL);
  self->precision_row = add_choice (self, _ ("Precision"), precisions);
  self->fp8_row = add_choice (self, _ ("Scales of FP8"), scaled);
  self->optimizer_row = add_choice (self, _ ("Optimizer"), optimizers);
  self->scale_row = add_choice (self, _ ("Updates of matrices"), scales);
  add_numbers (self);
  show_wanted (self);
}
