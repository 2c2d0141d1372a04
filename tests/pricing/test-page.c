/* SPDX-License-Identifier: Apache-2.0 */

/* Pages of every shape, and what they say. */

#include "pricing/pages/qm-lax-json.h"
#include "pricing/pages/qm-page.h"

#include <string.h>

#define HEADING "<h1>Card X100</h1>"

#define NOTHING QM_AMOUNT_UNSTATED

typedef struct
{
  const char *name;
  const char *html;
  double price; /* of the major unit; negative: none */
  const char *currency;
  QmPageMethod method;
} Shape;

static QmPageOffer *
read_text (const char *html, const char *url)
{
  const QmPageContext context = { .url = url };
  g_autoptr (GError) error = NULL;
  QmPageOffer *offer = qm_page_read ((const guint8 *) html, strlen (html),
                                     &context, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (offer);
  if (offer->price_micros == NOTHING)
    {
      g_assert_nonnull (offer->reason);
      g_assert_cmpint (offer->method, ==, QM_PAGE_NOTHING);
      g_assert_cmpstr (offer->currency, ==, "");
    }
  else
    g_assert_null (offer->reason);
  return offer;
}

static void
check_shape (gconstpointer data)
{
  const Shape *shape = data;
  g_autoptr (QmPageOffer) offer = read_text (shape->html, NULL);

  if (shape->price < 0)
    {
      g_assert_cmpint (offer->price_micros, ==, NOTHING);
      return;
    }
  g_assert_cmpint (offer->price_micros, ==,
                   (gint64) (shape->price * QM_MICROS_PER_UNIT + 0.5));
  g_assert_cmpstr (offer->currency, ==, shape->currency);
  g_assert_cmpstr (qm_page_method_name (offer->method), ==,
                   qm_page_method_name (shape->method));
}

#define LD(json) \
  "<script type=\"application/ld+json\">" json "</script>" HEADING

static const Shape json_ld[] = {
  { "plain",
    LD ("{\"@context\":\"https://schema.org\",\"@type\":\"Product\","
        "\"name\":\"Card X100\",\"offers\":{\"@type\":\"Offer\","
        "\"price\":\"1299.99\",\"priceCurrency\":\"EUR\"}}"),
    1299.99, "EUR", QM_PAGE_JSON_LD },
  { "number",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":1299.5,"
        "\"priceCurrency\":\"USD\"}}"),
    1299.5, "USD", QM_PAGE_JSON_LD },
  { "graph",
    LD ("{\"@context\":\"https://schema.org\",\"@graph\":[{\"@type\":"
        "\"WebPage\"},{\"@type\":[\"Product\",\"Thing\"],\"offers\":[{"
        "\"@type\":\"Offer\",\"price\":10.5,\"priceCurrency\":\"GBP\"}]}]"
        "}"),
    10.5, "GBP", QM_PAGE_JSON_LD },
  { "array",
    LD ("[{\"@type\":\"BreadcrumbList\"},{\"@type\":\"Product\",\"offers\":"
        "{\"price\":\"99\",\"priceCurrency\":\"EUR\"}}]"),
    99, "EUR", QM_PAGE_JSON_LD },
  { "reference",
    LD ("{\"@graph\":[{\"@type\":\"Product\",\"offers\":{\"@id\":\"#o\"}},"
        "{\"@id\":\"#o\",\"@type\":\"Offer\",\"price\":\"77.10\","
        "\"priceCurrency\":\"EUR\"}]}"),
    77.1, "EUR", QM_PAGE_JSON_LD },
  { "reference-loop",
    LD ("{\"@graph\":[{\"@id\":\"#a\",\"@type\":\"Product\",\"offers\":"
        "{\"@id\":\"#b\"}},{\"@id\":\"#b\",\"@type\":\"AggregateOffer\","
        "\"offers\":{\"@id\":\"#b\"}}]}"),
    -1, "", QM_PAGE_NOTHING },
  { "lower-case-type",
    LD ("{\"@type\":\"product\",\"Offers\":{\"@type\":\"offer\","
        "\"Price\":\"5.25\",\"pricecurrency\":\"EUR\"}}"),
    5.25, "EUR", QM_PAGE_JSON_LD },
  { "prefix",
    LD ("{\"@type\":\"schema:Product\",\"schema:offers\":{\"@type\":"
        "\"http://schema.org/Offer\",\"schema:price\":\"5.25\","
        "\"schema:priceCurrency\":\"EUR\"}}"),
    5.25, "EUR", QM_PAGE_JSON_LD },
  { "main-entity",
    LD ("{\"@type\":\"ItemPage\",\"mainEntity\":{\"@type\":\"Product\","
        "\"offers\":{\"price\":8,\"priceCurrency\":\"EUR\"}}}"),
    8, "EUR", QM_PAGE_JSON_LD },
  { "item-reviewed",
    LD ("{\"@type\":\"AggregateRating\",\"itemReviewed\":{\"@type\":"
        "\"Product\",\"offers\":{\"price\":8,\"priceCurrency\":\"EUR\"}}}"),
    8, "EUR", QM_PAGE_JSON_LD },
  { "aggregate-equal",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"AggregateOffer\","
        "\"lowPrice\":\"20\",\"highPrice\":\"20\",\"priceCurrency\":"
        "\"USD\"}}"),
    20, "USD", QM_PAGE_JSON_LD },
  { "aggregate-range",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"AggregateOffer\","
        "\"lowPrice\":\"20\",\"highPrice\":\"30\",\"priceCurrency\":"
        "\"USD\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "aggregate-nested",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"AggregateOffer\","
        "\"priceCurrency\":\"EUR\",\"offers\":[{\"@type\":\"Offer\","
        "\"price\":\"42\"}]}}"),
    42, "EUR", QM_PAGE_JSON_LD },
  { "aggregate-without-prices",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"AggregateOffer\","
        "\"offers\":[{\"@type\":\"Offer\",\"url\":\"x\"}]}}"),
    -1, "", QM_PAGE_NOTHING },
  { "specification",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"Offer\","
        "\"priceSpecification\":[{\"priceType\":"
        "\"https://schema.org/ListPrice\",\"price\":\"150\","
        "\"priceCurrency\":\"EUR\"},{\"@type\":\"UnitPriceSpecification\","
        "\"price\":\"120\",\"priceCurrency\":\"EUR\"}]}}"),
    120, "EUR", QM_PAGE_JSON_LD },
  { "specification-of-a-kilogram",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"Offer\","
        "\"priceSpecification\":{\"price\":\"3\",\"priceCurrency\":\"EUR\","
        "\"referenceQuantity\":{\"unitCode\":\"KGM\"}}}}"),
    -1, "", QM_PAGE_NOTHING },
  { "specification-compound",
    LD ("{\"@type\":\"Product\",\"offers\":{\"@type\":\"Offer\","
        "\"priceSpecification\":{\"@type\":\"CompoundPriceSpecification\","
        "\"priceComponent\":[{\"price\":\"3\",\"priceCurrency\":\"EUR\"}]}}"
        "}"),
    3, "EUR", QM_PAGE_JSON_LD },
  { "group-alike",
    LD ("{\"@type\":\"ProductGroup\",\"hasVariant\":[{\"@type\":"
        "\"Product\","
        "\"offers\":{\"price\":9,\"priceCurrency\":\"EUR\"}},{\"@type\":"
        "\"Product\",\"offers\":{\"price\":9,\"priceCurrency\":\"EUR\"}}]"
        "}"),
    9, "EUR", QM_PAGE_JSON_LD },
  { "group-different",
    LD ("{\"@type\":\"ProductGroup\",\"hasVariant\":[{\"@type\":"
        "\"Product\","
        "\"offers\":{\"price\":9,\"priceCurrency\":\"EUR\"}},{\"@type\":"
        "\"Product\",\"offers\":{\"price\":11,\"priceCurrency\":\"EUR\"}}]"
        "}"),
    -1, "", QM_PAGE_NOTHING },
  { "group-shown",
    LD ("{\"@type\":\"ProductGroup\",\"hasVariant\":[{\"@type\":"
        "\"Product\","
        "\"offers\":{\"price\":9,\"priceCurrency\":\"EUR\"}},{\"@type\":"
        "\"Product\",\"offers\":{\"price\":11,\"priceCurrency\":\"EUR\"}}]"
        "}") "<p class=price>11,00 €</p>",
    11, "EUR", QM_PAGE_JSON_LD },
  { "own-number",
    LD ("{\"@type\":\"Product\",\"sku\":\"B\",\"offers\":[{\"sku\":\"A\","
        "\"price\":1000,\"priceCurrency\":\"EUR\"},{\"sku\":\"B\","
        "\"price\":"
        "2000,\"priceCurrency\":\"EUR\"}]}"),
    2000, "EUR", QM_PAGE_JSON_LD },
  { "item-offered",
    LD ("{\"@type\":\"Offer\",\"price\":\"12.34\",\"priceCurrency\":"
        "\"EUR\","
        "\"itemOffered\":{\"@type\":\"Product\",\"name\":\"X100\"}}"),
    12.34, "EUR", QM_PAGE_JSON_LD },
  { "related-left-out",
    LD ("{\"@type\":\"Product\",\"name\":\"Card X100\",\"isRelatedTo\":{"
        "\"@type\":\"Product\",\"offers\":{\"price\":1,\"priceCurrency\":"
        "\"EUR\"}}}"),
    -1, "", QM_PAGE_NOTHING },
  { "list",
    LD ("{\"@type\":\"ItemList\",\"itemListElement\":[{\"@type\":"
        "\"ListItem\",\"item\":{\"@type\":\"Product\",\"name\":\"A\","
        "\"offers\":{\"price\":10,\"priceCurrency\":\"EUR\"}}},{\"@type\":"
        "\"ListItem\",\"item\":{\"@type\":\"Product\",\"name\":\"B\","
        "\"offers\":{\"price\":20,\"priceCurrency\":\"EUR\"}}}]}"),
    -1, "", QM_PAGE_NOTHING },
  { "zero",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":0,\"priceCurrency\":"
        "\"EUR\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "one",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"1.00\","
        "\"priceCurrency\":\"EUR\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "negative",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"-5\","
        "\"priceCurrency\":\"EUR\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "absurd",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"9999999999.99\","
        "\"priceCurrency\":\"EUR\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "contradiction",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":999,"
        "\"priceCurrency\":"
        "\"USD\"}}") "<p class=price>$1,299.00</p>",
    -1, "", QM_PAGE_NOTHING },
  { "two-currencies",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":999,"
        "\"priceCurrency\":"
        "\"USD\"}}") "<p class=price>999 €</p>",
    -1, "", QM_PAGE_NOTHING },
  { "old-price-stated",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":999,"
        "\"priceCurrency\":"
        "\"EUR\"}}") "<p class=price><del>999 €</del> <ins>899 €</ins></p>",
    899, "EUR", QM_PAGE_TEXT },
  { "group-of-three",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"1.299\","
        "\"priceCurrency\":\"EUR\"}}") "<p class=price>1.299 €</p>",
    1299, "EUR", QM_PAGE_JSON_LD },
  { "group-of-three-unclear",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"1.299\","
        "\"priceCurrency\":\"EUR\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "four-decimals",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"1299.0000\","
        "\"priceCurrency\":\"EUR\"}}"),
    1299, "EUR", QM_PAGE_JSON_LD },
  { "price-with-sign",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":\"12,34 €\"}}"), 12.34,
    "EUR", QM_PAGE_JSON_LD },
  { "gone",
    LD ("{\"@type\":\"Product\",\"name\":\"Card X100\",\"offers\":{\"@type\":"
        "\"Offer\",\"price\":\"1299.99\",\"priceCurrency\":\"EUR\","
        "\"availability\":\"https://schema.org/Discontinued\"}}") "<p>No "
                                                                  "longer "
                                                                  "available</"
                                                                  "p><a "
                                                                  "href=/"
                                                                  "used>Used "
                                                                  "for "
                                                                  "€500</a>",
    -1, "", QM_PAGE_NOTHING },
  { "out-of-stock-not-shown",
    LD ("{\"@type\":\"Product\",\"name\":\"Card X100\",\"offers\":{\"@type\":"
        "\"Offer\",\"price\":\"1299.99\",\"priceCurrency\":\"EUR\","
        "\"availability\":\"https://schema.org/OutOfStock\"}}"),
    -1, "", QM_PAGE_NOTHING },
  { "out-of-stock-shown",
    LD ("{\"@type\":\"Product\",\"name\":\"Card X100\",\"offers\":{\"@type\":"
        "\"Offer\",\"price\":\"1299.99\",\"priceCurrency\":\"EUR\","
        "\"availability\":\"https://schema.org/OutOfStock\"}}") "<p "
                                                                "class=price>"
                                                                "€1,299.99</p>",
    1299.99, "EUR", QM_PAGE_JSON_LD },
  { "in-stock-not-shown",
    LD ("{\"@type\":\"Product\",\"name\":\"Card X100\",\"offers\":{\"@type\":"
        "\"Offer\",\"price\":\"1299.99\",\"priceCurrency\":\"EUR\","
        "\"availability\":\"https://schema.org/InStock\"}}"),
    1299.99, "EUR", QM_PAGE_JSON_LD },
};

static const Shape broken_json[] = {
  { "cdata",
    LD ("/*<![CDATA[*/{\"@type\":\"Product\",\"offers\":{\"price\":7,"
        "\"priceCurrency\":\"EUR\"}}/*]]>*/"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "line-comment-cdata",
    LD ("\n//<![CDATA[\n{\"@type\":\"Product\",\"offers\":{\"price\":7,"
        "\"priceCurrency\":\"EUR\"}}\n//]]>\n"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "html-comment",
    LD ("<!--\n{\"@type\":\"Product\",\"offers\":{\"price\":7,"
        "\"priceCurrency\":\"EUR\"}}\n-->"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "raw-line-breaks",
    LD ("{\"@type\":\"Product\",\"description\":\"a\nb\tc\",\"offers\":{"
        "\"price\":7,\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "comments",
    LD ("{ // a product\n\"@type\":\"Product\", /* its */ \"offers\":{"
        "\"price\":7, // now\n\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "trailing-commas",
    LD ("{\"@type\":\"Product\",\"offers\":[{\"price\":7,"
        "\"priceCurrency\":\"EUR\",},],}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "several-objects",
    LD ("{\"@type\":\"WebSite\"}\n{\"@type\":\"Product\",\"offers\":{"
        "\"price\":7,\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "semicolon",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":7,"
        "\"priceCurrency\":\"EUR\"}};"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "quotes-inside",
    LD ("{\"@type\":\"Product\",\"name\":\"27\" monitor\",\"offers\":{"
        "\"price\":7,\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "bad-escapes",
    LD ("{\"@type\":\"Product\",\"name\":\"a\\'b\\x41\\q\\ud83d\","
        "\"offers\":{\"price\":7,\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "entities-for-quotes",
    LD ("{&quot;@type&quot;:&quot;Product&quot;,&quot;offers&quot;:{"
        "&quot;price&quot;:7,&quot;priceCurrency&quot;:&quot;EUR&quot;}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "empty-first",
    "<script type=\"application/ld+json\"></script>"
    "<script type=\"application/ld+json\">null</script>" LD (
        "{\"@type\":\"Product\",\"offers\":{\"price\":7,"
        "\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "big-number",
    LD ("{\"@type\":\"Product\",\"gtin\":123456789012345678901234567890,"
        "\"x\":1e999,\"offers\":{\"price\":7,\"priceCurrency\":\"EUR\"}}"),
    7, "EUR", QM_PAGE_JSON_LD },
  { "cut-off",
    LD ("{\"@type\":\"Product\",\"offers\":{\"price\":7,\"priceCurrency\""), -1,
    "", QM_PAGE_NOTHING },
};

#define PRODUCT(inner)                                         \
  "<div itemscope itemtype=\"http://schema.org/Product\"><h1 " \
  "itemprop=name>Card X100</h1>" inner "</div>"
#define OFFER(inner)                                                           \
  "<div itemprop=offers itemscope itemtype=\"http://schema.org/Offer\">" inner \
  "</div>"

static const Shape microdata[] = {
  { "meta-carriers",
    PRODUCT (OFFER ("<meta itemprop=price content=\"12.50\"><meta "
                    "itemprop=priceCurrency content=EUR>")),
    12.5, "EUR", QM_PAGE_MICRODATA },
  { "text", PRODUCT (OFFER ("<span itemprop=price>1.299,00&nbsp;€</span>")),
    1299, "EUR", QM_PAGE_MICRODATA },
  { "content-before-text",
    PRODUCT (OFFER ("<span itemprop=price content=\"1299.00\">1,299 USD incl. "
                    "tax</span><meta itemprop=priceCurrency content=USD>")),
    1299, "USD", QM_PAGE_MICRODATA },
  { "price-of-the-product", PRODUCT ("<span itemprop=price>£99.00</span>"), 99,
    "GBP", QM_PAGE_MICRODATA },
  { "nested-scope-is-not-its-own",
    PRODUCT ("<div itemprop=brand itemscope itemtype=\"http://schema.org/"
             "Brand\"><span itemprop=price>€5</span></div>" OFFER (
                 "<span itemprop=price>€99</span>")),
    99, "EUR", QM_PAGE_MICRODATA },
  { "itemref",
    "<div itemscope itemtype=\"http://schema.org/Product\" itemref=\"o\">"
    "<h1 itemprop=name>Card X100</h1></div><div id=o itemprop=offers itemscope "
    "itemtype=\"http://schema.org/Offer\"><meta itemprop=price content=33>"
    "<meta itemprop=priceCurrency content=EUR></div>",
    33, "EUR", QM_PAGE_MICRODATA },
  { "itemref-loop",
    "<div id=a itemscope itemtype=\"http://schema.org/Product\" itemref=a>"
    "<h1>Card</h1><div id=b itemprop=offers itemscope itemtype="
    "\"http://schema.org/Offer\" itemref=\"a b\"></div></div>",
    -1, "", QM_PAGE_NOTHING },
  { "aggregate",
    PRODUCT ("<div itemprop=offers itemscope itemtype="
             "\"http://schema.org/AggregateOffer\"><span itemprop=lowPrice>"
             "€10</span> - <span itemprop=highPrice>€20</span></div>"),
    -1, "", QM_PAGE_NOTHING },
  { "rdfa",
    "<div vocab=\"http://schema.org/\" typeof=\"Product\"><h1 property=name>"
    "Card X100</h1><div property=offers typeof=Offer><span property=price "
    "content=\"59.90\">59,90</span><meta property=priceCurrency content=EUR>"
    "</div></div>",
    59.9, "EUR", QM_PAGE_RDFA },
  { "list-of-products",
    "<h1>All cards</h1>"
    "<div itemscope itemtype=\"http://schema.org/Product\"><b itemprop=name>A"
    "</b>" OFFER (
        "<b itemprop=price>€10</b>") "</div>"
                                     "<div itemscope "
                                     "itemtype=\"http://schema.org/"
                                     "Product\"><b itemprop=name>B"
                                     "</b>" OFFER (
                                         "<b itemprop=price>€20</b>") "</div>",
    -1, "", QM_PAGE_NOTHING },
  { "one-with-the-heading",
    PRODUCT (OFFER (
        "<b itemprop=price>€10.00</b>")) "<div itemscope "
                                         "itemtype=\"http://schema.org/"
                                         "Product\"><b itemprop=name>"
                                         "Other</b>" OFFER ("<b "
                                                            "itemprop=price>"
                                                            "€20</b>") "</div>",
    10, "EUR", QM_PAGE_MICRODATA },
};

static const Shape others[] = {
  { "product-meta",
    "<head><meta property=\"product:price:amount\" content=\"499.00\"><meta "
    "property=\"product:price:currency\" content=\"EUR\"></head>" HEADING,
    499, "EUR", QM_PAGE_META },
  { "og-meta",
    "<head><meta property=\"og:price:amount\" content=\"1,499.00\"><meta "
    "property=\"og:price:currency\" content=\"USD\"></head>" HEADING,
    1499, "USD", QM_PAGE_META },
  { "sale-meta",
    "<head><meta property=\"product:price:amount\" content=\"500\"><meta "
    "property=\"product:sale_price:amount\" content=\"450\"><meta "
    "property=\"product:sale_price:currency\" content=\"USD\"></head>" HEADING,
    450, "USD", QM_PAGE_META },
  { "twitter-label",
    "<head><meta name=\"twitter:label1\" content=\"Price\"><meta "
    "name=\"twitter:data1\" content=\"€12.00\"></head>" HEADING,
    12, "EUR", QM_PAGE_META },
  { "ecommerce-detail",
    HEADING "<script>dataLayer.push({'ecommerce': {'currencyCode': 'EUR', "
            "'detail': {'products': [{'name': 'Card X100', 'price': '79.90'}]"
            "}}});</script>",
    79.9, "EUR", QM_PAGE_SCRIPT },
  { "view-item",
    HEADING "<script>gtag('event', 'view_item', {currency: 'EUR', value: 79.9,"
            " items: [{item_id: 'x', item_name: 'Card X100', price: 79.9}]});"
            "</script>",
    79.9, "EUR", QM_PAGE_SCRIPT },
  { "item-list-left-out",
    HEADING "<script>gtag('event', 'view_item_list', {currency: 'EUR', "
            "items: [{item_name: 'Other', price: 79.9}]});</script>",
    -1, "", QM_PAGE_NOTHING },
  { "view-content",
    HEADING "<script>fbq('track', 'ViewContent', {value: 12.5, currency: "
            "'USD', content_ids: ['1'], content_type: 'product'});</script>",
    12.5, "USD", QM_PAGE_SCRIPT },
  { "shopify-hundredths",
    HEADING "<script type=\"application/json\">{\"id\":1,\"title\":\"Card "
            "X100\",\"handle\":\"card\",\"price_min\":129900,\"variants\":[{"
            "\"price\":129900}]}</script><p class=price>$1,299.00 USD</p>",
    1299, "USD", QM_PAGE_SCRIPT },
};

#define BUY "<button>Add to cart</button>"

/* What a list sells. */
#define CARDS                                                \
  "<ul><li><a href=/a>A</a><b class=price>R$ 1.050</b>" BUY  \
  "</li><li><a href=/b>B</a><b class=price>R$ 2.050</b>" BUY \
  "</li><li><a href=/c>C</a><b class=price>R$ 3.050</b>" BUY "</li></ul>"

static const Shape seen[] = {
  { "one-price", HEADING "<span class=price>1.299,00 €</span>" BUY, 1299, "EUR",
    QM_PAGE_TEXT },
  { "nothing-to-buy", HEADING "<span class=price>1.299,00 €</span>", -1, "",
    QM_PAGE_NOTHING },
  { "struck-through",
    HEADING "<div class=prices><del>€120</del> <b>€99</b></div>" BUY, 99, "EUR",
    QM_PAGE_TEXT },
  { "old-by-name",
    HEADING "<div class=\"old-price\">€120</div><div class=\"special-price\">"
            "€99</div>" BUY,
    99, "EUR", QM_PAGE_TEXT },
  { "decimals-raised",
    HEADING "<div class=price>$<b>1,299</b><sup>99</sup> <i>USD</i></div>" BUY,
    1299.99, "USD", QM_PAGE_TEXT },
  { "decimals-apart",
    HEADING "<div class=product-price><span>€</span><span>49</span><span>."
            "</span><span>95</span></div>" BUY,
    49.95, "EUR", QM_PAGE_TEXT },
  { "two-different",
    HEADING "<b class=price>€10.50</b><b class=price>€12</b>" BUY, -1, "",
    QM_PAGE_NOTHING },
  { "range", HEADING "<b class=price>€10.00 - €12.00</b>" BUY, -1, "",
    QM_PAGE_NOTHING },
  { "from", HEADING "<b class=price>from €10.00</b>" BUY, -1, "",
    QM_PAGE_NOTHING },
  { "a-month", HEADING "<b class=price>€10.00/month</b>" BUY, -1, "",
    QM_PAGE_NOTHING },
  { "members-pay-less",
    HEADING "<b class=price>€10.50</b><b class=price>€9 Members</b><p "
            "class=\"vip-price\">VIP price €8</p>" BUY,
    10.5, "EUR", QM_PAGE_TEXT },
  { "members-only", HEADING "<p class=price>Member price: €9</p>" BUY, -1, "",
    QM_PAGE_NOTHING },
  { "related-left-out",
    HEADING "<b class=price>€10.50</b>" BUY
            "<div class=related><b class=price>€99</b></div>",
    10.5, "EUR", QM_PAGE_TEXT },
  { "only-related",
    HEADING BUY "<div class=related><b class=price>€99</b></div>", -1, "",
    QM_PAGE_NOTHING },
  { "basket-left-out",
    "<div class=mini-cart><b class=price>€0.00</b></div>" HEADING
    "<b class=price>€10.50</b>" BUY,
    10.5, "EUR", QM_PAGE_TEXT },
  { "cards",
    "<h1>Cards</h1><ul><li><a href=/a>A</a><b class=price>€10.50</b>" BUY
    "</li><li><a href=/b>B</a><b class=price>€10.50</b>" BUY
    "</li><li><a href=/c>C</a><b class=price>€10.50</b>" BUY "</li></ul>",
    -1, "", QM_PAGE_NOTHING },
  { "call-for-price",
    HEADING "<b class=price>Call for price</b>" BUY "<p>Since 1999</p>", -1, "",
    QM_PAGE_NOTHING },
  { "hidden", HEADING "<b class=price style=\"display:none\">€10.50</b>" BUY,
    -1, "", QM_PAGE_NOTHING },
  { "article",
    "<head><meta property=\"og:type\" content=\"article\"></head><h1>The card "
    "costs $1,299</h1><p>It was $1,499 at launch.</p>",
    -1, "", QM_PAGE_NOTHING },
  { "sold-out",
    "<div itemscope itemtype=\"http://schema.org/Product\">" HEADING
    "<div itemprop=offers itemscope itemtype=\"http://schema.org/Offer\">"
    "<link itemprop=availability href=\"http://schema.org/OutOfStock\"></div>"
    "<b class=price>€10.50</b>" BUY "</div>",
    -1, "", QM_PAGE_NOTHING },
  { "no-heading", "<p class=price>€10.50</p>" BUY, -1, "", QM_PAGE_NOTHING },
  { "filter-of-shop",
    HEADING "<div class=\"price_label\">Preço: <span class=from>R$ 0</span> — "
            "<span class=to>R$ 200.000</span></div>" CARDS,
    -1, "", QM_PAGE_NOTHING },
  { "filter-by-name",
    HEADING
    "<div class=facet-price><span class=price>R$ 200.000</span></div>" CARDS,
    -1, "", QM_PAGE_NOTHING },
  { "filter-of-steps",
    HEADING
    "<form class=filters><b class=price>up to R$ 200.000</b></form>" CARDS,
    -1, "", QM_PAGE_NOTHING },
  { "filter-in-blocks",
    HEADING "<div class=prices><div>R$ 100</div><div>–</div>"
            "<div>R$ 200.000</div></div>" CARDS,
    -1, "", QM_PAGE_NOTHING },
  { "filter-with-words",
    HEADING
    "<p class=price>de R$ 100</p><p class=price>até R$ 200.000</p>" CARDS,
    -1, "", QM_PAGE_NOTHING },
  { "filter-of-numbers",
    HEADING
    "<label>Min</label><span class=\"price min\">R$ 0,00</span>"
    "<label>Max</label><span class=\"price max\">R$ 200.000,00</span>" CARDS,
    -1, "", QM_PAGE_NOTHING },
  { "sale-with-a-dash",
    HEADING "<div class=prices><div>€120</div><div>–</div>"
            "<div class=now>€99</div></div>" BUY,
    99, "EUR", QM_PAGE_TEXT },
};

static void
add_shapes (const char *group, const Shape *shapes, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/page/%s/%s", group, shapes[i].name);

      g_test_add_data_func (path, &shapes[i], check_shape);
    }
}

static void
test_words (void)
{
  g_autoptr (QmPageOffer) offer = read_text (
      LD ("{\"@type\":\"Product\",\"name\":\"Card &amp; more &quot;X&quot;\","
          "\"sku\":\"S1\",\"mpn\":\"M1\",\"offers\":{\"@type\":\"Offer\","
          "\"price\":\"7.5\",\"priceCurrency\":\"EUR\",\"availability\":"
          "\"http://schema.org/LimitedAvailability\",\"priceValidUntil\":"
          "\"2027-02-05Z\",\"seller\":{\"@type\":\"Organization\",\"name\":"
          "\"Shop Ltd\"},\"priceSpecification\":{\"valueAddedTaxIncluded\":"
          "true}}}"),
      NULL);

  g_assert_cmpstr (offer->name, ==, "Card & more \"X\"");
  g_assert_cmpstr (offer->sku, ==, "S1");
  g_assert_cmpstr (offer->mpn, ==, "M1");
  g_assert_cmpstr (offer->seller, ==, "Shop Ltd");
  g_assert_cmpstr (qm_availability_name (offer->availability), ==,
                   "LimitedAvailability");
  g_assert_cmpint (offer->valid_until.year, ==, 2027);
  g_assert_cmpint (offer->valid_until.month, ==, 2);
  g_assert_cmpint (offer->valid_until.day, ==, 5);
  g_assert_cmpint (offer->tax_included, ==, QM_YES);
  g_assert_false (offer->confirmed);
}

static void
test_quote (void)
{
  const QmDate today = { 2026, 11, 21 };
  g_autoptr (QmPageOffer) offer =
      read_text (LD ("{\"@type\":\"Product\",\"name\":\"Card "
                     "X100\",\"mpn\":\"M1\","
                     "\"offers\":{\"price\":\"1299.5\",\"priceCurrency\":"
                     "\"EUR\"}}") "<p class=price>1.299,50 €</p>",
                 NULL);
  g_autoptr (QmPageOffer) none = read_text (HEADING, NULL);
  g_autoptr (QmQuote) quote =
      qm_page_offer_to_quote (offer, "https://www.shop.example/x100", NULL,
                              today);
  const QmQuoteLine *line;

  g_assert_true (offer->confirmed);
  g_assert_null (qm_page_offer_to_quote (none, "x", NULL, today));
  g_assert_nonnull (quote);
  g_assert_cmpstr (quote->vendor, ==, "shop.example");
  g_assert_cmpstr (quote->currency, ==, "EUR");
  g_assert_cmpint (quote->kind, ==, QM_PRICE_STREET);
  g_assert_cmpint (quote->origin, ==, QM_QUOTE_FROM_PAGE);
  g_assert_cmpint (quote->issued_on.day, ==, 21);
  g_assert_cmpint (quote->lines->len, ==, 1);
  g_assert_cmpint (quote->findings->len, ==, 0);
  line = g_ptr_array_index (quote->lines, 0);
  g_assert_cmpstr (line->description, ==, "Card X100");
  g_assert_cmpstr (line->part_number, ==, "M1");
  g_assert_cmpint (line->quantity_micros, ==, QM_MICROS_PER_UNIT);
  g_assert_cmpint (line->price_micros, ==, 1299500000);
}

/* Many things beside each other are not deep, however deep each of them is. */
static void
test_json_siblings (void)
{
  g_autoptr (GString) text = g_string_new ("[");
  g_autoptr (GPtrArray) values = NULL;

  for (int i = 0; i < 1000; i++)
    g_string_append (text, "{a: [[]]},");
  g_string_append (text, "]");
  values = qm_lax_json_read (text->str, text->len);
  g_assert_cmpuint (values->len, ==, 1);
  g_assert_cmpuint (json_array_size (g_ptr_array_index (values, 0)), ==, 1000);
}

/* "$" means what the page's address or language says. */
static void
test_signs (void)
{
  static const char page[] = HEADING "<b class=price>$10.50</b>" BUY;
  g_autoptr (QmPageOffer) unknown = read_text (page, "https://shop.example/");
  g_autoptr (QmPageOffer) australian =
      read_text (page, "https://shop.example.au/x");
  g_autofree char *in_canada =
      g_strconcat ("<html lang=\"en-CA\">", page, NULL);
  g_autoptr (QmPageOffer) canadian =
      read_text (in_canada, "https://shop.example/");
  g_autoptr (QmPageOffer) german = read_text (page, "https://shop.example.de/");

  g_assert_cmpstr (unknown->currency, ==, "");
  g_assert_cmpstr (australian->currency, ==, "AUD");
  g_assert_cmpint (australian->notes->len, ==, 1);
  g_assert_cmpstr (canadian->currency, ==, "CAD");
  g_assert_cmpstr (german->currency, ==, "");
}

/* What stands beside the price says whether tax is in it. */
static void
test_tax (void)
{
  g_autoptr (QmPageOffer) with = read_text (
      HEADING "<b class=price>12,50 €</b><p>inkl. MwSt., zzgl. Versand</p>" BUY,
      NULL);
  g_autoptr (QmPageOffer) without =
      read_text (HEADING "<b class=price>£12.50 <i>excl. VAT</i></b>" BUY,
                 NULL);
  g_autoptr (QmPageOffer) unsaid =
      read_text (HEADING "<b class=price>£12.50</b>" BUY, NULL);

  g_assert_cmpint (with->price_micros, ==, 12500000);
  g_assert_cmpint (with->tax_included, ==, QM_YES);
  g_assert_cmpint (without->price_micros, ==, 12500000);
  g_assert_cmpint (without->tax_included, ==, QM_NO);
  g_assert_cmpint (unsaid->tax_included, ==, QM_UNSTATED);
}

/* Half of a pair is no character, neither the first half nor the second; in
 * JSON that has to be mended for another reason, here the comma. */
static void
test_halves (void)
{
  static const char *const escapes[] = { "\\ud800", "\\udbff", "\\udc00",
                                         "\\udfff", "\\ud83d\\ude00" };

  for (gsize i = 0; i < G_N_ELEMENTS (escapes); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("{\"name\": \"a%sz\", }", escapes[i]);
      g_autoptr (GPtrArray) values = qm_lax_json_read (text, strlen (text));
      const char *name;

      g_assert_cmpuint (values->len, ==, 1);
      name = json_string_value (
          json_object_get (g_ptr_array_index (values, 0), "name"));
      g_assert_cmpstr (name, ==,
                       i < 4 ? "a\xef\xbf\xbdz" : "a\xef\xbf\xbd\xef\xbf\xbdz");
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  add_shapes ("json-ld", json_ld, G_N_ELEMENTS (json_ld));
  add_shapes ("broken-json", broken_json, G_N_ELEMENTS (broken_json));
  add_shapes ("microdata", microdata, G_N_ELEMENTS (microdata));
  add_shapes ("others", others, G_N_ELEMENTS (others));
  add_shapes ("seen", seen, G_N_ELEMENTS (seen));
  g_test_add_func ("/page/json-siblings", test_json_siblings);
  g_test_add_func ("/page/words", test_words);
  g_test_add_func ("/page/halves", test_halves);
  g_test_add_func ("/page/quote", test_quote);
  g_test_add_func ("/page/signs", test_signs);
  g_test_add_func ("/page/tax", test_tax);
  return g_test_run ();
}
