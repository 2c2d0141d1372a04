/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the matcher share: words of a text, and what they say. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

#define QM_MATCH_MAX_WORDS  400
#define QM_MATCH_WORD_BYTES 24

/* Words in lower case without accents; glued ones ("8xRTX3090Ti") taken apart,
 * memory as "80gb". */
typedef struct
{
  char words[QM_MATCH_MAX_WORDS][QM_MATCH_WORD_BYTES];
  gboolean parted[QM_MATCH_MAX_WORDS]; /* a comma or the like stands before */
  int n;
} QmWords;

/* How a GPU is built in. */
typedef enum
{
  QM_FORM_UNKNOWN,
  QM_FORM_PCIE,
  QM_FORM_NVL,
  QM_FORM_SXM,
  QM_FORM_OAM
} QmGpuForm;

/* Words that tell GPUs of one number apart. */
enum
{
  QM_QUALIFIER_TI = 1,
  QM_QUALIFIER_SUPER = 2,
  QM_QUALIFIER_ADA = 4,
  QM_QUALIFIER_PRO = 8
};

typedef enum
{
  QM_EDITION_NONE,
  QM_EDITION_WORKSTATION,
  QM_EDITION_MAXQ,
  QM_EDITION_SERVER
} QmGpuEdition;

/* What a GPU of the catalog is known by. */
typedef struct
{
  const QmGpu *gpu;
  char head[QM_MATCH_WORD_BYTES]; /* "3090", "a100" */
  int qualifiers;
  QmGpuEdition edition;
  QmGpuForm form; /* of the name, else of the form factor */
  int generation; /* of the form: 4 for SXM4; 0: not said */
  int memory;     /* GiB */
} QmGpuKey;

/* What words came to. */
typedef struct
{
  GPtrArray *items; /* of const char *, ids, each once */
  gboolean sure;    /* the only item is meant */
  gboolean around;  /* something made for a GPU, or ready for one ... */
  gboolean service; /* ... perhaps: a service, or a machine with one */
  int gpus;         /* in one unit; 0: unknown */
} QmWordMatch;

/* The words of a text but the positions of lines in it. */
void qm_words_split (QmWords *words, const char *text);

/* Replaces what numbers a line of a quote, "Pos. 2:", "1.2", "#2", by spaces,
 * so that nobody takes it for a count.  ascii: the text without accents. */
void qm_text_blank_positions (char *ascii);

/* Whether a word is among those of a list separated by spaces. */
gboolean qm_word_in (const char *word, const char *list);

/* Whether one of the words is. */
gboolean qm_words_have (const QmWords *words, const char *list);

/* The word of an index; "" before the first and behind the last. */
const char *qm_words_at (const QmWords *words, int i);

/* GiB of a word such as "80gb"; 0: it is no memory. */
int qm_word_memory (const char *word);

/* A whole number from 1 to 16; 0: it is none. */
int qm_word_small_number (const char *word);

/* Makers and other words that may stand between a number and a GPU. */
extern const char qm_match_fillers[];

/* What a GPU's name and form factor say. */
void qm_gpu_key_init (QmGpuKey *key, const QmGpu *gpu);

/* Whether words are about something for a GPU, and not about it. */
typedef enum
{
  QM_AROUND_NOT,
  QM_AROUND_PERHAPS, /* "DGX H100 3 years support" */
  QM_AROUND_SURELY   /* "NVLink bridge for A100" */
} QmAround;

/* That of the words around the GPU that is named at `head`. */
QmAround qm_words_around (const QmWords *words, int head);

/* Whether a service is among the words: a warranty, support, a licence. */
gboolean qm_words_name_service (const QmWords *words);

/* Whether a time begins at word `i`: "36 months", "5yr". */
gboolean qm_words_are_time (const QmWords *words, int i);

/* Finds the GPUs that words are about.  `match->items` is the caller's, and is
 * added to. */
void qm_words_match (const QmWords *words,
                     const QmGpuKey *keys,
                     guint n_keys,
                     QmWordMatch *match);

/* Whether words name a GPU, whether or not a catalog has it: "GTX 1650". */
gboolean qm_words_name_gpu (const QmWords *words);
