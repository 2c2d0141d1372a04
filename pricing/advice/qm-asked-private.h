/* SPDX-License-Identifier: Apache-2.0 */

/* What reading and writing a question share. */

#pragma once

#include "pricing/advice/qm-asked.h"

G_BEGIN_DECLS

typedef const char *(*QmAskedName) (int value);

/* The choices that a file names, each with its first value as the default. */
typedef struct
{
  const char *field;
  QmAskedName name;
  int n;
} QmAskedChoice;

enum
{
  QM_ASKED_TIMES_OF,
  QM_ASKED_PREDICTIONS,
  QM_ASKED_LINK,
  QM_ASKED_SETTINGS,
  QM_ASKED_N_CHOICES
};

extern const QmAskedChoice qm_asked_choices[QM_ASKED_N_CHOICES];

/* Sets the value of a choice in a question. */
void qm_asked_set_choice (QmQuestion *question, int choice, int value);

G_END_DECLS
