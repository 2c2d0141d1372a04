/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/masks.h"

bool
qm_is_masked (const QmModelConfig *config, int64_t tokens)
{
  switch (config->family)
    {
    case QM_FAMILY_DINOV2:
    case QM_FAMILY_DINOV2_WITH_REGISTERS:
    case QM_FAMILY_DINOV3_VIT:
    case QM_FAMILY_DIT:
      return false;
    case QM_FAMILY_VIT_MAE:
      /* And the class; its decoder sees all patches. */
      return tokens == qm_mae_kept (&config->mae) + 1;
    case QM_FAMILY_CLIP:
    case QM_FAMILY_SIGLIP:
      return tokens == config->clip.max_positions
             && tokens != qm_clip_vision_tokens (config);
    default:
      return true;
    }
}
