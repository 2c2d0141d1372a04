/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-words.h"

#include "pricing/pages/qm-page-text.h"

#include <string.h>

#define NAMES_MAX 400  /* bytes of the names of an element */
#define LABEL_MAX 30   /* bytes of a label that is a name */
#define KNOWN_MAX 5000 /* names that are kept with what they tell */

typedef struct
{
  const char *word;
  guint flags;
} Word;

/* Anywhere in the names of an element. */
static const Word parts[] = {
  { "price", QM_SEEN_PRICE },        { "preis", QM_SEEN_PRICE },
  { "prix", QM_SEEN_PRICE },         { "precio", QM_SEEN_PRICE },
  { "prezzo", QM_SEEN_PRICE },       { "preco", QM_SEEN_PRICE },
  { "prijs", QM_SEEN_PRICE },        { "hinta", QM_SEEN_PRICE },
  { "kaina", QM_SEEN_PRICE },        { "fiyat", QM_SEEN_PRICE },
  { "cijena", QM_SEEN_PRICE },       { "oldprice", QM_SEEN_OLD },
  { "priceold", QM_SEEN_OLD },       { "pricewas", QM_SEEN_OLD },
  { "wasprice", QM_SEEN_OLD },       { "listprice", QM_SEEN_OLD },
  { "nonsale", QM_SEEN_OLD },        { "notsale", QM_SEEN_OLD },
  { "strike", QM_SEEN_OLD },         { "linethrough", QM_SEEN_OLD },
  { "crossedout", QM_SEEN_OLD },     { "comparea", QM_SEEN_OLD },
  { "fullprice", QM_SEEN_REGULAR },  { "pricefull", QM_SEEN_REGULAR },
  { "saleprice", QM_SEEN_CURRENT },  { "currentprice", QM_SEEN_CURRENT },
  { "finalprice", QM_SEEN_CURRENT }, { "specialprice", QM_SEEN_CURRENT },
  { "nowprice", QM_SEEN_CURRENT },   { "newprice", QM_SEEN_CURRENT },
  { "ourprice", QM_SEEN_CURRENT },   { "related", QM_SEEN_ASIDE },
  { "recommend", QM_SEEN_ASIDE },    { "similar", QM_SEEN_ASIDE },
  { "upsell", QM_SEEN_ASIDE },       { "crosssell", QM_SEEN_ASIDE },
  { "carousel", QM_SEEN_ASIDE },     { "accessor", QM_SEEN_ASIDE },
  { "recently", QM_SEEN_ASIDE },     { "lastviewed", QM_SEEN_ASIDE },
  { "alsobought", QM_SEEN_ASIDE },   { "boughttogether", QM_SEEN_ASIDE },
  { "minicart", QM_SEEN_ASIDE },     { "shoppingcart", QM_SEEN_ASIDE },
  { "cartdrawer", QM_SEEN_ASIDE },   { "cartitem", QM_SEEN_ASIDE },
  { "carttotal", QM_SEEN_ASIDE },    { "cartsummary", QM_SEEN_ASIDE },
  { "cartpopup", QM_SEEN_ASIDE },    { "cartmodal", QM_SEEN_ASIDE },
  { "cartcontent", QM_SEEN_ASIDE },  { "cartside", QM_SEEN_ASIDE },
  { "headercart", QM_SEEN_ASIDE },   { "minibasket", QM_SEEN_ASIDE },
  { "basketitem", QM_SEEN_ASIDE },   { "baskettotal", QM_SEEN_ASIDE },
  { "sponsored", QM_SEEN_ASIDE },    { "newsletter", QM_SEEN_ASIDE },
  { "bestseller", QM_SEEN_ASIDE },   { "installment", QM_SEEN_PART },
  { "instalment", QM_SEEN_PART },    { "monthly", QM_SEEN_PART },
  { "financ", QM_SEEN_PART },        { "unitprice", QM_SEEN_PART },
  { "priceunit", QM_SEEN_PART },     { "priceper", QM_SEEN_PART },
  { "baseprice", QM_SEEN_PART },     { "pricebase", QM_SEEN_PART },
  { "tierprice", QM_SEEN_PART },     { "shipping", QM_SEEN_PART },
  { "delivery", QM_SEEN_PART },      { "versand", QM_SEEN_PART },
  { "saving", QM_SEEN_PART },        { "yousave", QM_SEEN_PART },
  { "afterpay", QM_SEEN_PART },      { "klarna", QM_SEEN_PART },
  { "warranty", QM_SEEN_PART },      { "leasing", QM_SEEN_PART },
  { "loyalty", QM_SEEN_PART },       { "pricefilter", QM_SEEN_ASIDE },
  { "priceslider", QM_SEEN_ASIDE },  { "pricematch", QM_SEEN_PART },
  { "pricealert", QM_SEEN_PART },
};

/* Whole words among the names. */
static const Word names[] = {
  { "cena", QM_SEEN_PRICE },
  { "pris", QM_SEEN_PRICE },
  { "hind", QM_SEEN_PRICE },
  { "prc", QM_SEEN_PRICE },
  { "prices", QM_SEEN_PRICE },
  { "cost", QM_SEEN_PRICE },
  { "pret", QM_SEEN_PRICE },
  { "valor", QM_SEEN_PRICE },
  { "tsena", QM_SEEN_PRICE },
  { "old", QM_SEEN_OLD },
  { "was", QM_SEEN_OLD },
  { "rrp", QM_SEEN_OLD },
  { "uvp", QM_SEEN_OLD },
  { "msrp", QM_SEEN_OLD },
  { "srp", QM_SEEN_OLD },
  { "before", QM_SEEN_OLD },
  { "previous", QM_SEEN_OLD },
  { "original", QM_SEEN_OLD },
  { "barre", QM_SEEN_OLD },
  { "stara", QM_SEEN_OLD },
  { "ancien", QM_SEEN_OLD },
  { "crossed", QM_SEEN_OLD },
  { "listino", QM_SEEN_OLD },
  { "retail", QM_SEEN_OLD },
  { "statt", QM_SEEN_OLD },
  { "regular", QM_SEEN_REGULAR },
  { "current", QM_SEEN_CURRENT },
  { "now", QM_SEEN_CURRENT },
  { "sale", QM_SEEN_CURRENT },
  { "special", QM_SEEN_CURRENT },
  { "final", QM_SEEN_CURRENT },
  { "offer", QM_SEEN_CURRENT },
  { "our", QM_SEEN_CURRENT },
  { "reduced", QM_SEEN_CURRENT },
  { "selling", QM_SEEN_CURRENT },
  { "actual", QM_SEEN_CURRENT },
  { "discounted", QM_SEEN_CURRENT },
  { "promo", QM_SEEN_CURRENT },
  { "deal", QM_SEEN_CURRENT },
  { "new", QM_SEEN_CURRENT },
  { "footer", QM_SEEN_ASIDE },
  { "nav", QM_SEEN_ASIDE },
  { "navbar", QM_SEEN_ASIDE },
  { "navigation", QM_SEEN_ASIDE },
  { "menu", QM_SEEN_ASIDE },
  { "breadcrumb", QM_SEEN_ASIDE },
  { "breadcrumbs", QM_SEEN_ASIDE },
  { "sidebar", QM_SEEN_ASIDE },
  { "cross", QM_SEEN_ASIDE },
  { "viewed", QM_SEEN_ASIDE },
  { "bundle", QM_SEEN_ASIDE },
  { "bundles", QM_SEEN_ASIDE },
  { "together", QM_SEEN_ASIDE },
  { "also", QM_SEEN_ASIDE },
  { "suggestions", QM_SEEN_ASIDE },
  { "suggested", QM_SEEN_ASIDE },
  { "reviews", QM_SEEN_ASIDE },
  { "comments", QM_SEEN_ASIDE },
  { "ads", QM_SEEN_ASIDE },
  { "widget", QM_SEEN_ASIDE },
  { "popular", QM_SEEN_ASIDE },
  { "history", QM_SEEN_ASIDE },
  { "alternatives", QM_SEEN_ASIDE },
  { "filter", QM_SEEN_ASIDE },
  { "filters", QM_SEEN_ASIDE },
  { "facet", QM_SEEN_ASIDE },
  { "facets", QM_SEEN_ASIDE },
  { "refinement", QM_SEEN_ASIDE },
  { "refinements", QM_SEEN_ASIDE },
  { "save", QM_SEEN_PART },
  { "month", QM_SEEN_PART },
  { "credit", QM_SEEN_PART },
  { "points", QM_SEEN_PART },
  { "deposit", QM_SEEN_PART },
  { "coupon", QM_SEEN_PART },
  { "voucher", QM_SEEN_PART },
  { "rate", QM_SEEN_PART },
  { "postage", QM_SEEN_PART },
  { "tax", QM_SEEN_PART },
  { "vat", QM_SEEN_PART },
  { "rebate", QM_SEEN_PART },
  { "cashback", QM_SEEN_PART },
  { "subscribe", QM_SEEN_PART },
  { "per", QM_SEEN_PART },
  { "unit", QM_SEEN_PART },
  { "member", QM_SEEN_PART },
  { "members", QM_SEEN_PART },
  { "membership", QM_SEEN_PART },
  { "vip", QM_SEEN_PART },
  { "from", QM_SEEN_FROM },
};

/* At the end of what stands before an amount. */
static const Word before[] = {
  { "from", QM_SEEN_FROM },
  { "from:", QM_SEEN_FROM },
  { "starting at", QM_SEEN_FROM },
  { "as low as", QM_SEEN_FROM },
  { "ab", QM_SEEN_FROM },
  { "dès", QM_SEEN_FROM },
  { "à partir de", QM_SEEN_FROM },
  { "desde", QM_SEEN_FROM },
  { "a partire da", QM_SEEN_FROM },
  { "vanaf", QM_SEEN_FROM },
  { "fra", QM_SEEN_FROM },
  { "från", QM_SEEN_FROM },
  { "od", QM_SEEN_FROM },
  { "a partir de", QM_SEEN_FROM },
  { "up to", QM_SEEN_PART },
  { "bis", QM_SEEN_PART },
  { "bis zu", QM_SEEN_PART },
  { "max", QM_SEEN_PART },
  { "max.", QM_SEEN_PART },
  { "max:", QM_SEEN_PART },
  { "até", QM_SEEN_PART },
  { "hasta", QM_SEEN_PART },
  { "jusqu’à", QM_SEEN_PART },
  { "jusqu'à", QM_SEEN_PART },
  { "fino a", QM_SEEN_PART },
  { "over", QM_SEEN_PART },
  { "above", QM_SEEN_PART },
  { "under", QM_SEEN_PART },
  { "was", QM_SEEN_OLD },
  { "was:", QM_SEEN_OLD },
  { "rrp", QM_SEEN_OLD },
  { "rrp:", QM_SEEN_OLD },
  { "msrp", QM_SEEN_OLD },
  { "msrp:", QM_SEEN_OLD },
  { "uvp", QM_SEEN_OLD },
  { "uvp:", QM_SEEN_OLD },
  { "uvp*", QM_SEEN_OLD },
  { "statt", QM_SEEN_OLD },
  { "list price", QM_SEEN_OLD },
  { "list price:", QM_SEEN_OLD },
  { "list:", QM_SEEN_OLD },
  { "retail:", QM_SEEN_OLD },
  { "retail price", QM_SEEN_OLD },
  { "retail price:", QM_SEEN_OLD },
  { "regular price", QM_SEEN_OLD },
  { "regular price:", QM_SEEN_OLD },
  { "reg.", QM_SEEN_OLD },
  { "original price", QM_SEEN_OLD },
  { "original price:", QM_SEEN_OLD },
  { "compare at", QM_SEEN_OLD },
  { "original price was:", QM_SEEN_OLD },
  { "au lieu de", QM_SEEN_OLD },
  { "prix conseillé", QM_SEEN_OLD },
  { "old price", QM_SEEN_OLD },
  { "old price:", QM_SEEN_OLD },
  { "before", QM_SEEN_OLD },
  { "before:", QM_SEEN_OLD },
  { "typical price:", QM_SEEN_OLD },
  { "save", QM_SEEN_PART },
  { "save:", QM_SEEN_PART },
  { "you save", QM_SEEN_PART },
  { "you save:", QM_SEEN_PART },
  { "saving", QM_SEEN_PART },
  { "off", QM_SEEN_PART },
  { "discount", QM_SEEN_PART },
  { "discount:", QM_SEEN_PART },
  { "ersparnis", QM_SEEN_PART },
  { "shipping", QM_SEEN_PART },
  { "shipping:", QM_SEEN_PART },
  { "delivery", QM_SEEN_PART },
  { "delivery:", QM_SEEN_PART },
  { "postage", QM_SEEN_PART },
  { "versand", QM_SEEN_PART },
  { "versandkosten", QM_SEEN_PART },
  { "orders over", QM_SEEN_PART },
  { "payments of", QM_SEEN_PART },
  { "instalments of", QM_SEEN_PART },
  { "installments of", QM_SEEN_PART },
  { "x", QM_SEEN_PART },
  { "+", QM_SEEN_PART },
  { "deposit", QM_SEEN_PART },
  { "vat", QM_SEEN_PART },
  { "tax", QM_SEEN_PART },
  { "tax:", QM_SEEN_PART },
  { "per", QM_SEEN_PART },
  { "/", QM_SEEN_PART },
  { "members", QM_SEEN_PART },
  { "members:", QM_SEEN_PART },
  { "member price", QM_SEEN_PART },
  { "member price:", QM_SEEN_PART },
  { "vip price", QM_SEEN_PART },
  { "vip price:", QM_SEEN_PART },
  { "mitgliederpreis", QM_SEEN_PART },
  { "mitgliederpreis:", QM_SEEN_PART },
};

/* At the beginning of what stands after one. */
static const Word after[] = {
  { "/month", QM_SEEN_PART },      { "/ month", QM_SEEN_PART },
  { "/mo", QM_SEEN_PART },         { "/ mo", QM_SEEN_PART },
  { "per month", QM_SEEN_PART },   { "a month", QM_SEEN_PART },
  { "monthly", QM_SEEN_PART },     { "pro monat", QM_SEEN_PART },
  { "mtl", QM_SEEN_PART },         { "monatlich", QM_SEEN_PART },
  { "/mois", QM_SEEN_PART },       { "par mois", QM_SEEN_PART },
  { "al mese", QM_SEEN_PART },     { "al mes", QM_SEEN_PART },
  { "/mes", QM_SEEN_PART },        { "/kg", QM_SEEN_PART },
  { "/ kg", QM_SEEN_PART },        { "per kg", QM_SEEN_PART },
  { "/l", QM_SEEN_PART },          { "/100", QM_SEEN_PART },
  { "/ 100", QM_SEEN_PART },       { "/ 1 ", QM_SEEN_PART },
  { "/1 ", QM_SEEN_PART },         { "/oz", QM_SEEN_PART },
  { "/ oz", QM_SEEN_PART },        { "/lb", QM_SEEN_PART },
  { "per year", QM_SEEN_PART },    { "/year", QM_SEEN_PART },
  { "/yr", QM_SEEN_PART },         { "per hour", QM_SEEN_PART },
  { "/hour", QM_SEEN_PART },       { "/hr", QM_SEEN_PART },
  { "off", QM_SEEN_PART },         { "discount", QM_SEEN_PART },
  { "shipping", QM_SEEN_PART },    { "delivery", QM_SEEN_PART },
  { "versand", QM_SEEN_PART },     { "postage", QM_SEEN_PART },
  { "saved", QM_SEEN_PART },       { "savings", QM_SEEN_PART },
  { "gift card", QM_SEEN_PART },   { "cashback", QM_SEEN_PART },
  { "with coupon", QM_SEEN_PART }, { "rrp", QM_SEEN_OLD },
  { "msrp", QM_SEEN_OLD },         { "uvp", QM_SEEN_OLD },
  { "per m", QM_SEEN_PART },       { "/m", QM_SEEN_PART },
  { "members", QM_SEEN_PART },     { "for members", QM_SEEN_PART },
  { "+", QM_SEEN_FROM },           { "and up", QM_SEEN_FROM },
};

/* Whether an attribute names what its element is for. */
static gboolean
is_telling (const xmlChar *name)
{
  static const char *const attributes[] = {
    "class",          "id",
    "itemprop",       "data-testid",
    "data-test",      "data-test-id",
    "data-qa",        "data-role",
    "data-hook",      "data-automation",
    "data-component", "aria-label",
  };

  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++)
    if (qm_page_same_name (name, attributes[i]))
      return TRUE;
  return FALSE;
}

/* The names of an element: words in lower case with spaces between them, and
 * at each end; "-", "_" and a new capital letter begin a word. */
static gsize
collect_names (const xmlNode *node, char out[NAMES_MAX])
{
  gsize n = 0;

  out[n++] = ' ';
  for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
    {
      const char *name = (const char *) a->name;
      const char *value =
          a->children != NULL ? (const char *) a->children->content : NULL;
      gboolean lower = FALSE;

      if (value == NULL || !is_telling (a->name))
        continue;
      if (strcmp (name, "aria-label") == 0 && strlen (value) > LABEL_MAX)
        continue;
      for (; *value != '\0' && n + 3 < NAMES_MAX; value++)
        {
          if (!g_ascii_isalpha (*value))
            {
              if (out[n - 1] != ' ')
                out[n++] = ' ';
              lower = FALSE;
              continue;
            }
          if (g_ascii_isupper (*value) && lower && out[n - 1] != ' ')
            out[n++] = ' ';
          lower = g_ascii_islower (*value);
          out[n++] = g_ascii_tolower (*value);
        }
      if (out[n - 1] != ' ')
        out[n++] = ' ';
    }
  out[n] = '\0';
  return n;
}

/* The names without spaces, so that "old price" is "oldprice". */
static void
join (const char *text, char out[NAMES_MAX])
{
  for (; *text != '\0'; text++)
    if (*text != ' ')
      *out++ = *text;
  *out = '\0';
}

static guint
find_names (const char *text)
{
  guint flags = 0;

  while (*text != '\0')
    {
      gsize n;

      while (*text == ' ')
        text++;
      n = strcspn (text, " ");
      for (guint i = 0; n > 0 && i < G_N_ELEMENTS (names); i++)
        if (strlen (names[i].word) == n && memcmp (text, names[i].word, n) == 0)
          flags |= names[i].flags;
      text += n;
    }
  return flags;
}

/* What the names of an element tell. */
static guint
read_names (const char *text)
{
  char joined[NAMES_MAX];
  guint flags;

  join (text, joined);
  flags = find_names (text);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (joined, parts[i].word) != NULL)
      flags |= parts[i].flags;
  /* With the tax, a price is whole. */
  if ((flags & QM_SEEN_PART) != 0
      && (strstr (joined, "withtax") != NULL || strstr (joined, "incl") != NULL
          || strstr (joined, "withvat") != NULL))
    flags &= ~(guint) QM_SEEN_PART;
  /* Buttons that add to the basket name it. */
  if ((flags & QM_SEEN_ASIDE) != 0 && strstr (joined, "addto") != NULL)
    flags &= ~(guint) QM_SEEN_ASIDE;
  return flags;
}

/* The same, found out once for each text. */
static guint
look_up_names (const QmPage *page, const char *text)
{
  gpointer known;
  guint flags;

  if (g_hash_table_lookup_extended (page->words, text, NULL, &known))
    return GPOINTER_TO_UINT (known);
  flags = read_names (text);
  if (g_hash_table_size (page->words) < KNOWN_MAX)
    g_hash_table_insert (page->words, g_strdup (text),
                         GUINT_TO_POINTER (flags));
  return flags;
}

guint
qm_page_words_of_element (const QmPage *page,
                          const xmlNode *node,
                          gboolean small)
{
  char text[NAMES_MAX];
  guint flags = 0;

  if (qm_page_is (node, "del") || qm_page_is (node, "s")
      || qm_page_is (node, "strike"))
    return QM_SEEN_OLD;
  if (qm_page_is (node, "nav") || qm_page_is (node, "footer")
      || qm_page_is (node, "aside"))
    flags |= QM_SEEN_ASIDE;
  if (node->properties == NULL)
    return flags;
  if (small)
    {
      const char *style = qm_page_attribute (node, "style");

      if (style != NULL && strstr (style, "line-through") != NULL)
        flags |= QM_SEEN_OLD;
    }
  collect_names (node, text);
  if (text[1] == '\0')
    return flags;
  flags |= look_up_names (page, text);
  if (!small)
    flags &= ~(guint) (QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_FROM
                       | QM_SEEN_CURRENT | QM_SEEN_REGULAR);
  return flags;
}

guint
qm_page_words_before (const char *text, gsize length)
{
  g_autofree char *start = NULL;
  g_autofree char *lower = NULL;
  gsize from;

  while (length > 0 && text[length - 1] == ' ')
    length--;
  from = length > 40 ? length - 40 : 0;
  while (from < length && (text[from] & 0xc0) == 0x80)
    from++;
  start = g_strndup (text + from, length - from);
  lower = g_utf8_strdown (start, -1);
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      gsize n = strlen (before[i].word);
      gsize all = strlen (lower);

      if (all >= n && memcmp (lower + all - n, before[i].word, n) == 0
          && (all == n || !g_ascii_isalnum (lower[all - n - 1])
              || !g_ascii_isalnum (before[i].word[0])))
        return before[i].flags;
    }
  return 0;
}

guint
qm_page_words_after (const char *text)
{
  g_autofree char *start = NULL;
  g_autofree char *lower = NULL;

  while (*text == ' ' || *text == '*')
    text++;
  start = g_utf8_substring (text, 0, MIN (g_utf8_strlen (text, 200), 24));
  lower = g_utf8_strdown (start, -1);
  for (guint i = 0; i < G_N_ELEMENTS (after); i++)
    if (g_str_has_prefix (lower, after[i].word)
        && !(g_ascii_isalpha (lower[strlen (after[i].word)])
             && g_ascii_isalpha (after[i].word[strlen (after[i].word) - 1])))
      return after[i].flags;
  return 0;
}

/* Beside prices with tax, in lower case. */
static const char *const with_tax[] = {
  "incl. vat", "inc. vat",   "inc vat",    "incl vat",  "including vat",
  "incl. tax", "incl tax",   "inc tax",    "inc. tax",  "including tax",
  "tax incl",  "vat incl",   "inkl. mwst", "inkl mwst", "inkl. mehrwert",
  "inkl. ust", "incl. btw",  "tva incl",   "prix ttc",  "€ ttc",
  "iva incl",  "inkl. moms", "ink. moms",  "inkl. mva", "sis. alv",
  "vč. dph",   "včetně dph", " s dph",     "税込",
};

/* Beside prices without. */
static const char *const without_tax[] = {
  "excl. vat",  "exc. vat",    "ex. vat",   "ex vat",      "excluding vat",
  "plus vat",   "+ vat",       "excl. tax", "excl tax",    "excluding tax",
  "exkl. mwst", "zzgl. mwst",  "zzgl. ust", "zzgl mwst",   "excl. btw",
  "hors taxe",  "€ ht",        "iva excl",  "iva no incl", "+ iva",
  "exkl. moms", "ekskl. moms", "eks. mva",  "alv 0",       "bez dph",
  "税抜",
};

QmTristate
qm_page_words_tax (const char *text)
{
  g_autofree char *lower = g_utf8_strdown (text, -1);
  gboolean says_with = FALSE, says_without = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (with_tax); i++)
    says_with = says_with || strstr (lower, with_tax[i]) != NULL;
  for (guint i = 0; i < G_N_ELEMENTS (without_tax); i++)
    says_without = says_without || strstr (lower, without_tax[i]) != NULL;
  if (says_with == says_without)
    return QM_UNSTATED;
  return says_with ? QM_YES : QM_NO;
}

/* In the names of what buys, without spaces. */
static const char *const buy_names[] = {
  "addtocart", "addtobasket",  "addtobag", "addcart",        "cartadd",
  "buynow",    "buybutton",    "btncart",  "btnbuy",         "addbasket",
  "buybox",    "addtotrolley", "tocart",   "purchasebutton",
};

/* What is written on it. */
static const char *const buy_words[] = {
  "add to cart",
  "add to basket",
  "add to bag",
  "buy now",
  "buy it now",
  "warenkorb",
  "kaufen",
  "ajouter au panier",
  "acheter",
  "al carrito",
  "comprar",
  "al carrello",
  "acquista",
  "winkelwagen",
  "winkelmand",
  "do koszyka",
  "do košíku",
  "do košíka",
  "kupit",
  "v košarico",
  "u košaricu",
  "i varukorg",
  "köp",
  "handlekurv",
  "i kurv",
  "ostoskoriin",
  "sepete ekle",
  "в корзину",
  "купить",
  "kosárba",
  "в количката",
  "adauga in cos",
  "adaugă în coș",
  "καλάθι",
  "カートに入れる",
  "加入购物车",
  "加入購物車",
  "放入購物車",
  "장바구니",
  "구매하기",
  "add to trolley",
  "ostukorvi",
  "į krepšelį",
  "grozam",
};

gboolean
qm_page_words_buy (const xmlNode *node)
{
  char text[NAMES_MAX], joined[NAMES_MAX];
  g_autofree char *content = NULL;
  g_autofree char *lower = NULL;

  if (!qm_page_is (node, "button") && !qm_page_is (node, "input")
      && !qm_page_is (node, "a") && !qm_page_is (node, "form"))
    return FALSE;
  collect_names (node, text);
  join (text, joined);
  for (guint i = 0; i < G_N_ELEMENTS (buy_names); i++)
    if (strstr (joined, buy_names[i]) != NULL)
      return TRUE;
  if (qm_page_is (node, "form"))
    return FALSE;
  content = qm_page_is (node, "input")
                ? qm_page_one_line (qm_page_attribute (node, "value"), 40)
                : qm_page_node_text (node, 40);
  if (content == NULL)
    return FALSE;
  lower = g_utf8_strdown (content, -1);
  for (guint i = 0; i < G_N_ELEMENTS (buy_words); i++)
    if (strstr (lower, buy_words[i]) != NULL)
      return TRUE;
  return FALSE;
}
