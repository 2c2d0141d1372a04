/* SPDX-License-Identifier: Apache-2.0 */

/* For the files of families: the limits of what they may be, and reading what a
 * table does not say. */

#ifndef QM_DATA_FAMILY_READ_H
#define QM_DATA_FAMILY_READ_H

#include "data/family.h"

#include <math.h>
#include <stddef.h>

/* Larger than anything that was built, and so small that a count of parameters
 * fits in an int64_t: 2^12 layers of products of 2^17 x 2^20. */
#define QM_MAX_LAYERS    QM_CONFIG_MAX_LAYERS
#define QM_MAX_HIDDEN    (INT64_C (1) << 17)
#define QM_MAX_INNER     (INT64_C (1) << 20)
#define QM_MAX_VOCAB     (INT64_C (1) << 24)
#define QM_MAX_POSITIONS (INT64_C (1) << 24)
#define QM_MAX_HEADS     (INT64_C (1) << 12)
#define QM_MAX_EXPERTS   (INT64_C (1) << 12)
#define QM_MAX_STATE     (INT64_C (1) << 12)
#define QM_MAX_KERNEL    (INT64_C (1) << 8)
#define QM_MAX_CHANNELS  (INT64_C (1) << 12)
#define QM_MAX_IMAGE     (INT64_C (1) << 14)

/* Rows of a table: a member of the part of QmModelConfig that a file defines as
 * QM_MEMBER, the field of the configuration, its limits, and what it is where
 * nothing is said; other members of QmField may follow. */
#define QM_ROW(part, member, json, its_kind, least, most, other)              \
  .name = #member, .key = json, .kind = its_kind,                             \
  .offset = offsetof (QmModelConfig, part.member), .min = least, .max = most, \
  .absent = other
#define QM_ROW_OF(part, ...) QM_ROW (part, __VA_ARGS__)
#define QM_OTHER(member, key, kind, least, most, other, ...)                  \
  {                                                                           \
    QM_ROW_OF (QM_MEMBER, member, key, kind, least, most, other), __VA_ARGS__ \
  }
/* A whole number from 1 on, or from another one; a real one; ... */
#define QM_COUNT(member, key, most, other, ...) \
  QM_OTHER (member, key, QM_FIELD_WHOLE, 1, most, other, __VA_ARGS__)
#define QM_WHOLE(member, key, least, most, other, ...) \
  QM_OTHER (member, key, QM_FIELD_WHOLE, least, most, other, __VA_ARGS__)
#define QM_NUMBER(member, key, least, most, other, ...) \
  QM_OTHER (member, key, QM_FIELD_NUMBER, least, most, other, __VA_ARGS__)
/* ... a share from 0 to 1, true or false, and the name of an activation. */
#define QM_SHARE(member, key, other, ...) \
  QM_OTHER (member, key, QM_FIELD_PROBABILITY, 0, 1, other, __VA_ARGS__)
#define QM_SWITCH(member, key, other, ...) \
  QM_OTHER (member, key, QM_FIELD_SWITCH, 0, 1, other, __VA_ARGS__)
#define QM_FUNCTION(member, key, other, ...) \
  QM_OTHER (member, key, QM_FIELD_ACTIVATION, 0, 0, other, __VA_ARGS__)

#define QM_REQUIRED NAN

/* A field that the family reads itself, or reads and writes. */
#define QM_READ_APART .apart = QM_FIELD_READ_APART
#define QM_APART      .apart = QM_FIELD_READ_APART | QM_FIELD_WRITTEN_APART
#define QM_OPTIONAL_APART \
  .apart = QM_FIELD_READ_APART | QM_FIELD_WRITTEN_APART | QM_FIELD_OPTIONAL

/* Refuses a switch that we cannot honour in any other position. */
void
qm_config_require_switch (QmJsonObject *object, const char *name, bool only);

/* Refuses a field unless it is null or an empty collection. */
void qm_config_require_empty (QmJsonObject *object, const char *name);

/* Refuses any other word. */
void qm_config_require_word (QmJsonObject *object,
                             const char *name,
                             const char *only);

/* Refuses any other number; null is as good. */
void
qm_config_require_number (QmJsonObject *object, const char *name, double only);

/* Refuses null in fields that were read and may not be null, but for those of
 * a list that ends with NULL, or is NULL. */
void qm_config_refuse_nulls (QmJsonObject *object, const char *const *except);

bool qm_config_is_null (const QmJsonObject *object, const char *name);

QmActivation qm_config_activation (QmJsonObject *object,
                                   const char *name,
                                   QmActivation absent);

/* Refuses heads that do not divide the hidden size. */
void qm_config_check_heads (QmJsonObject *object,
                            int64_t hidden_size,
                            int64_t heads);

/* Nor ones that cannot be rotated, of an odd number of elements. */
void qm_config_check_turned_heads (QmJsonObject *object,
                                   int64_t hidden_size,
                                   int64_t heads);

/* Refuses heads of keys that are not each for as many of queries. */
void qm_config_check_key_heads (QmJsonObject *object,
                                int64_t heads,
                                int64_t key_heads);

/* `layer_types`, a word a layer: sets a bit for each layer that slides, and
 * clears that of one that sees everything.  False where there is none. */
bool
qm_config_layer_types (QmJsonObject *object, int64_t layers, uint64_t *sliding);

/* The list again. */
json_t *qm_config_layer_types_json (int64_t layers, const uint64_t *sliding);

/* How many classes an image may be of. */
int64_t qm_config_classes (QmJsonObject *object);

/* What the labels are of a head that classifies: where there is nothing said
 * and more than one, Transformers takes whole numbers for classes, too. */
void qm_config_problem (QmJsonObject *object);

#endif
