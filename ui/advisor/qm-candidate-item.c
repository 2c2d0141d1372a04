/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-candidate-item.h"

struct _QmCandidateItem
{
  GObject parent_instance;

  guint topic;
  guint index;
};

G_DEFINE_FINAL_TYPE (QmCandidateItem, qm_candidate_item, G_TYPE_OBJECT)

static void
qm_candidate_item_class_init (QmCandidateItemClass *klass)
{
}

static void
qm_candidate_item_init (QmCandidateItem *self)
{
}

QmCandidateItem *
qm_candidate_item_new (guint topic, guint index)
{
  QmCandidateItem *self = g_object_new (QM_TYPE_CANDIDATE_ITEM, NULL);

  self->topic = topic;
  self->index = index;
  return self;
}

guint
qm_candidate_item_get_topic (QmCandidateItem *self)
{
  g_return_val_if_fail (QM_IS_CANDIDATE_ITEM (self), 0);

  return self->topic;
}

guint
qm_candidate_item_get_index (QmCandidateItem *self)
{
  g_return_val_if_fail (QM_IS_CANDIDATE_ITEM (self), 0);

  return self->index;
}
