/* SPDX-License-Identifier: Apache-2.0 */

/* What many errors come to.  An error is the logarithm of predicted / measured;
 * NaN where there is none. */

#ifndef QM_TESTS_SUMMARY_H
#define QM_TESTS_SUMMARY_H

#include "tests/prediction/rates.h"

/* What rates have in common: those of a source, a type of GPU, a model. */
typedef const char *(*KeyOf) (const Rate *rate);

const char *source_of (const Rate *rate);
const char *gpu_of (const Rate *rate);
const char *model_of (const Rate *rate);
const char *level_of (const Rate *rate);
const char *family_of (const Rate *rate);
const char *place_of (const Rate *rate);   /* "offloaded", "not offloaded" */
const char *carrier_of (const Rate *rate); /* "offloaded", "board", "card" */
const char *aim_of (const Rate *rate); /* "tuned, cuda": of software that aims
                                          are the same for; else "" */

/* Whether no rate before that one has its key. */
bool is_first (const Rates *rates, KeyOf key, size_t index);

/* Which rates are meant. */
typedef struct Group
{
  const char *level; /* NULL: any */
  KeyOf key;         /* NULL: any */
  const char *value; /* of the key */
  Held held;         /* which of those that are held back, else all others */
} Group;

typedef struct Summary
{
  size_t n, missing;      /* missing: that ought to be predicted and were not */
  double half, most, all; /* sizes of errors that half, nine of ten and all of
                             them do not exceed: |predicted / measured - 1| */
  double bias;            /* mean, as the same */
  double size;            /* mean of their sizes, as the same */
  /* The same with each source weighing the same, and what the interval of the
   * level covers, likewise, which is so many times as high as low. */
  double half_of_sources, most_of_sources, covered, width;
} Summary;

/* `left`: the share of each interval's width that what is known of the model
 * leaves (engine/residual.h); NULL: all of it. */
Summary summarize (const Rates *rates,
                   const double *errors,
                   const double *left,
                   const QmCalibration *calibration,
                   const Group *group);

/* The errors of rates that a fit has not seen for one reason, and `left`. */
typedef struct Unseen
{
  const double *errors, *left;
} Unseen;

/* The size of an error as a logarithm, as a share of what is left of its
 * interval, that so many have a smaller one than, of all kinds of unseen
 * errors together, each source of each weighing the same, between those that
 * are there, where the next of these would be larger, but no less than what so
 * few of any kind do not exceed: a single rate of a source may weigh more than
 * lies between both.  An error counts from what a source has left open by
 * rounding.  Of boards or cards, or (NULL) of both. */
double spread_of (const Rates *rates,
                  const Unseen *unseen,
                  size_t kinds,
                  const char *level,
                  const char *carrier,
                  double share,
                  double least);

/* Of pairs of rates of two types of GPU that are else the same (source, model,
 * level, GPUs) and differ by more than a tenth, how many there are and how many
 * are predicted in their order. */
typedef struct Order
{
  size_t pairs, right;
} Order;

Order order_of (const Rates *rates, const double *errors);

/* Of pairs of rates of a level by one source and of one model, on two types of
 * GPU or else on one, how many there are, and half the mean square of how their
 * errors differ, as a share of the variance that their intervals are for: what
 * they do not share.  NaN without any. */
typedef struct Apart
{
  size_t pairs;
  double share;
} Apart;

Apart apart_of (const Rates *rates,
                const double *errors,
                const double *left,
                const QmCalibration *calibration,
                const char *level,
                bool two_gpus);

#endif
