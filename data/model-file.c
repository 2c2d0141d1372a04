/* SPDX-License-Identifier: Apache-2.0 */

#include "data/model-file.h"

#include "data/csv-table.h"
#include "data/model-config.h"
#include "data/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of the text of a field, or NULL after making it the object's error. */
static char *
read_text (QmJsonObject *object, const char *name)
{
  const char *text = qm_json_string (object, name, true);
  char *copy;

  if (text == NULL)
    return NULL;
  if (*text == '\0')
    qm_json_fail (object, name, QM_STATUS_INVALID, "must not be empty");
  if (!qm_text_is_line (text))
    qm_json_fail (object, name, QM_STATUS_INVALID, "must be a single line");
  copy = strdup (text);
  if (copy == NULL)
    qm_json_fail (object, name, QM_STATUS_NO_MEMORY, "out of memory");
  return copy;
}

static char *
read_id (QmJsonObject *object)
{
  char *id = read_text (object, "id");
  const char *problem = id != NULL ? qm_id_problem (id) : NULL;
  char quoted[QM_QUOTE_BYTES];

  if (problem != NULL)
    qm_json_fail (object, "id", QM_STATUS_INVALID, "%s %s",
                  qm_text_quote (id, quoted), problem);
  return id;
}

/* The text of a file does not end with a null byte. */
static char *
copy_text (const char *text, size_t length)
{
  char *copy = malloc (length + 1);

  if (copy == NULL)
    return NULL;
  memcpy (copy, text, length);
  copy[length] = '\0';
  return copy;
}

static QmModelGroup
read_group (QmJsonObject *object)
{
  const char *word = qm_json_string (object, "group", false);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    return QM_MODEL_GROUP_OWN;
  for (int i = QM_MODEL_GROUP_TODAY; i <= QM_MODEL_GROUP_PUBLICATION; i++)
    if (strcmp (word, qm_model_group_name ((QmModelGroup) i)) == 0)
      return (QmModelGroup) i;
  qm_json_fail (object, "group", QM_STATUS_INVALID,
                "%s is not 'today' or 'publication'",
                qm_text_quote (word, quoted));
  return QM_MODEL_GROUP_OWN;
}

static void
read_model_object (QmJsonObject *top, QmModelFile *model)
{
  static const char *const none[] = { NULL };
  QmJsonObject config, recipe;
  const char *text;
  size_t length;

  model->id = read_id (top);
  model->name = read_text (top, "name");
  model->source = read_text (top, "source");
  model->group = read_group (top);
  qm_json_enter (top, "config", &config);
  if (top->status == QM_OK)
    top->status = qm_model_config_read (&config, &model->config);
  if (top->status == QM_OK)
    {
      text = qm_json_text (&config, &length);
      model->config_text = copy_text (text, length);
      if (model->config_text == NULL)
        qm_json_fail (top, "config", QM_STATUS_NO_MEMORY, "out of memory");
    }
  qm_json_enter (top, "recipe", &recipe);
  if (top->status == QM_OK)
    top->status = qm_recipe_read (&recipe, &model->recipe);
  if (top->status == QM_OK)
    top->status = qm_recipe_apply (&recipe, &model->recipe, &model->config);
  qm_json_finish (top, none);
}

QmStatus
qm_model_file_parse (const char *text,
                     size_t length,
                     const char *file,
                     QmModelFile *model,
                     QmError *error)
{
  const QmJsonText source = { text, length, file };
  QmJsonObject top;
  json_t *root;
  QmStatus status = qm_json_parse (&source, &root, error);

  memset (model, 0, sizeof *model);
  if (status != QM_OK)
    return status;
  qm_json_begin (&top, &source, root, error);
  read_model_object (&top, model);
  json_decref (root);
  if (top.status != QM_OK)
    qm_model_file_clear (model);
  return top.status;
}

void
qm_model_file_clear (QmModelFile *model)
{
  free (model->id);
  free (model->name);
  free (model->source);
  free (model->config_text);
  memset (model, 0, sizeof *model);
}

/* Puts a point in place of the decimal sign of the process's locale. */
static void
use_point (char *text)
{
  const char *sign = localeconv ()->decimal_point;
  char *at = strstr (text, sign);
  size_t length = strlen (sign);

  if (at == NULL || length == 0)
    return;
  *at = '.';
  memmove (at + 1, at + length, strlen (at + length) + 1);
}

/* The shortest text that reads back as the same number. */
static void
write_number (FILE *out, double value)
{
  char text[40];

  for (int digits = 6; digits <= 17; digits++)
    {
      double back;

      snprintf (text, sizeof text, "%.*g", digits, value);
      use_point (text);
      if (qm_number_parse (text, &back) && back >= value && back <= value)
        break;
    }
  fputs (text, out);
}

static void
write_recipe (FILE *out, const QmRecipe *recipe, const char *indent)
{
  const bool muon = recipe->optimizer == QM_OPTIMIZER_MUON;
  const struct
  {
    const char *name;
    double value;
  } numbers[] = {
    { "learning_rate", recipe->learning_rate },
    { "beta1", recipe->beta1 },
    { "beta2", recipe->beta2 },
    { "epsilon", recipe->epsilon },
    { "weight_decay", recipe->weight_decay },
    { "max_grad_norm", recipe->max_grad_norm },
    { "dropout", recipe->dropout },
    { "z_loss", recipe->z_loss > 0 ? recipe->z_loss : NAN },
    { "ema_decay", recipe->ema_decay > 0 ? recipe->ema_decay : NAN },
    { "muon_learning_rate", muon ? recipe->muon_learning_rate : NAN },
    { "muon_momentum", muon ? recipe->muon_momentum : NAN },
    { "muon_weight_decay", muon ? recipe->muon_weight_decay : NAN },
  };
  bool image = recipe->image_size > 0;

  fprintf (out, "{\n%s  \"batch_size\": %" PRId64 ",\n", indent,
           recipe->batch_size);
  fprintf (out, "%s  \"steps\": %" PRId64 ",\n", indent, recipe->steps);
  fprintf (out, "%s  \"%s\": %" PRId64 ",\n", indent,
           image ? "image_size" : "sequence_length",
           image ? recipe->image_size : recipe->sequence_length);
  fprintf (out, "%s  \"precision\": \"%s\",\n", indent,
           qm_precision_name (recipe->precision));
  if (recipe->precision == QM_PRECISION_FP8)
    fprintf (out,
             "%s  \"fp8_scales\": \"%s\",\n%s  \"fp8_amax\": \"%s\",\n"
             "%s  \"fp8_gradients\": \"%s\",\n",
             indent, qm_fp8_scales_name (recipe->fp8.scales), indent,
             qm_fp8_amax_name (recipe->fp8.amax), indent,
             qm_fp8_gradients_name (recipe->fp8.gradients));
  fprintf (out, "%s  \"optimizer\": \"%s\"", indent,
           qm_optimizer_name (recipe->optimizer));
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (!isnan (numbers[i].value))
      {
        fprintf (out, ",\n%s  \"%s\": ", indent, numbers[i].name);
        write_number (out, numbers[i].value);
      }
  if (muon)
    fprintf (out, ",\n%s  \"muon_scale\": \"%s\"", indent,
             qm_muon_scale_name (recipe->muon_scale));
  fprintf (out, "\n%s}", indent);
}

static bool
write_member (FILE *out, const char *name, const char *value)
{
  json_t *string = json_string (value);
  char *text = string != NULL ? json_dumps (string, JSON_ENCODE_ANY) : NULL;

  if (text != NULL)
    fprintf (out, "  \"%s\": %s,\n", name, text);
  json_decref (string);
  free (text);
  return text != NULL;
}

/* Closes a stream in memory and hands its text out, unless something failed. */
static char *
finish_text (FILE *out, char **text, bool good)
{
  good = good && !ferror (out);
  if (fclose (out) != 0 || !good)
    {
      free (*text);
      return NULL;
    }
  return *text;
}

char *
qm_recipe_format (const QmRecipe *recipe)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream (&text, &length);

  if (out == NULL)
    return NULL;
  write_recipe (out, recipe, "");
  fputc ('\n', out);
  return finish_text (out, &text, true);
}

char *
qm_model_file_format (const char *id,
                      const char *name,
                      const char *source,
                      const char *config_text,
                      const QmRecipe *recipe)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream (&text, &length);
  bool good;

  if (out == NULL)
    return NULL;
  fputs ("{\n", out);
  good = write_member (out, "id", id) && write_member (out, "name", name)
         && write_member (out, "source", source);
  fprintf (out, "  \"config\": %s,\n  \"recipe\": ", config_text);
  write_recipe (out, recipe, "  ");
  fputs ("\n}\n", out);
  return finish_text (out, &text, good);
}
