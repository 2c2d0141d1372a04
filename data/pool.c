/* SPDX-License-Identifier: Apache-2.0 */

#include "data/pool.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

typedef struct QmPoolBlock
{
  struct QmPoolBlock *next;
  size_t used;
  size_t size;
  alignas (max_align_t) char bytes[];
} QmPoolBlock;

static QmPoolBlock *
block_new (size_t size)
{
  QmPoolBlock *block;

  if (size < BLOCK_BYTES)
    size = BLOCK_BYTES;
  block = calloc (1, sizeof *block + size);
  if (block != NULL)
    block->size = size;
  return block;
}

void *
qm_pool_alloc (QmPool *pool, size_t size)
{
  QmPoolBlock *block = pool->blocks;
  const size_t alignment = alignof (max_align_t);
  void *memory;

  if (size > SIZE_MAX / 2)
    return NULL;
  size = (size + alignment - 1) / alignment * alignment;
  if (block == NULL || block->size - block->used < size)
    {
      block = block_new (size);
      if (block == NULL)
        return NULL;
      block->next = pool->blocks;
      pool->blocks = block;
    }
  memory = block->bytes + block->used;
  block->used += size;
  return memory;
}

const char *
qm_pool_string (QmPool *pool, const char *text)
{
  size_t size = strlen (text) + 1;
  char *copy = qm_pool_alloc (pool, size);

  if (copy != NULL)
    memcpy (copy, text, size);
  return copy;
}

const char *
qm_pool_format (QmPool *pool, const char *format, ...)
{
  va_list arguments;
  int length;
  char *text;

  va_start (arguments, format);
  length = vsnprintf (NULL, 0, format, arguments);
  va_end (arguments);
  if (length < 0)
    return NULL;

  text = qm_pool_alloc (pool, (size_t) length + 1);
  if (text == NULL)
    return NULL;
  va_start (arguments, format);
  vsnprintf (text, (size_t) length + 1, format, arguments);
  va_end (arguments);
  return text;
}

void
qm_pool_take (QmPool *pool, QmPool *from)
{
  QmPoolBlock **end = &from->blocks;

  while (*end != NULL)
    end = &(*end)->next;
  *end = pool->blocks;
  pool->blocks = from->blocks;
  from->blocks = NULL;
}

void
qm_pool_clear (QmPool *pool)
{
  while (pool->blocks != NULL)
    {
      QmPoolBlock *next = pool->blocks->next;

      free (pool->blocks);
      pool->blocks = next;
    }
}

void
qm_list_init (QmList *list, size_t item_size)
{
  *list = (QmList){ .item_size = item_size };
}

/* FNV-1a. */
static size_t
hash (const char *key)
{
  uint64_t value = UINT64_C (14695981039346656037);

  for (; *key != '\0'; key++)
    value = (value ^ (unsigned char) *key) * UINT64_C (1099511628211);
  return (size_t) (value ^ (value >> 32));
}

/* The slot of the key, or the empty slot where it belongs. */
static size_t
find_slot (const QmList *list, const char *key)
{
  size_t slot = hash (key) & (list->n_slots - 1);

  while (list->slots[slot] != 0
         && strcmp (list->keys[list->slots[slot] - 1], key) != 0)
    slot = (slot + 1) & (list->n_slots - 1);
  return slot;
}

static bool
grow (QmList *list)
{
  size_t capacity = list->capacity == 0 ? 32 : list->capacity * 2;
  size_t n_slots = capacity * 2;
  char *items = realloc (list->items, capacity * list->item_size);
  const char **keys;
  size_t *slots;

  if (items == NULL)
    return false;
  list->items = items;
  keys = realloc (list->keys, capacity * sizeof *keys);
  if (keys == NULL)
    return false;
  list->keys = keys;
  slots = calloc (n_slots, sizeof *slots);
  if (slots == NULL)
    return false;
  free (list->slots);
  list->slots = slots;
  list->n_slots = n_slots;
  list->capacity = capacity;
  for (size_t i = 0; i < list->n; i++)
    list->slots[find_slot (list, list->keys[i])] = i + 1;
  return true;
}

void *
qm_list_add (QmList *list, const char *key)
{
  void *item;

  if (list->n == list->capacity && !grow (list))
    return NULL;
  item = list->items + list->n * list->item_size;
  memset (item, 0, list->item_size);
  list->keys[list->n] = key;
  list->slots[find_slot (list, key)] = list->n + 1;
  list->n++;
  return item;
}

size_t
qm_list_find (const QmList *list, const char *key)
{
  if (list->n == 0)
    return QM_LIST_NONE;
  return list->slots[find_slot (list, key)] - 1;
}

void *
qm_list_item (const QmList *list, size_t index)
{
  return list->items + index * list->item_size;
}

void
qm_list_clear (QmList *list)
{
  free (list->items);
  free (list->keys);
  free (list->slots);
  qm_list_init (list, list->item_size);
}
