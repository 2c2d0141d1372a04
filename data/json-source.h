/* SPDX-License-Identifier: Apache-2.0 */

/* JSON objects whose fields are all accounted for, with the line and column of
 * whatever is wrong.
 *
 * Fields are taken out of an object by functions that check them and remember
 * the name; qm_json_finish() then refuses what nobody asked for.  The first
 * field that is wrong becomes the error of the object, and what the functions
 * return after that is a value in range but does not matter.  A field that is
 * null counts as absent. */

#ifndef QM_DATA_JSON_SOURCE_H
#define QM_DATA_JSON_SOURCE_H

#include "data/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QM_JSON_MAX_READ 64

typedef struct QmJsonText
{
  const char *text;
  size_t length;
  const char *file;
} QmJsonText;

typedef struct QmJsonObject
{
  const QmJsonText *source;
  json_t *json;                      /* borrowed */
  const struct QmJsonObject *parent; /* NULL at the top */
  const char *section;               /* the parent's field that this is */
  const char *read[QM_JSON_MAX_READ];
  size_t n_read;
  bool lax; /* fields that nobody asked for may be null or false */
  QmStatus status;
  QmError *error;
} QmJsonObject;

/* Parses an object.  Infinity, which Python writes, is read as a number that is
 * 1e308 or more, and with a minus as one that is as much less.  The caller
 * frees *root with json_decref(). */
QmStatus
qm_json_parse (const QmJsonText *source, json_t **root, QmError *error);

/* The top object. */
void qm_json_begin (QmJsonObject *object,
                    const QmJsonText *source,
                    json_t *root,
                    QmError *error);

/* The object in a field of another, required.  The parent must outlive it, and
 * has to be told how it ended: parent->status = qm_json_finish (object, ...).
 */
void
qm_json_enter (QmJsonObject *parent, const char *name, QmJsonObject *object);

/* Where the object's own text begins, at its brace, and how long it is. */
const char *qm_json_text (const QmJsonObject *object, size_t *length);

/* Makes "name: message" the error of the object, unless it has one. */
void qm_json_fail (QmJsonObject *object,
                   const char *name,
                   QmStatus status,
                   const char *format,
                   ...) __attribute__ ((format (printf, 4, 5)));

/* Whether a field is there and not null. */
bool qm_json_has (const QmJsonObject *object, const char *name);

/* The value of a field, or NULL where it is absent; marks it as read. */
json_t *qm_json_take (QmJsonObject *object, const char *name);

/* A whole number in [min, max], required. */
int64_t qm_json_integer (QmJsonObject *object,
                         const char *name,
                         int64_t min,
                         int64_t max);

/* The same, with a value for where it is absent. */
int64_t qm_json_integer_or (QmJsonObject *object,
                            const char *name,
                            int64_t min,
                            int64_t max,
                            int64_t absent);

/* A number in [min, max], required. */
double
qm_json_number (QmJsonObject *object, const char *name, double min, double max);

/* The same, with a value for where it is absent. */
double qm_json_number_or (QmJsonObject *object,
                          const char *name,
                          double min,
                          double max,
                          double absent);

/* True or false, with a value for where it is absent. */
bool qm_json_boolean_or (QmJsonObject *object, const char *name, bool absent);

/* A string; NULL where it is absent and not required. */
const char *
qm_json_string (QmJsonObject *object, const char *name, bool required);

/* Refuses the first field that was not read and is not among `harmless`, a list
 * that ends with NULL, or NULL.  Where the object is lax, null is accepted all
 * the same, and false unless the name is nearly one that was read.  Returns the
 * object's status. */
QmStatus qm_json_finish (QmJsonObject *object, const char *const *harmless);

#endif
