/* SPDX-License-Identifier: Apache-2.0 */

#include "data/rope.h"

#include "data/family-read.h"
#include "data/text.h"

#include <string.h>

#define PI 3.14159265358979323846

const char *const qm_rope_kinds[] = { "default", "linear", "llama3", "yarn",
                                      NULL };

static double
llama3_turn (const QmRope *rope, double turn)
{
  double turns = rope->original_positions * turn / (2 * PI), share;

  if (turns > rope->high_frequency)
    return turn;
  if (turns < rope->low_frequency)
    return turn / rope->factor;
  share = (turns - rope->low_frequency)
          / (rope->high_frequency - rope->low_frequency);
  return (1 - share) * turn / rope->factor + share * turn;
}

/* The element that turns `turns` times in the original length. */
static double
element_of (const QmRope *rope, double rotated, double turns)
{
  return rotated * log (rope->original_positions / (turns * 2 * PI))
         / (2 * log (rope->theta));
}

static double
yarn_turn (const QmRope *rope, double rotated, double j, double turn)
{
  double low = element_of (rope, rotated, rope->beta_fast);
  double high = element_of (rope, rotated, rope->beta_slow);
  double share;

  if (rope->truncate)
    {
      low = floor (low);
      high = ceil (high);
    }
  low = fmax (low, 0);
  high = fmin (high, rotated - 1);
  if (high <= low && high >= low)
    high += 0.001;
  share = fmin (fmax ((j - low) / (high - low), 0), 1);
  return share * turn / rope->factor + (1 - share) * turn;
}

double
qm_rope_turn (const QmRope *rope, int64_t rotated, int64_t j)
{
  double turn = pow (rope->theta, -(double) (2 * j) / (double) rotated);

  switch ((QmRopeKind) rope->kind)
    {
    case QM_ROPE_DEFAULT:
      break;
    case QM_ROPE_LINEAR:
      return turn / rope->factor;
    case QM_ROPE_LLAMA3:
      return llama3_turn (rope, turn);
    case QM_ROPE_YARN:
      return yarn_turn (rope, (double) rotated, (double) j, turn);
    }
  return turn;
}

bool
qm_rope_is_same (const QmRope *a, const QmRope *b)
{
  const double differences[] = {
    a->theta - b->theta,
    a->factor - b->factor,
    a->original_positions - b->original_positions,
    a->low_frequency - b->low_frequency,
    a->high_frequency - b->high_frequency,
    a->beta_fast - b->beta_fast,
    a->beta_slow - b->beta_slow,
    a->amplitude - b->amplitude,
  };

  for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
    if (differences[i] < 0 || differences[i] > 0)
      return false;
  return a->kind == b->kind && a->truncate == b->truncate;
}

static double
mscale (double factor, double scale)
{
  return factor <= 1 ? 1 : 0.1 * scale * log (factor) + 1;
}

static void
read_yarn (QmJsonObject *object, bool truncate, QmRope *rope)
{
  double above = qm_json_number_or (object, "mscale", 0, 1e3, 0);
  double below = qm_json_number_or (object, "mscale_all_dim", 0, 1e3, 0);
  double amplitude = above > 0 && below > 0 ? mscale (rope->factor, above)
                                                  / mscale (rope->factor, below)
                                            : mscale (rope->factor, 1);

  rope->amplitude =
      qm_json_number_or (object, "attention_factor", 1e-6, 1e6, amplitude);
  rope->beta_fast = qm_json_number_or (object, "beta_fast", 1e-6, 1e6, 32);
  rope->beta_slow = qm_json_number_or (object, "beta_slow", 1e-6, 1e6, 1);
  rope->truncate = true;
  if (truncate)
    rope->truncate = qm_json_boolean_or (object, "truncate", true);
}

static void
read_llama3 (QmJsonObject *object, QmRope *rope)
{
  rope->low_frequency = qm_json_number (object, "low_freq_factor", 1e-6, 1e6);
  rope->high_frequency = qm_json_number (object, "high_freq_factor", 1e-6, 1e6);
  if (object->status == QM_OK && rope->high_frequency <= rope->low_frequency)
    qm_json_fail (object, "high_freq_factor", QM_STATUS_INVALID,
                  "is not above low_freq_factor");
}

/* The kind has had two names, of which Transformers prefers the newer. */
static int
read_kind (QmJsonObject *object)
{
  const char *old = qm_json_string (object, "type", false);
  const char *word = qm_json_string (object, "rope_type", false);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    word = old;
  if (word == NULL && qm_json_has (object, "factor"))
    qm_json_fail (object, "rope_type", QM_STATUS_INVALID,
                  "is missing, which says what factor is of");
  if (word == NULL)
    return QM_ROPE_DEFAULT;
  for (int i = 0; qm_rope_kinds[i] != NULL; i++)
    if (strcmp (word, qm_rope_kinds[i]) == 0)
      return i;
  qm_json_fail (object, "rope_type", QM_STATUS_UNSUPPORTED,
                "%s is not supported; default, linear, llama3 and yarn are",
                qm_text_quote (word, quoted));
  return QM_ROPE_DEFAULT;
}

void
qm_rope_read (QmJsonObject *object,
              const char *name,
              int64_t max_positions,
              bool truncate,
              QmRope *rope)
{
  static const char *const none[] = { NULL };
  static const char *const nullable[] = {
    "attention_factor", "beta_fast",      "beta_slow", "factor",
    "mscale",           "mscale_all_dim", NULL
  };
  QmJsonObject read;

  if (!qm_json_has (object, name))
    {
      qm_json_take (object, name);
      return;
    }
  qm_json_enter (object, name, &read);
  rope->kind = read_kind (&read);
  rope->theta =
      qm_json_number_or (&read, "rope_theta", 1.0001, 1e12, rope->theta);
  /* Less is not for all kinds, and nobody trains such. */
  qm_config_require_number (&read, "partial_rotary_factor", 1);
  if (rope->kind == QM_ROPE_LLAMA3 || rope->kind == QM_ROPE_YARN)
    rope->original_positions =
        (double) qm_json_integer_or (&read, "original_max_position_embeddings",
                                     1, QM_MAX_POSITIONS, max_positions);
  if (rope->kind == QM_ROPE_YARN)
    rope->factor =
        qm_json_number_or (&read, "factor", 1e-6, 1e6,
                           (double) max_positions / rope->original_positions);
  else if (rope->kind != QM_ROPE_DEFAULT)
    rope->factor = qm_json_number (&read, "factor", 1e-6, 1e6);
  if (rope->kind == QM_ROPE_LLAMA3)
    read_llama3 (&read, rope);
  if (rope->kind == QM_ROPE_YARN)
    read_yarn (&read, truncate, rope);
  qm_config_refuse_nulls (&read, nullable);
  object->status = qm_json_finish (&read, none);
}

static bool
is_filled (const QmJsonObject *object, const char *name)
{
  return json_object_size (json_object_get (object->json, name)) > 0;
}

void
qm_rope_begin (QmJsonObject *object, double theta, QmRope *rope)
{
  *rope = (QmRope){ .amplitude = 1 };
  rope->theta = qm_json_number_or (object, "rope_theta", 1.0001, 1e12, theta);
  if (is_filled (object, "rope_scaling")
      && is_filled (object, "rope_parameters"))
    qm_json_fail (object, "rope_scaling", QM_STATUS_UNSUPPORTED,
                  "is not supported beside rope_parameters");
}

void
qm_rope_read_whole (QmJsonObject *object, int64_t max_positions, QmRope *rope)
{
  qm_rope_read (object, "rope_scaling", max_positions, true, rope);
  qm_rope_read (object, "rope_parameters", max_positions, true, rope);
}

static void
set (json_t *object, const char *name, double value)
{
  json_object_set_new (object, name, json_real (value));
}

json_t *
qm_rope_json (const QmRope *rope, bool theta)
{
  json_t *object;

  if (rope->kind == QM_ROPE_DEFAULT && !theta)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "rope_type",
                       json_string (qm_rope_kinds[rope->kind]));
  if (theta)
    set (object, "rope_theta", rope->theta);
  if (rope->kind != QM_ROPE_DEFAULT)
    set (object, "factor", rope->factor);
  if (rope->kind == QM_ROPE_LLAMA3 || rope->kind == QM_ROPE_YARN)
    json_object_set_new (object, "original_max_position_embeddings",
                         json_integer ((json_int_t) rope->original_positions));
  if (rope->kind == QM_ROPE_LLAMA3)
    {
      set (object, "low_freq_factor", rope->low_frequency);
      set (object, "high_freq_factor", rope->high_frequency);
    }
  if (rope->kind == QM_ROPE_YARN)
    {
      set (object, "attention_factor", rope->amplitude);
      set (object, "beta_fast", rope->beta_fast);
      set (object, "beta_slow", rope->beta_slow);
      if (!rope->truncate)
        json_object_set_new (object, "truncate", json_false ());
    }
  return object;
}
