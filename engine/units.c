/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/units.h"

#include <stdlib.h>
#include <string.h>

static int64_t
rounded (int64_t elements)
{
  return (elements + QM_SLAB_ALIGNMENT - 1) / QM_SLAB_ALIGNMENT
         * QM_SLAB_ALIGNMENT;
}

static bool
is_owner (const QmGraph *graph, size_t value, QmRole role)
{
  return graph->values[value].role == role
         && graph->values[value].owner == (QmValueId) value;
}

/* What is placed behind each other. */
typedef enum Group
{
  GROUP_MOVES,
  GROUP_WHOLE, /* what moves, in parts that it is whole in */
  GROUP_SMALL, /* what stays */
  GROUP_OTHER, /* what stays, of another type */
  N_GROUPS
} Group;

static Group
group_of (const QmUnitRules *rules, const QmGraph *graph, size_t value)
{
  const QmValue *parameter = &graph->values[value];

  if (rules->whole != NULL && rules->whole[value] > 0)
    return GROUP_WHOLE;
  if (!rules->apart)
    return GROUP_MOVES;
  if (parameter->tensor.type != rules->type)
    return GROUP_OTHER;
  return parameter->room < rules->threshold ? GROUP_SMALL : GROUP_MOVES;
}

/* The slab so far. */
typedef struct Cut
{
  const QmGraph *graph;
  const QmUnitRules *rules;
  QmUnits *units;
  Group group;
  int32_t block; /* of the newest unit */
  bool open;     /* there is one in this group */
} Cut;

static void
close_unit (Cut *cut)
{
  QmUnits *units = cut->units;
  QmUnit *newest = &units->list[units->n - 1];
  int64_t multiple = QM_SLAB_ALIGNMENT * cut->rules->parts;

  if (!cut->open)
    return;
  newest->used = units->slab;
  newest->end = (units->slab + multiple - 1) / multiple * multiple;
  units->slab = newest->end;
  cut->open = false;
}

static bool
goes_on (const Cut *cut, const QmValue *parameter)
{
  const QmUnit *newest = &cut->units->list[cut->units->n - 1];

  if (!cut->open)
    return false;
  if (cut->group != GROUP_MOVES)
    return true;
  if (cut->rules->blocks)
    return parameter->block == cut->block;
  return cut->units->slab + rounded (parameter->room) - newest->begin
         <= cut->rules->elements;
}

static void
add_to_unit (Cut *cut, size_t value)
{
  const QmValue *parameter = &cut->graph->values[value];
  QmUnits *units = cut->units;

  if (cut->rules->cut && !goes_on (cut, parameter))
    {
      close_unit (cut);
      units->list[units->n++].begin = units->slab;
      cut->block = parameter->block;
      cut->open = true;
    }
  units->place[value] = units->slab;
  units->slab += rounded (parameter->room);
  if (cut->rules->cut)
    units->of[value] = (int32_t) (units->n - 1);
}

static void
place_group (Cut *cut)
{
  for (size_t i = 0; i < cut->graph->n_values; i++)
    if (is_owner (cut->graph, i, QM_ROLE_PARAMETER)
        && group_of (cut->rules, cut->graph, i) == cut->group)
      add_to_unit (cut, i);
  close_unit (cut);
}

/* A parameter that has to be whole. */
typedef struct Card
{
  double cost;
  int64_t elements; /* with the gap after them */
  QmValueId value;
} Card;

static int
by_cost (const void *a, const void *b)
{
  const Card *x = a, *y = b;

  if (x->cost != y->cost)
    return x->cost < y->cost ? 1 : -1;
  if (x->elements != y->elements)
    return x->elements < y->elements ? 1 : -1;
  return x->value < y->value ? -1 : 1;
}

static size_t
sort_cards (const Cut *cut, Card *cards)
{
  size_t n = 0;

  for (size_t i = 0; i < cut->graph->n_values; i++)
    if (is_owner (cut->graph, i, QM_ROLE_PARAMETER)
        && group_of (cut->rules, cut->graph, i) == GROUP_WHOLE)
      cards[n++] =
          (Card){ cut->rules->whole[i], rounded (cut->graph->values[i].room),
                  (QmValueId) i };
  qsort (cards, n, sizeof *cards, by_cost);
  return n;
}

/* Elements of each part, of `part` before, where the first get one more. */
static int64_t
part_after (int64_t part, const Card *cards, size_t n, const int64_t *filled)
{
  for (size_t i = 0; i < n; i++)
    if (filled[i] + cards[i].elements > part)
      part = filled[i] + cards[i].elements;
  return part;
}

/* As many rounds as a unit takes; returns how many cards those are.  Until its
 * parts are known, places are those in them. */
static size_t
deal_unit (Cut *cut, const Card *cards, size_t n, int64_t *filled)
{
  const size_t parts = (size_t) cut->rules->parts;
  QmUnits *units = cut->units;
  QmUnit *unit = &units->list[units->n];
  int64_t part = 0;
  size_t dealt = 0;

  memset (filled, 0, parts * sizeof *filled);
  while (dealt < n)
    {
      size_t round = n - dealt < parts ? n - dealt : parts;
      int64_t after = part_after (part, cards + dealt, round, filled);

      if (dealt > 0 && after * (int64_t) parts > cut->rules->elements)
        break;
      part = after;
      for (size_t i = 0; i < round; i++, dealt++)
        {
          units->place[cards[dealt].value] = filled[i];
          filled[i] += cards[dealt].elements;
        }
    }
  for (size_t i = 0; i < parts; i++)
    unit->gaps = unit->gaps || filled[i] < part;
  unit->begin = units->slab;
  for (size_t i = 0; i < dealt; i++)
    {
      units->place[cards[i].value] +=
          unit->begin + (int64_t) (i % parts) * part;
      units->of[cards[i].value] = (int32_t) units->n;
    }
  units->slab += part * (int64_t) parts;
  unit->used = unit->end = units->slab;
  units->n++;
  return dealt;
}

static QmStatus
place_whole (Cut *cut, QmError *error)
{
  Card *cards = malloc ((cut->graph->n_values + 1) * sizeof *cards);
  int64_t *filled = malloc ((size_t) cut->rules->parts * sizeof *filled);
  size_t n = 0, dealt = 0;

  if (cards != NULL && filled != NULL)
    n = sort_cards (cut, cards);
  while (dealt < n)
    dealt += deal_unit (cut, cards + dealt, n - dealt, filled);
  free (cards);
  free (filled);
  return cards != NULL && filled != NULL ? QM_OK : qm_error_no_memory (error);
}

/* Gradients were declared in the order of the parameters that they belong to.
 */
static void
place_gradients (const QmGraph *graph, QmUnits *units)
{
  size_t parameter = 0;

  for (size_t i = 0; i < graph->n_values; i++)
    if (is_owner (graph, i, QM_ROLE_GRADIENT))
      {
        while (!is_owner (graph, parameter, QM_ROLE_PARAMETER))
          parameter++;
        units->place[i] = units->place[parameter];
        units->of[i] = units->of[parameter++];
      }
}

QmStatus
qm_units_find (const QmGraph *graph,
               const QmUnitRules *rules,
               QmUnits *units,
               QmError *error)
{
  size_t n = graph->n_values + 1;
  Cut cut = { .graph = graph, .rules = rules, .units = units };
  QmStatus status = QM_OK;

  *units = (QmUnits){
    .place = calloc (n, sizeof *units->place),
    .n_values = graph->n_values,
    .list = calloc (n, sizeof *units->list),
    .of = malloc (n * sizeof *units->of),
  };
  if (units->place == NULL || units->list == NULL || units->of == NULL)
    {
      qm_units_clear (units);
      return qm_error_no_memory (error);
    }
  for (size_t i = 0; i < n; i++)
    units->of[i] = QM_NO_UNIT;
  for (cut.group = GROUP_MOVES; cut.group < N_GROUPS; cut.group++)
    {
      if (cut.group != GROUP_WHOLE)
        place_group (&cut);
      else if (rules->whole != NULL)
        status = place_whole (&cut, error);
      if (status != QM_OK)
        {
          qm_units_clear (units);
          return status;
        }
      if (cut.group == GROUP_MOVES)
        units->n_cut = units->n;
      if (cut.group <= GROUP_WHOLE)
        units->n_moving = units->n;
    }
  units->n_fetched = rules->weights ? units->n_moving : 0;
  units->n_sent = rules->gradients ? units->n : 0;
  place_gradients (graph, units);
  return QM_OK;
}

QmPiece
qm_units_piece (const QmUnits *units,
                int32_t unit,
                int parts,
                int part,
                int64_t begin,
                int64_t end)
{
  const QmUnit *range;
  int64_t n, first, from, to;

  if (unit == QM_NO_UNIT || parts == 1)
    return (QmPiece){ begin, begin, end - begin };
  range = &units->list[unit];
  n = qm_unit_part (range, parts);
  first = range->begin + part * n;
  from = begin > first ? begin : first;
  to = end < first + n ? end : first + n;
  if (to <= from)
    return (QmPiece){ first, range->begin / parts, 0 };
  return (QmPiece){ from, range->begin / parts + from - first, to - from };
}

static int32_t
unit_below (const QmUnits *units, size_t n, QmValueId owner, bool role)
{
  return (size_t) owner < units->n_values && role
                 && units->of[owner] < (int32_t) n
             ? units->of[owner]
             : QM_NO_UNIT;
}

int32_t
qm_units_fetched (const QmUnits *units, const QmGraph *graph, QmValueId owner)
{
  return unit_below (units, units->n_fetched, owner,
                     graph->values[owner].role == QM_ROLE_PARAMETER);
}

int32_t
qm_units_sent (const QmUnits *units, const QmGraph *graph, QmValueId owner)
{
  return unit_below (units, units->n_sent, owner,
                     graph->values[owner].role == QM_ROLE_GRADIENT);
}

void
qm_units_clear (QmUnits *units)
{
  free (units->place);
  free (units->list);
  free (units->of);
  *units = (QmUnits){ 0 };
}
