/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-sprite.h"

#include <math.h>
#include <string.h>

/* Pixels that are composited together: their bytes fill a vector register. */
#define GROUP 4

/* Sprites are thrown away and begun anew beyond this. */
#define MAX_BYTES ((gsize) 32 << 20)

#define N_PROVENANCES 3
#define N_FLAGS       4 /* crossed, dimmed */
#define MAX_PHASES    4 /* a side */

/* Colours of four pixels, premultiplied, and what they leave of the pixels
 * below, the same for each channel of a pixel. */
typedef struct
{
  guint8 color[GROUP * 4];
  guint8 keep[GROUP * 4];
} Group;

typedef struct
{
  int x; /* of the first pixel, from the sprite's middle */
  int n; /* groups */
} Row;

typedef struct
{
  int top; /* of the first row, from the middle */
  int n_rows;
  int left, right; /* extent of all rows, from the middle */
  guint first_row;
  guint first_group;
} Sprite;

struct _QmPlotSprites
{
  guint8 *pixels;
  int stride;
  int width, height;
  double scale;
  const QmPlotTheme *theme;
  int phases;
  guint *index[QM_PLOT_WEIGHT_MAX + 1]; /* sprite + 1 by kind, or NULL */
  GArray *sprites;                      /* Sprite */
  GArray *rows;                         /* Row */
  GArray *groups;                       /* Group */
};

QmPlotSprites *
qm_plot_sprites_new (cairo_surface_t *image,
                     double scale,
                     const QmPlotTheme *theme)
{
  QmPlotSprites *self = g_new0 (QmPlotSprites, 1);

  self->pixels = cairo_image_surface_get_data (image);
  self->stride = cairo_image_surface_get_stride (image);
  self->width = cairo_image_surface_get_width (image);
  self->height = cairo_image_surface_get_height (image);
  self->scale = scale;
  self->theme = theme;
  /* An eighth of a small pixel, a quarter of a tiny one: nobody sees less. */
  self->phases = scale < 1.5 ? MAX_PHASES : 2;
  self->sprites = g_array_new (FALSE, FALSE, sizeof (Sprite));
  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  self->groups = g_array_new (FALSE, FALSE, sizeof (Group));
  return self;
}

void
qm_plot_sprites_free (QmPlotSprites *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->index); i++)
    g_free (self->index[i]);
  g_array_unref (self->sprites);
  g_array_unref (self->rows);
  g_array_unref (self->groups);
  g_free (self);
}

static void
forget (QmPlotSprites *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->index); i++)
    g_clear_pointer (&self->index[i], g_free);
  g_array_set_size (self->sprites, 0);
  g_array_set_size (self->rows, 0);
  g_array_set_size (self->groups, 0);
}

/* --- Making one ---------------------------------------------------------- */

/* A marker measured in pixels. */
typedef struct
{
  QmPlotMarker marker;
  float radius, half_stroke, arm, half_cross;
} Brush;

typedef struct
{
  float red, green, blue, alpha; /* premultiplied */
} Pixel;

/* How much of a pixel lies inside an edge that far from its middle. */
static float
coverage (float distance)
{
  return CLAMP (0.5f - distance, 0, 1);
}

static void
lay_over (Pixel *pixel, const QmPlotColor *color, float part)
{
  float alpha = (float) color->alpha * part;
  float keep = 1 - alpha;

  pixel->red = pixel->red * keep + (float) color->red * alpha;
  pixel->green = pixel->green * keep + (float) color->green * alpha;
  pixel->blue = pixel->blue * keep + (float) color->blue * alpha;
  pixel->alpha = pixel->alpha * keep + alpha;
}

/* Distance from the two lines of the cross, which are each other's mirror
 * image. */
static float
cross_distance (const Brush *brush, float x, float y)
{
  float ax = fabsf (x);
  float ay = fabsf (y);
  float along = MIN ((ax + ay) / 2, brush->arm);

  return sqrtf ((ax - along) * (ax - along) + (ay - along) * (ay - along));
}

/* No channel may exceed alpha: compositing relies on it. */
static guint32
to_byte (float value, guint32 max)
{
  guint32 byte = (guint32) (value * 255 + 0.5f);

  return MIN (byte, max);
}

static guint32
paint_pixel (const Brush *brush, float x, float y)
{
  const QmPlotMarker *marker = &brush->marker;
  Pixel pixel = { 0, 0, 0, 0 };
  float distance = brush->radius
                   * qm_plot_shape_distance (marker->shape, x / brush->radius,
                                             y / brush->radius);
  guint32 alpha;

  lay_over (&pixel, &marker->fill, coverage (distance));
  lay_over (&pixel, &marker->stroke,
            coverage (distance - brush->half_stroke)
                - coverage (distance + brush->half_stroke));
  if (brush->arm > 0)
    lay_over (&pixel, &marker->cross,
              coverage (cross_distance (brush, x, y) - brush->half_cross));
  alpha = to_byte (pixel.alpha, 255);
  return alpha << 24 | to_byte (pixel.red, alpha) << 16
         | to_byte (pixel.green, alpha) << 8 | to_byte (pixel.blue, alpha);
}

/* Adds the pixels of a row from the first to the last that are not empty. */
static void
add_row (QmPlotSprites *self, const guint32 *line, int n, int x)
{
  Row row = { x, 0 };
  int first = 0;

  while (n > 0 && line[n - 1] == 0)
    n--;
  while (first < n && line[first] == 0)
    first++;
  row.x += first;
  row.n = (n - first + GROUP - 1) / GROUP;
  g_array_append_val (self->rows, row);
  for (int i = 0; i < row.n; i++)
    {
      Group group;

      memset (group.color, 0, sizeof group.color);
      memset (group.keep, 255, sizeof group.keep);
      for (int j = 0; j < GROUP && first + i * GROUP + j < n; j++)
        {
          guint32 pixel = line[first + i * GROUP + j];

          memcpy (group.color + 4 * j, &pixel, 4);
          memset (group.keep + 4 * j, 255 - (int) (pixel >> 24), 4);
        }
      g_array_append_val (self->groups, group);
    }
}

/* Paints a marker whose middle lies (x, y) pixels from the corner of one. */
static Sprite
make (QmPlotSprites *self, const QmPlotMarker *marker, double x, double y)
{
  Brush brush = { *marker, (float) (marker->radius * self->scale),
                  (float) (marker->stroke_width * self->scale / 2),
                  (float) (marker->cross_arm * self->scale),
                  (float) (marker->cross_width * self->scale / 2) };
  int half = (int) ceil (qm_plot_marker_extent (marker) * self->scale + 1);
  int n = 2 * half + 1;
  g_autofree guint32 *line = g_new (guint32, n);
  Sprite sprite = { -half, n, -half, 0, self->rows->len, self->groups->len };

  for (int row = -half; row <= half; row++)
    {
      const Row *last;

      for (int column = -half; column <= half; column++)
        line[column + half] = paint_pixel (&brush, (float) (column + 0.5 - x),
                                           (float) (row + 0.5 - y));
      add_row (self, line, n, -half);
      last = &g_array_index (self->rows, Row, self->rows->len - 1);
      sprite.right = MAX (sprite.right, last->x + last->n * GROUP);
    }
  return sprite;
}

/* --- Finding it again ---------------------------------------------------- */

static const Sprite *
find (QmPlotSprites *self,
      guint style,
      guint weight,
      guint provenance,
      guint flags,
      int phase_x,
      int phase_y)
{
  const guint n_phases = (guint) (self->phases * self->phases);
  guint size = qm_plot_weight_size (weight);
  guint kind = (style % QM_PLOT_N_STYLES * N_PROVENANCES + provenance) * N_FLAGS
               + (flags & (QM_PLOT_POINT_CROSSED | QM_PLOT_POINT_DIMMED));
  guint *slot;

  if (self->groups->len > MAX_BYTES / sizeof (Group))
    forget (self);
  if (self->index[size] == NULL)
    self->index[size] =
        g_new0 (guint, QM_PLOT_N_STYLES * N_PROVENANCES * N_FLAGS * n_phases);
  slot = &self->index[size][kind * n_phases
                            + (guint) (phase_y * self->phases + phase_x)];
  if (*slot == 0)
    {
      QmPlotMarker marker;
      Sprite sprite;

      qm_plot_marker_init (&marker, self->theme, style, weight, provenance,
                           flags);
      sprite = make (self, &marker, (double) phase_x / self->phases,
                     (double) phase_y / self->phases);
      g_array_append_val (self->sprites, sprite);
      *slot = self->sprites->len;
    }
  return &g_array_index (self->sprites, Sprite, *slot - 1);
}

/* --- Compositing --------------------------------------------------------- */

/* OVER on premultiplied channels: a fixed number of bytes without branches,
 * which compilers turn into vector instructions.  The product is divided by 255
 * and rounded exactly. */
static inline void
composite_group (guint8 *restrict pixels, const Group *group)
{
  guint8 result[GROUP * 4];

  for (int i = 0; i < GROUP * 4; i++)
    {
      guint16 product = (guint16) (pixels[i] * group->keep[i] + 128);

      result[i] = (guint8) (group->color[i]
                            + (guint8) ((product + (product >> 8)) >> 8));
    }
  memcpy (pixels, result, sizeof result);
}

/* The same for the pixels of a group that lie within the image. */
static void
composite_cut (QmPlotSprites *self, const Group *group, int x, guint8 *line)
{
  for (int i = MAX (0, -x); i < GROUP && x + i < self->width; i++)
    for (int j = 0; j < 4; j++)
      {
        guint8 *channel = line + (gsize) (x + i) * 4 + j;
        guint product = *channel * group->keep[4 * i + j] + 128U;

        *channel = (guint8) (group->color[4 * i + j]
                             + ((product + (product >> 8)) >> 8));
      }
}

static void
composite (QmPlotSprites *self, const Sprite *sprite, int x, int y)
{
  const Row *row = &g_array_index (self->rows, Row, sprite->first_row);
  const Group *group =
      &g_array_index (self->groups, Group, sprite->first_group);
  gboolean whole = x + sprite->left >= 0 && x + sprite->right <= self->width;

  y += sprite->top;
  for (int i = 0; i < sprite->n_rows; i++, row++, y++)
    {
      guint8 *line = self->pixels + (gssize) y * self->stride;
      int column = x + row->x;

      if (y < 0 || y >= self->height)
        group += row->n;
      else if (whole)
        for (guint8 *p = line + (gssize) column * 4,
                    *end = p + row->n * 4 * GROUP;
             p < end; p += GROUP * 4)
          composite_group (p, group++);
      else
        for (int j = 0; j < row->n; j++)
          composite_cut (self, group++, column + j * GROUP, line);
    }
}

void
qm_plot_sprites_draw (QmPlotSprites *self,
                      double x,
                      double y,
                      guint style,
                      guint weight,
                      guint provenance,
                      guint flags)
{
  int phases = self->phases;
  double steps_x = floor (x * phases + 0.5);
  double steps_y = floor (y * phases + 0.5);
  int pixel_x = (int) floor (steps_x / phases);
  int pixel_y = (int) floor (steps_y / phases);

  if (provenance >= N_PROVENANCES)
    provenance = QM_PLOT_PUBLISHED;
  composite (self,
             find (self, style, weight, provenance, flags,
                   (int) steps_x - pixel_x * phases,
                   (int) steps_y - pixel_y * phases),
             pixel_x, pixel_y);
}
