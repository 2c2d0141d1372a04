/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-words.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Of a longer text, only so many bytes are looked at. */
#define LONGEST_NAME 200

/* No name of a column is longer, in bytes ... */
#define LONGEST_HEADER 100
/* ... and no phrase. */
#define LONGEST_PHRASE 63

/* What follows the word for a total in its row is not longer. */
#define LONGEST_REST 32

typedef struct
{
  QmCsvField field;
  const char *words; /* normalized, separated by "|" */
} FieldWords;

static const FieldWords fields[] = {
  { QM_CSV_NUMBER,
    "pos|position|line|line no|line number|item no|no|nr|lp|poz|pozycja|ligne|"
    "posicion|linea|posizione|riga|rij|regel|linha|posicao|posnr|pos nr|row|"
    "line item|rad|num|numero|artikelposition|lfd nr|line id|item number" },
  { QM_CSV_PART_NUMBER,
    "part number|part no|part|pn|p n|mpn|sku|product code|product number|"
    "manufacturer part number|mfr part number|mfg part number|mfr part no|"
    "item code|article number|article no|artikelnummer|artikel nr|artikelnr|"
    "art nr|artnr|teilenummer|bestellnummer|bestell nr|herstellernummer|"
    "herstellerartikelnummer|materialnummer|produktnummer|reference|ref|"
    "reference fabricant|reference produit|code article|code produit|"
    "referencia|codigo|codigo de producto|numero de parte|numero de pieza|"
    "codice|codice articolo|codice prodotto|cod articolo|part nr|"
    "artikelcode|onderdeelnummer|productcode|codigo do produto|cod produto|"
    "numero da peca|kod|kod produktu|numer katalogowy|nr katalogowy|indeks|"
    "numer czesci|symbol|model number|model no|catalog number|vendor part "
    "number|supplier part number|varenr|varenummer|ean" },
  { QM_CSV_DESCRIPTION,
    "description|product|item|product name|item description|name|model|"
    "product description|part description|line description|component|"
    "beschreibung|bezeichnung|artikel|artikelbezeichnung|produkt|"
    "produktbezeichnung|leistung|text|designation|libelle|produit|article|"
    "desc|descripcion|producto|articulo|concepto|denominacion|descrizione|"
    "prodotto|articolo|denominazione|omschrijving|artikelomschrijving|"
    "beschrijving|descricao|produto|artigo|designacao|opis|nazwa|"
    "nazwa towaru|nazwa produktu|towar|produkt opis|hardware|goods|"
    "beskrivelse|beskrivning|popis|kuvaus|benamning" },
  { QM_CSV_QUANTITY,
    "quantity|qty|count|units|pieces|pcs|amount ordered|menge|anzahl|stuck|"
    "stuckzahl|stk|quantite|qte|nombre|cantidad|cant|uds|unidades|quantita|"
    "q ta|qta|pezzi|aantal|hoeveelheid|quantidade|qtd|qtde|quant|ilosc|"
    "liczba|sztuk|szt|antal|mnozstvi|maara|qnty|no of units|stueckzahl" },
  { QM_CSV_UNIT,
    "unit|uom|unit of measure|einheit|mengeneinheit|me|unite|unidad|"
    "unidad de medida|unita|unita di misura|um|u m|eenheid|unidade|"
    "jednostka|jednostka miary|jm|j m|jedn|enhed|enhet" },
  { QM_CSV_PRICE,
    "price|unit price|price per unit|price each|each|price ea|net price|"
    "unit cost|cost|cost per unit|unit net price|net unit price|your price|"
    "sell price|sale price|selling price|preis|einzelpreis|stuckpreis|"
    "stueckpreis|preis stuck|preis pro stuck|preis je stuck|e preis|ep|"
    "nettopreis|einzelpreis netto|netto einzelpreis|preis netto|stuckpreis "
    "netto|bruttopreis|einzelpreis brutto|preis brutto|prix|prix unitaire|"
    "pu|p u|pu ht|prix unitaire ht|prix ht|prix net|prix unitaire net|"
    "pu ttc|prix unitaire ttc|prix ttc|precio|precio unitario|"
    "precio unidad|p unitario|precio neto|coste unitario|prezzo|"
    "prezzo unitario|prezzo netto|prezzo unit|prijs|stukprijs|"
    "eenheidsprijs|prijs per stuk|netto prijs|nettoprijs|preco|"
    "preco unitario|preco unit|valor unitario|cena|cena jednostkowa|"
    "cena netto|cena jedn|cena jednostkowa netto|cena brutto|"
    "cena jednostkowa brutto|cena za szt|stykpris|enhedspris|pris|a pris|"
    "rate|hourly rate|price per hour|price hour" },
  { QM_CSV_BASE_QUANTITY,
    "per|price per|base quantity|price unit|pe|preiseinheit|pro" },
  { QM_CSV_DISCOUNT,
    "discount|discount amount|line discount|rabatt|rabattbetrag|nachlass|"
    "remise|montant remise|descuento|dto|sconto|korting|desconto|rabat|"
    "upust" },
  { QM_CSV_DISCOUNT_PERCENT,
    "discount percent|discount pct|disc|rabatt in prozent|rabattsatz|"
    "taux remise|taux de remise|percent discount" },
  { QM_CSV_CHARGE,
    "charge|charges|surcharge|zuschlag|aufschlag|supplement|recargo|"
    "supplemento|toeslag|acrescimo|doplata" },
  { QM_CSV_TOTAL,
    "total|line total|total price|extended price|ext price|extended|"
    "extended cost|ext cost|amount|net amount|line amount|subtotal|sub total|"
    "total amount|total cost|total net|net total|extension|betrag|gesamt|"
    "gesamtpreis|summe|gesamtbetrag|zeilensumme|g preis|gp|gesamt netto|"
    "gesamtpreis netto|nettobetrag|netto|positionspreis|gesamtsumme|"
    "gesamt brutto|gesamtpreis brutto|montant|montant ht|total ht|"
    "prix total|total ligne|prix total ht|montant net|total ttc|montant ttc|"
    "importe|importe total|precio total|total linea|importe neto|importo|"
    "totale|prezzo totale|totale riga|imponibile|totaal|totaalprijs|bedrag|"
    "regeltotaal|totaal excl btw|totaal incl btw|valor total|preco total|"
    "montante|valor|wartosc|wartosc netto|razem|suma|kwota|kwota netto|"
    "wartosc brutto|belob|summa|sum|celkem" },
  { QM_CSV_CURRENCY,
    "currency|ccy|curr|currency code|wahrung|waehrung|devise|monnaie|moneda|"
    "divisa|valuta|munt|moeda|waluta|mena" },
  { QM_CSV_VENDOR,
    "vendor|supplier|seller|vendor name|supplier name|reseller|company|"
    "lieferant|anbieter|verkaufer|handler|firma|fournisseur|vendeur|"
    "proveedor|vendedor|fornitore|venditore|leverancier|verkoper|fornecedor|"
    "dostawca|sprzedawca|oferent|leverandor" },
  { QM_CSV_QUOTE,
    "quote|quote number|quote no|quotation|quotation number|quotation no|"
    "quote id|quote ref|quote reference|offer|offer number|offer no|angebot|"
    "angebotsnummer|angebot nr|angebots nr|angebotsnr|devis|numero de devis|"
    "devis no|devis n|offre|presupuesto|numero de presupuesto|"
    "presupuesto no|oferta|cotizacion|numero de oferta|preventivo|"
    "numero preventivo|offerta|offerte|offertenummer|offerte nr|orcamento|"
    "numero do orcamento|proposta|cotacao|oferta nr|numer oferty|nr oferty|"
    "tilbud|proposal" },
  { QM_CSV_ISSUED,
    "date|quote date|issue date|issued|issued on|quotation date|offer date|"
    "datum|angebotsdatum|ausgestellt am|date du devis|date d emission|"
    "fecha|fecha de emision|data|data preventivo|data offerta|"
    "data di emissione|offertedatum|data de emissao|data do orcamento|"
    "data oferty|data wystawienia|dato" },
  { QM_CSV_VALID_FROM,
    "valid from|gultig ab|gueltig ab|gultig von|valable a partir du|"
    "valido desde|valido dal|geldig vanaf|valido de|wazna od" },
  { QM_CSV_VALID_UNTIL,
    "valid until|valid to|valid till|validity|expires|expires on|expiry|"
    "expiration|expiration date|expiry date|quote expires|valid through|"
    "gultig bis|gueltig bis|angebot gultig bis|bindefrist|valable jusqu au|"
    "valable jusqu|validite|date de validite|fin de validite|valido hasta|"
    "validez|fecha de validez|valido fino al|validita|scadenza|geldig tot|"
    "geldigheid|valido ate|validade|wazna do|wazne do|termin waznosci|"
    "waznosc oferty|waznosc" },
  { QM_CSV_NOTE,
    "note|notes|comment|comments|remark|remarks|bemerkung|bemerkungen|"
    "anmerkung|kommentar|hinweis|remarque|commentaire|nota|notas|"
    "observaciones|comentario|osservazioni|opmerking|opmerkingen|"
    "observacoes|uwagi|komentarz" },
  { QM_CSV_ROLE, "role" },
  { QM_CSV_ALTERNATIVE, "alternative of the quote" },
  { QM_CSV_SUPERSEDES, "supersedes quote" },
  { QM_CSV_THING, "sells" },
};

typedef struct
{
  QmCsvRowKind kind;
  const char *words;
} RowWords;

static const RowWords rows[] = {
  { QM_CSV_ROW_PAYABLE,
    "grand total|total due|amount due|total payable|payable|total incl|"
    "total including|total inc|gross total|total gross|invoice total|quote "
    "total|total amount due|balance due|order total|endbetrag|endsumme|"
    "gesamtbetrag|bruttosumme|gesamt brutto|gesamtsumme brutto|summe brutto|"
    "zahlbetrag|rechnungsbetrag|bruttobetrag|gesamtbetrag brutto|total ttc|"
    "montant ttc|net a payer|total a payer|total general|total con iva|"
    "total iva incluido|importe total|total a pagar|totale ivato|"
    "totale iva inclusa|totale da pagare|totale generale|totale complessivo|"
    "totaal incl|totaal inclusief|te betalen|eindtotaal|"
    "total com iva|valor a pagar|total geral|razem brutto|"
    "do zaplaty|suma brutto|wartosc brutto|kwota brutto|lacznie brutto" },
  { QM_CSV_ROW_NET,
    "subtotal|sub total|net|net total|total net|net amount|total excl|"
    "total excluding|total ex|total before tax|merchandise total|"
    "zwischensumme|nettosumme|netto|summe netto|gesamt netto|nettobetrag|"
    "gesamtsumme netto|warenwert|sous total|total ht|montant ht|total net|"
    "net ht|base imponible|total sin iva|total neto|subtotale|imponibile|"
    "totale imponibile|totale netto|totale senza iva|subtotaal|totaal excl|"
    "totaal exclusief|nettototaal|total sem iva|total liquido|"
    "razem netto|suma netto|wartosc netto|kwota netto|suma czesciowa" },
  { QM_CSV_ROW_TAX,
    "tax|vat|sales tax|gst|hst|pst|estimated tax|total tax|tax amount|vat "
    "amount|mwst|mehrwertsteuer|ust|umsatzsteuer|zzgl mwst|zzgl ust|"
    "steuer|steuerbetrag|zuzuglich mwst|tva|montant tva|taxe|iva|importe iva|"
    "cuota iva|impuestos|imposta|btw|btw bedrag|imposto|podatek|vat kwota|"
    "kwota vat|podatek vat|moms" },
  { QM_CSV_ROW_CHARGE,
    "shipping|freight|delivery|handling|shipping and handling|"
    "shipping handling|shipping cost|delivery charge|freight charge|postage|"
    "versand|versandkosten|fracht|frachtkosten|lieferkosten|lieferung|"
    "transportkosten|verpackung|frais de port|port|livraison|transport|"
    "frais de livraison|gastos de envio|envio|portes|transporte|spedizione|"
    "spese di spedizione|trasporto|verzendkosten|verzending|bezorging|frete|"
    "custos de envio|dostawa|wysylka|koszt dostawy|koszty wysylki|fragt|"
    "frakt" },
  { QM_CSV_ROW_DISCOUNT,
    "discount|total discount|less discount|special discount|rabatt|nachlass|"
    "gesamtrabatt|abzgl rabatt|abzuglich rabatt|remise|remise globale|"
    "descuento|sconto|korting|desconto|rabat|upust" },
  { QM_CSV_ROW_TOTAL,
    "total|totals|total amount|total price|sum|gesamt|gesamtsumme|summe|"
    "gesamtpreis|total general ht|totale|totaal|razem|suma|lacznie|"
    "valor total|summa|i alt" },
};

static const char *const field_names[QM_N_CSV_FIELDS] = {
  "ignored",     "number",
  "part_number", "description",
  "quantity",    "unit",
  "price",       "base_quantity",
  "discount",    "discount_percent",
  "charge",      "total",
  "currency",    "vendor",
  "quote",       "issued",
  "valid_from",  "valid_until",
  "note",        "role",
  "alternative", "supersedes",
  "thing"
};

/* Letters that do not come apart into a letter and an accent. */
static const char *
plain_letter (gunichar c)
{
  switch (c)
    {
    case 0x0142: /* l with stroke */
      return "l";
    case 0x00f8: /* o with stroke */
      return "o";
    case 0x00e6:
      return "ae";
    case 0x0153:
      return "oe";
    case 0x0111:
      return "d";
    case '%':
      return " percent ";
    default:
      return NULL;
    }
}

char *
qm_csv_normalize (const char *text)
{
  g_autofree char *valid =
      g_utf8_make_valid (text, (gssize) strnlen (text, LONGEST_NAME));
  g_autofree char *folded = NULL;
  g_autofree char *apart = NULL;
  GString *normal = g_string_new (NULL);

  folded = g_utf8_casefold (valid, -1);
  apart = g_utf8_normalize (folded, -1, G_NORMALIZE_ALL);
  for (const char *p = apart; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (plain_letter (c) != NULL)
        g_string_append (normal, plain_letter (c));
      else if (g_unichar_isalnum (c))
        g_string_append_unichar (normal, c);
      else if (!g_unichar_ismark (c) && normal->len > 0
               && normal->str[normal->len - 1] != ' ')
        g_string_append_c (normal, ' ');
    }
  g_strchomp (normal->str);
  return g_string_free (normal, FALSE);
}

/* Phrases of a list separated by "|", each with a value; those before count. */
static void
add_phrases (GHashTable *table, const char *list, guint value)
{
  g_auto (GStrv) phrases = g_strsplit (list, "|", -1);

  for (guint i = 0; phrases[i] != NULL; i++)
    if (!g_hash_table_contains (table, phrases[i]))
      g_hash_table_insert (table, g_strdup (phrases[i]),
                           GUINT_TO_POINTER (value));
}

/* All phrases of columns' names, and of rows; never changed once they are
 * there. */
static GHashTable *
field_phrases (void)
{
  static GHashTable *table;

  if (g_once_init_enter (&table))
    {
      GHashTable *made =
          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

      for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
        add_phrases (made, fields[i].words, fields[i].field);
      g_once_init_leave (&table, made);
    }
  return table;
}

/* A set of phrases, made once. */
static GHashTable *
phrase_set (GHashTable **set, const char *list)
{
  if (g_once_init_enter (set))
    {
      GHashTable *made =
          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

      add_phrases (made, list, 1);
      g_once_init_leave (set, made);
    }
  return *set;
}

static GHashTable *
row_phrases (void)
{
  static GHashTable *table;

  if (g_once_init_enter (&table))
    {
      GHashTable *made =
          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

      for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
        add_phrases (made, rows[i].words, rows[i].kind);
      g_once_init_leave (&table, made);
    }
  return table;
}

/* The value of a phrase of that length; 0: it is not among them. */
static guint
look_up (GHashTable *table, const char *phrase, gsize length)
{
  char copy[LONGEST_PHRASE + 1];

  if (length > LONGEST_PHRASE)
    return 0;
  memcpy (copy, phrase, length);
  copy[length] = '\0';
  return GPOINTER_TO_UINT (g_hash_table_lookup (table, copy));
}

static QmCsvField
find_field (const char *phrase, gsize length)
{
  return (QmCsvField) look_up (field_phrases (), phrase, length);
}

/* What a name says about tax. */
static int
find_tax (const char *normal)
{
  static const char *const with[] = { "incl",     "inclusive", "including",
                                      "brutto",   "gross",     "ttc",
                                      "ivato",    "inklusive", "inkl",
                                      "incluido", "inclusa",   "inclusief" };
  static const char *const without[] = {
    "excl", "ex",   "excluding", "netto", "net", "ht",    "exkl",
    "zzgl", "neto", "hors",      "sin",   "sem", "senza", "exclusief"
  };
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (with); j++)
        if (strcmp (words[i], with[j]) == 0)
          return 1;
      for (guint j = 0; j < G_N_ELEMENTS (without); j++)
        if (strcmp (words[i], without[j]) == 0)
          return 0;
    }
  return -1;
}

/* Takes currencies, words about tax, and the like off a name. */
static char *
strip_additions (const char *normal)
{
  static const char drop[] =
      "eur|usd|gbp|chf|pln|sek|dkk|nok|czk|jpy|cad|aud|euro|euros|in|incl|"
      "excl|inkl|exkl|vat|mwst|ust|tva|iva|btw|tax|gst|ex|zl|kr|zzgl|inc|"
      "without|with|including|excluding|ohne|mit|de|of|the";
  static GHashTable *set;
  GHashTable *dropped = phrase_set (&set, drop);
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  GString *rest = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0' && !g_hash_table_contains (dropped, words[i]))
      g_string_append_printf (rest, "%s%s", rest->len > 0 ? " " : "", words[i]);
  return g_string_free (rest, FALSE);
}

/* A name that begins or ends with a known one: "Unit price per piece". */
static QmCsvField
find_affix (const char *normal)
{
  gsize length = strlen (normal);

  for (gsize n = length; n >= 3; n--)
    if ((normal[n] == ' ' || normal[n] == '\0') && n >= length / 2)
      {
        QmCsvField field = find_field (normal, n);

        if (field != QM_CSV_IGNORED)
          return field;
      }
  for (gsize i = 1; i + 3 <= length && i <= length / 2; i++)
    if (normal[i - 1] == ' ')
      {
        QmCsvField field = find_field (normal + i, length - i);

        if (field != QM_CSV_IGNORED)
          return field;
      }
  return QM_CSV_IGNORED;
}

/* Prices that nobody pays, and taxes: known, and not wanted. */
static gboolean
is_unwanted (const char *normal)
{
  static const char list[] =
      "list price|listenpreis|msrp|rrp|uvp|list|retail price|prix public|"
      "prix catalogue|precio de lista|prezzo di listino|catalogusprijs|"
      "cena katalogowa|tax|vat|vat percent|tax percent|mwst|mwst percent|ust|"
      "tva|tva percent|iva|iva percent|btw|btw percent|tax rate|vat rate|"
      "steuersatz|tax amount|vat amount|stawka vat|kwota vat|availability|"
      "lead time|delivery time|lieferzeit|delivery|delai|plazo de entrega|"
      "levertijd|list price each|unit list price|gpus|catalog item|weight|"
      "warranty|garantie|eta|stock";

  static GHashTable *set;

  return g_hash_table_contains (phrase_set (&set, list), normal);
}

QmCsvField
qm_csv_field_of (const char *name, int *tax)
{
  g_autofree char *normal = NULL;
  g_autofree char *stripped = NULL;
  QmCsvField field;

  *tax = -1;
  if (strnlen (name, LONGEST_HEADER + 1) > LONGEST_HEADER
      || name[strspn (name, " .,-0123456789")] == '\0')
    return QM_CSV_IGNORED;
  normal = qm_csv_normalize (name);
  if (normal[0] == '\0' || is_unwanted (normal))
    return QM_CSV_IGNORED;
  field = find_field (normal, strlen (normal));
  stripped = strip_additions (normal);
  if (field == QM_CSV_IGNORED && stripped[0] != '\0' && !is_unwanted (stripped))
    {
      field = find_field (stripped, strlen (stripped));
      if (field == QM_CSV_IGNORED)
        field = find_affix (stripped);
    }
  if (field != QM_CSV_IGNORED)
    *tax = find_tax (normal);
  if (field == QM_CSV_DISCOUNT && strstr (normal, "percent") != NULL)
    field = QM_CSV_DISCOUNT_PERCENT;
  return field;
}

static guint
count_words (const char *normal)
{
  guint n = 0;

  for (; *normal != '\0'; normal++)
    n += *normal == ' ';
  return n;
}

/* Without rates: "zzgl 19 percent mwst" is "zzgl mwst". */
static char *
strip_rates (const char *normal)
{
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  GString *rest = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][strspn (words[i], "0123456789")] != '\0'
        && strcmp (words[i], "percent") != 0)
      g_string_append_printf (rest, "%s%s", rest->len > 0 ? " " : "", words[i]);
  return g_string_free (rest, FALSE);
}

QmCsvRowKind
qm_csv_row_kind_of (const char *words)
{
  g_autofree char *whole = qm_csv_normalize (words);
  g_autofree char *normal = strip_rates (whole);
  gsize length = strlen (normal);
  QmCsvRowKind kind = QM_CSV_ROW_LINE;
  gsize longest = 0;

  /* The longest phrase that it begins with; the rest says which tax, or of
   * what. */
  for (gsize n = 1; n <= MIN (length, LONGEST_PHRASE); n++)
    if (normal[n] == ' ' || normal[n] == '\0')
      {
        guint found = look_up (row_phrases (), normal, n);

        if (found != 0)
          {
            kind = (QmCsvRowKind) found;
            longest = n;
          }
      }
  if (length > longest + LONGEST_REST || count_words (normal + longest) > 4)
    return QM_CSV_ROW_LINE;
  if (kind == QM_CSV_ROW_TOTAL && find_tax (normal) == 1)
    return QM_CSV_ROW_PAYABLE;
  if (kind == QM_CSV_ROW_TOTAL && find_tax (normal) == 0)
    return QM_CSV_ROW_NET;
  return kind;
}

const char *
qm_csv_field_name (QmCsvField field)
{
  g_return_val_if_fail (field < QM_N_CSV_FIELDS, "");
  return field_names[field];
}

QmCsvField
qm_csv_field_named (const char *name)
{
  int field = 0;

  while (field < QM_N_CSV_FIELDS && g_strcmp0 (field_names[field], name) != 0)
    field++;
  return (QmCsvField) field;
}

const char *
qm_csv_field_label (QmCsvField field)
{
  static const char *const labels[QM_N_CSV_FIELDS] = {
    N_ ("Not used"),
    N_ ("Line number"),
    N_ ("Part number"),
    N_ ("Description"),
    N_ ("Quantity"),
    N_ ("Unit"),
    N_ ("Unit price"),
    N_ ("Price is for this many"),
    N_ ("Discount"),
    N_ ("Discount in percent"),
    N_ ("Surcharge"),
    N_ ("Line total"),
    N_ ("Currency"),
    N_ ("Vendor"),
    N_ ("Quote number"),
    N_ ("Date of issue"),
    N_ ("Valid from"),
    N_ ("Valid until"),
    N_ ("Note"),
    N_ ("Role of the line"),
    N_ ("Alternative of the quote"),
    N_ ("Number of the quote it replaces"),
    N_ ("What the line sells"),
  };

  g_return_val_if_fail (field < QM_N_CSV_FIELDS, "");
  return _ (labels[field]);
}
