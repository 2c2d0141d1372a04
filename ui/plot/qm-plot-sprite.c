/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-canvas.h"
#include "ui/plot/qm-plot-shape.h"
#include "ui/plot/qm-plot-sprite.h"

#include <math.h>
#include <string.h>

/* Sprites are thrown away and begun anew beyond this. */
#define MAX_BYTES ((gsize) 32 << 20)

#define N_PROVENANCES 3
#define N_FLAGS       4 /* crossed or not, grey or not */

/* The flags that a sprite shows. */
#define SHOWN (QM_PLOT_POINT_CROSSED | QM_PLOT_POINT_GREY)

/* Halves of a pixel, a side, that the middle of a sprite may lie on.  In a
 * crowd whole pixels will do. */
#define PHASES   2
#define N_PHASES (PHASES * PHASES)

#define N_KINDS (QM_PLOT_N_LOOKS * N_PROVENANCES * N_FLAGS)

/* A stamp whose groups still move. */
typedef struct
{
  int left, top, right, bottom;
  guint first, n; /* groups */
} Sprite;

struct _QmPlotSprites
{
  const QmPlotTheme *theme;
  double scale;
  int phase_bits; /* 1, or 0 where sprites lie on whole pixels */
  guint *index[QM_PLOT_WEIGHT_MAX + 1]; /* sprite + 1 by kind, or NULL */
  GArray *sprites;                      /* Sprite */
  GArray *groups;                       /* QmPlotGroup */
  GArray *places;                       /* QmPlotPlace */
};

QmPlotSprites *
qm_plot_sprites_new (const QmPlotTheme *theme, double scale, gboolean crowd)
{
  QmPlotSprites *self = g_new0 (QmPlotSprites, 1);

  self->theme = theme;
  self->scale = scale;
  self->phase_bits = crowd ? 0 : 1;
  self->sprites = g_array_new (FALSE, FALSE, sizeof (Sprite));
  self->groups = g_array_new (FALSE, FALSE, sizeof (QmPlotGroup));
  self->places = g_array_new (FALSE, FALSE, sizeof (QmPlotPlace));
  return self;
}

void
qm_plot_sprites_free (QmPlotSprites *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->index); i++)
    g_free (self->index[i]);
  g_array_unref (self->sprites);
  g_array_unref (self->groups);
  g_array_unref (self->places);
  g_free (self);
}

gboolean
qm_plot_sprites_suit (const QmPlotSprites *self,
                      const QmPlotTheme *theme,
                      double scale,
                      gboolean crowd)
{
  return self->theme == theme && self->scale == scale
         && self->phase_bits == (crowd ? 0 : 1);
}

static void
forget (QmPlotSprites *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->index); i++)
    g_clear_pointer (&self->index[i], g_free);
  g_array_set_size (self->sprites, 0);
  g_array_set_size (self->groups, 0);
  g_array_set_size (self->places, 0);
}

/* --- Making one ---------------------------------------------------------- */

/* A marker measured in pixels. */
typedef struct
{
  QmPlotMarker marker;
  float radius, inverse_radius, half_stroke, arm, half_cross;
  guint32 inside; /* the pixel of the filled area */
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
  guint32 byte = (guint32) (int) (value * 255 + 0.5f);

  return MIN (byte, max);
}

static guint32
mix (const Brush *brush, float distance, float cross)
{
  const QmPlotMarker *marker = &brush->marker;
  Pixel pixel = { 0, 0, 0, 0 };
  guint32 alpha;

  lay_over (&pixel, &marker->fill, coverage (distance));
  lay_over (&pixel, &marker->stroke,
            coverage (distance - brush->half_stroke)
                - coverage (distance + brush->half_stroke));
  lay_over (&pixel, &marker->cross, cross);
  alpha = to_byte (pixel.alpha, 255);
  return alpha << 24 | to_byte (pixel.red, alpha) << 16
         | to_byte (pixel.green, alpha) << 8 | to_byte (pixel.blue, alpha);
}

/* Most pixels lie wholly within or without the shape: only those at its edge
 * and under the cross are worth mixing. */
static guint32
paint_pixel (const Brush *brush, float x, float y)
{
  float distance =
      brush->radius
      * qm_plot_shape_distance (brush->marker.shape, x * brush->inverse_radius,
                                y * brush->inverse_radius);
  float cross = 0;

  if (brush->arm > 0)
    cross = coverage (cross_distance (brush, x, y) - brush->half_cross);
  if (cross == 0 && distance >= brush->half_stroke + 0.5f)
    return 0;
  if (cross == 0 && distance <= -brush->half_stroke - 0.5f)
    return brush->inside;
  return mix (brush, distance, cross);
}

/* Adds the pixels of a row from the first to the last that are not empty. */
static void
add_pixel_row (QmPlotSprites *self, const guint32 *line, int n, int x, int y)
{
  int first = 0;

  while (n > 0 && line[n - 1] == 0)
    n--;
  while (first < n && line[first] == 0)
    first++;
  for (int i = first; i < n; i += QM_PLOT_GROUP)
    {
      QmPlotGroup group = { { 0 } };
      QmPlotPlace place = { (gint16) (x + i), (gint16) y };

      memcpy (group.pixels, line + i, (gsize) MIN (QM_PLOT_GROUP, n - i) * 4);
      g_array_append_val (self->groups, group);
      g_array_append_val (self->places, place);
    }
}

/* Paints a marker whose middle lies (x, y) pixels from the corner of one. */
static Sprite
make (QmPlotSprites *self, const QmPlotMarker *marker, double x, double y)
{
  Brush brush = { *marker,
                  (float) (marker->radius * self->scale),
                  (float) (1 / (marker->radius * self->scale)),
                  (float) (marker->stroke_width * self->scale / 2),
                  (float) (marker->cross_arm * self->scale),
                  (float) (marker->cross_width * self->scale / 2),
                  0 };
  double extent = qm_plot_marker_extent (marker) * self->scale + 0.5;
  Sprite sprite = { (int) floor (x - extent), (int) floor (y - extent),
                    (int) ceil (x + extent),  (int) ceil (y + extent),
                    self->groups->len,        0 };
  int n = sprite.right - sprite.left;
  g_autofree guint32 *line = g_new (guint32, n);

  brush.inside = mix (&brush, -HUGE_VALF, 0);
  for (int row = sprite.top; row < sprite.bottom; row++)
    {
      for (int i = 0; i < n; i++)
        line[i] = paint_pixel (&brush, (float) (sprite.left + i + 0.5 - x),
                               (float) (row + 0.5 - y));
      add_pixel_row (self, line, n, sprite.left, row);
    }
  sprite.n = self->groups->len - sprite.first;
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
  guint size = qm_plot_weight_size (weight);
  guint kind = (style % QM_PLOT_N_LOOKS * N_PROVENANCES + provenance) * N_FLAGS
               + (flags & QM_PLOT_POINT_CROSSED ? 1 : 0)
               + (flags & QM_PLOT_POINT_GREY ? 2 : 0);
  guint *slot;

  if (self->groups->len > MAX_BYTES / sizeof (QmPlotGroup))
    forget (self);
  if (self->index[size] == NULL)
    self->index[size] = g_new0 (guint, N_KINDS * N_PHASES);
  slot = &self->index[size]
                     [kind * N_PHASES + (guint) (phase_y * PHASES + phase_x)];
  if (*slot == 0)
    {
      QmPlotMarker marker;
      Sprite sprite;

      qm_plot_marker_init (&marker, self->theme, style, weight, provenance,
                           flags & SHOWN);
      sprite = make (self, &marker, (double) phase_x / PHASES,
                     (double) phase_y / PHASES);
      g_array_append_val (self->sprites, sprite);
      *slot = self->sprites->len;
    }
  return &g_array_index (self->sprites, Sprite, *slot - 1);
}

/* floor() without leaving the registers. */
static inline int
round_down (double value)
{
  int result = (int) value;

  return result - (value < result);
}

void
qm_plot_sprites_draw (QmPlotSprites *self,
                      QmPlotCanvas *canvas,
                      double x,
                      double y,
                      guint style,
                      guint weight,
                      guint provenance,
                      guint flags)
{
  const int bits = self->phase_bits;
  const int mask = (1 << bits) - 1;
  int steps_x = round_down (x * (1 << bits) + 0.5);
  int steps_y = round_down (y * (1 << bits) + 0.5);
  const Sprite *sprite;
  QmPlotStamp stamp;

  if (provenance >= N_PROVENANCES)
    provenance = QM_PLOT_PUBLISHED;
  sprite = find (self, style, weight, provenance, flags, steps_x & mask,
                 steps_y & mask);
  stamp = (QmPlotStamp){
    sprite->left,
    sprite->top,
    sprite->right,
    sprite->bottom,
    &g_array_index (self->groups, QmPlotGroup, sprite->first),
    &g_array_index (self->places, QmPlotPlace, sprite->first),
    sprite->n,
  };
  /* Shifts of negative numbers round down on every compiler we know. */
  qm_plot_canvas_stamp (canvas, &stamp, steps_x >> bits, steps_y >> bits);
}
