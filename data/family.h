/* SPDX-License-Identifier: Apache-2.0 */

/* What is known of the families of models: a table of the fields of each, and
 * what a table cannot say.  From it follow how a configuration is read, written
 * and listed, the key of a model, its FLOPs and parameters.
 *
 * A family is an entry of QmFamily, its configuration in data/model.h, a file
 * data/family-NAME.c with its table, the line for that in data/family.c, and
 * the file of its graph, engine/family-NAME.c, in the list in engine/build.c.
 */

#ifndef QM_DATA_FAMILY_H
#define QM_DATA_FAMILY_H

#include "data/json-source.h"
#include "data/model.h"

typedef enum QmFieldKind
{
  QM_FIELD_WHOLE,       /* int64_t; negative: there is none, null in files */
  QM_FIELD_NUMBER,      /* double */
  QM_FIELD_PROBABILITY, /* double below 1 */
  QM_FIELD_SWITCH,      /* bool */
  QM_FIELD_ACTIVATION,  /* QmActivation */
  QM_FIELD_WORD,        /* int, the index of one of `words` */
  QM_FIELD_STAGES,      /* int64_t for each of a number of stages */
  QM_FIELD_LAYERS       /* a bit for each layer, in words of 64 */
} QmFieldKind;

/* What the family's own functions do instead of the table. */
enum
{
  QM_FIELD_READ_APART = 1 << 0,
  QM_FIELD_WRITTEN_APART = 1 << 1,
  QM_FIELD_UNLISTED = 1 << 2,
  /* Where it is 0 it is not there: neither listed, nor written, nor in keys. */
  QM_FIELD_OPTIONAL = 1 << 3
};

typedef struct QmField
{
  const char *name; /* in listings */
  const char *key;  /* in config.json */
  QmFieldKind kind;
  size_t offset; /* in QmModelConfig */
  double min, max;
  double absent; /* the default of Transformers; NaN: the field is required */
  unsigned apart;
  /* Of stages and layers: where their number is, in QmModelConfig. */
  size_t count;
  const char *const *words; /* ends with NULL */
  const char *section; /* the object in config.json that has it; NULL: the file
                          itself */
} QmField;

/* An object in a config.json, absent where all of it is as Transformers has it.
 */
typedef struct QmSection
{
  const char *name;
  const char *whole; /* what counts in its place where it is there; NULL */
} QmSection;

/* A default that differs from the table's. */
typedef struct QmFieldDefault
{
  const char *name;
  double absent;
} QmFieldDefault;

typedef enum QmObjective
{
  QM_OBJECTIVE_NEXT_TOKEN,
  QM_OBJECTIVE_MASKED_TOKENS,
  QM_OBJECTIVE_CLASS_OF_IMAGE,
  QM_OBJECTIVE_HIDDEN_PIXELS,
  QM_OBJECTIVE_NOISE,
  QM_OBJECTIVE_PAIRS /* of images and texts */
} QmObjective;

typedef struct QmFamilyInfo
{
  const char *name;         /* model_type */
  const char *architecture; /* the class of Transformers that is trained */
  const char *block;        /* the class of what its layers are */
  QmObjective objective;
  bool has_attention;
  const QmField *fields;
  size_t n_fields;
  const QmFieldDefault *defaults; /* ends with a NULL name; may be NULL */
  const char *const *nullable; /* fields that may be null; ends with NULL; may
                                  be NULL */
  const QmSection *sections;   /* ends with a NULL name; may be NULL */
  /* After the fields of a section.  May be NULL where there are none. */
  void (*read_section) (QmJsonObject *section,
                        const char *name,
                        QmModelConfig *config);
  /* After the fields of the table.  May be NULL. */
  void (*read) (QmJsonObject *object, QmModelConfig *config);
  void (*write) (json_t *object, const QmModelConfig *config);
  /* The most tokens of a sample, or 0: any number.  May be NULL. */
  int64_t (*positions) (const QmModelConfig *config);
  /* The only size of images, or 0: as the recipe says.  May be NULL. */
  int64_t (*image_size) (const QmModelConfig *config);
  /* Whether images of a size can be trained on.  May be NULL. */
  bool (*image_fits) (const QmModelConfig *config, int64_t size);
  /* Whether the model has a teacher.  May be NULL. */
  bool (*has_teacher) (const QmModelConfig *config);
  /* As qm_model_has_mask().  NULL: always. */
  bool (*has_mask) (const QmModelConfig *config, int64_t tokens);
  /* Of its FLOPs, those that have no backward pass.  May be NULL. */
  double (*flops_ahead) (const QmModelConfig *config, const QmRecipe *recipe);
  /* As data/flops.h has it. */
  double (*flops) (const QmModelConfig *config, const QmRecipe *recipe);
  int64_t (*parameters) (const QmModelConfig *config);
} QmFamilyInfo;

extern const QmFamilyInfo qm_gpt_neox_family, qm_bert_family, qm_roberta_family,
    qm_vit_family, qm_convnext_family, qm_mamba_family, qm_llama_family,
    qm_mistral_family, qm_qwen2_family, qm_qwen3_family, qm_olmo2_family,
    qm_olmo3_family, qm_smollm3_family, qm_gemma3_text_family, qm_gpt2_family,
    qm_modernbert_family, qm_esm_family, qm_olmoe_family, qm_qwen3_moe_family,
    qm_mixtral_family, qm_dinov2_family, qm_dinov2_with_registers_family,
    qm_dinov3_vit_family, qm_vit_mae_family, qm_dit_family, qm_clip_family,
    qm_siglip_family, qm_starcoder2_family, qm_mamba2_family;

/* Never NULL. */
const QmFamilyInfo *qm_family_info (QmFamily family);

/* The field of that name in listings, or NULL. */
const QmField *qm_family_field (QmFamily family, const char *name);

/* Where the configuration has a field, of the type that its kind says. */
static inline const void *
qm_field_at (const QmModelConfig *config, const QmField *field)
{
  return (const char *) config + field->offset;
}

/* The number of stages or layers of a field that has one for each. */
int64_t qm_field_count (const QmModelConfig *config, const QmField *field);

static inline bool
qm_layers_have (const uint64_t *bits, int64_t layer)
{
  return (bits[layer / 64] >> (layer % 64) & 1) != 0;
}

static inline void
qm_layers_set (uint64_t *bits, int64_t layer, bool value)
{
  if (value)
    bits[layer / 64] |= UINT64_C (1) << (layer % 64);
  else
    bits[layer / 64] &= ~(UINT64_C (1) << (layer % 64));
}

/* Whether a configuration has a field: one that is optional may be missing. */
bool qm_field_is_there (const QmModelConfig *config, const QmField *field);

/* The fields of a configuration as an object: under the names of listings, or,
 * with `keys`, as a config.json has them, the model's type among them.  The
 * caller frees it; NULL where memory is out. */
json_t *qm_model_config_json (const QmModelConfig *config, bool keys);

#endif
