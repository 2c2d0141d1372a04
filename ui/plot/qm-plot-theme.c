/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot.h"

#define RGBA(hex, a)                                           \
  {                                                            \
    ((hex) >> 16 & 0xff) / 255.0, ((hex) >> 8 & 0xff) / 255.0, \
        ((hex) &0xff) / 255.0, (a)                             \
  }
#define RGB(hex) RGBA (hex, 1.0)

#define FONT "Cantarell, sans-serif"

/* The palettes keep the order blue, orange, green, purple, sky, vermilion,
 * yellow, grey.  Within it each colour was moved so that the least distance
 * (Oklab) between any two, seen normally or with one kind of cone missing
 * (Machado and others 2009), grew as large as the contrast with the background
 * allows; the first four, which the published GPUs have, count a third more. */

static const QmPlotTheme light = {
  .background = RGB (0xffffff),
  .text = RGB (0x1f1f23),
  .faint_text = RGB (0x5e5c64),
  .grid = RGB (0xe9e9ec),
  .limit = RGB (0xb3261e),
  .accent = RGB (0x111114),
  .grey = RGB (0x85858b),
  .palette = { RGB (0x1d52c8), RGB (0xd27c22), RGB (0x10948a), RGB (0x932e84),
               RGB (0x0f96f1), RGB (0x942a02), RGB (0x7f6e0f), RGB (0x354850) },
  .dim_alpha = 0.24,
  .font = FONT,
  .font_size = 12,
  .marker_radius = 4.0,
};

static const QmPlotTheme dark = {
  .background = RGB (0x1e1e1e),
  .text = RGB (0xf4f4f5),
  .faint_text = RGB (0xb4b2ba),
  .grid = RGB (0x333336),
  .limit = RGB (0xff7b63),
  .accent = RGB (0xffffff),
  .grey = RGB (0x828288),
  .palette = { RGB (0x3a8bff), RGB (0xff9200), RGB (0x18d3b3), RGB (0xd253a5),
               RGB (0xa8adfd), RGB (0x9e6f31), RGB (0xf3e613), RGB (0xd4f5f7) },
  .dim_alpha = 0.28,
  .font = FONT,
  .font_size = 12,
  .marker_radius = 4.0,
};

static const QmPlotTheme high_contrast = {
  .background = RGB (0xffffff),
  .text = RGB (0x000000),
  .faint_text = RGB (0x2b2b2f),
  .grid = RGB (0xbcbcc2),
  .limit = RGB (0x8f0f0a),
  .accent = RGB (0x000000),
  .grey = RGB (0x6c6c72),
  .palette = { RGB (0x0838d5), RGB (0xbe5a13), RGB (0x178383), RGB (0x87088c),
               RGB (0x7768c0), RGB (0x71001b), RGB (0x664f03), RGB (0x00010a) },
  .dim_alpha = 0.36,
  .font = FONT,
  .font_size = 12.5,
  .marker_radius = 4.4,
};

static const QmPlotTheme high_contrast_dark = {
  .background = RGB (0x000000),
  .text = RGB (0xffffff),
  .faint_text = RGB (0xdededf),
  .grid = RGB (0x5a5a60),
  .limit = RGB (0xff8f7a),
  .accent = RGB (0xffffff),
  .grey = RGB (0x8c8c92),
  .palette = { RGB (0x0582ff), RGB (0xfb950c), RGB (0x15cf99), RGB (0xd49eff),
               RGB (0x97e2ff), RGB (0xfb3d5a), RGB (0xc4f000), RGB (0xffffc6) },
  .dim_alpha = 0.4,
  .font = FONT,
  .font_size = 12.5,
  .marker_radius = 4.4,
};

const QmPlotTheme *
qm_plot_theme_light (void)
{
  return &light;
}

const QmPlotTheme *
qm_plot_theme_dark (void)
{
  return &dark;
}

const QmPlotTheme *
qm_plot_theme_high_contrast (gboolean is_dark)
{
  return is_dark ? &high_contrast_dark : &high_contrast;
}
