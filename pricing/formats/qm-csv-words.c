/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-words.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* No name of a column is longer, in bytes. */
#define LONGEST_HEADER 100
/* No name with words that are cut short has more bytes, or words. */
#define LONGEST_SHORT 40
#define MOST_SHORT    4

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
    "codice|codice articolo|codice prodotto|cod articolo|part nr|artikelcode|"
    "onderdeelnummer|productcode|codigo do produto|cod produto|numero da peca|"
    "kod|kod produktu|numer katalogowy|nr katalogowy|indeks|numer czesci|"
    "symbol|model number|model no|catalog number|vendor part number|"
    "supplier part number|varenr|varenummer|ean" },
  { QM_CSV_DESCRIPTION,
    "description|product|item|product name|item description|name|model|"
    "product description|part description|line description|component|"
    "beschreibung|bezeichnung|artikel|artikelbezeichnung|produkt|"
    "produktbezeichnung|leistung|text|designation|libelle|produit|article|"
    "desc|descripcion|producto|articulo|concepto|denominacion|descrizione|"
    "prodotto|articolo|denominazione|omschrijving|artikelomschrijving|"
    "beschrijving|descricao|produto|artigo|designacao|opis|nazwa|nazwa towaru|"
    "nazwa produktu|towar|produkt opis|hardware|goods|beskrivelse|beskrivning|"
    "popis|kuvaus|benamning|przedmiot|przedmiot oferty|asortyment|"
    "wyszczegolnienie|bez|art bez|art bezeichnung|artikel bez|"
    "artikel bezeichnung|leistungsbeschreibung|prestation|intitule|servicio|"
    "descricao do produto|descricao dos produtos|descricao do item|"
    "descricao do servico|especificacao|discriminacao|"
    "descripcion del producto|descripcion del articulo|descripcion del bien|"
    "descrizione prodotto|descrizione articolo|descrizione del prodotto|"
    "descrizione dell articolo|description du produit|"
    "description de l article|designation du produit|"
    "designation de l article|designation des articles|opis produktu|"
    "opis towaru|bezeichnung der leistung|positionstext|"
    "omschrijving product|productomschrijving|description of goods" },
  { QM_CSV_QUANTITY,
    "quantity|qty|count|units|pieces|pcs|amount ordered|menge|anzahl|stuck|"
    "stuckzahl|stk|quantite|qte|nombre|cantidad|cant|uds|unidades|quantita|"
    "q ta|qta|pezzi|aantal|hoeveelheid|quantidade|qtd|qtde|quant|ilosc|liczba|"
    "anz|nodes|no of nodes|number of nodes|no of servers|no of systems|"
    "number of units|no units|anzahl knoten|anzahl server|nombre de noeuds|"
    "numero de nodos|sztuk|szt|antal|mnozstvi|maara|qnty|no of "
    "units|stueckzahl|total qty|total quantity|qty total|quantity total|"
    "gesamtmenge|gesamtanzahl|quantite totale|cantidad total|quantita totale|"
    "totaal aantal|quantidade total|ilosc razem" },
  { QM_CSV_UNIT,
    "unit|uom|unit of measure|einheit|einh|mengeneinheit|me|unite|unidad|"
    "unidad de medida|unita|unita di misura|um|u m|eenheid|unidade|jednostka|"
    "jednostka miary|jm|j m|jedn|enhed|enhet" },
  { QM_CSV_PRICE,
    "price|unit price|price per unit|price each|each|price ea|net price|"
    "unit cost|cost|cost per unit|unit net price|net unit price|your price|"
    "sell price|sale price|selling price|preis|einzelpreis|stuckpreis|"
    "stueckpreis|preis stuck|preis pro stuck|preis je stuck|e preis|ep|"
    "nettopreis|einzelpreis netto|netto einzelpreis|preis netto|"
    "stuckpreis netto|bruttopreis|einzelpreis brutto|preis brutto|prix|"
    "prix unitaire|pu|p u|pu ht|prix unitaire ht|prix ht|prix net|"
    "prix unitaire net|pu ttc|prix unitaire ttc|prix ttc|precio|"
    "precio unitario|precio unidad|p unitario|precio neto|coste unitario|"
    "prezzo|prezzo unitario|prezzo netto|prezzo unit|prijs|stukprijs|"
    "eenheidsprijs|prijs per stuk|netto prijs|nettoprijs|preco|preco unitario|"
    "preco unit|valor unitario|cena|cena jednostkowa|cena netto|cena jedn|"
    "cena jednostkowa netto|cena brutto|cena jednostkowa brutto|cena za szt|"
    "unitario|unitaire|p unitaire|pr unit|p unit|px unit|px u|prix u|prix "
    "unit|stk preis|preis stk|"
    "preis p st|p stuk|prijs p st|prijs st|prijs p stuk|stuksprijs|valor unit|"
    "vlr unit|v unit|vl unit|cena j|cena szt|cost each|"
    "stykpris|enhedspris|pris|a pris|rate|hourly rate|price per hour|"
    "price hour|prezzo unit|preis pro monat|preis je monat|preis monat|"
    "monatspreis|monatsmiete|mietpreis|monatliche rate|monthly rate|"
    "monthly price|price per month|price month|unit price per month|"
    "prix mensuel|loyer mensuel|prix par mois|precio mensual|precio al mes|"
    "cuota mensual|prezzo mensile|prezzo al mese|canone mensile|canone|"
    "prijs per maand|maandprijs|huurprijs|preco mensal|mensalidade|"
    "valor mensal|cena miesieczna|cena za miesiac|czynsz|loyer|loyers|"
    "mensualite|leasingrate|monatsrate|miete|huur|renda|"
    "unit ex vat|unit exc vat|unit excl vat|each ex vat" },
  { QM_CSV_BASE_QUANTITY,
    "per|price per|base quantity|price unit|pe|preiseinheit|pro" },
  { QM_CSV_DISCOUNT,
    "discount|discount amount|line discount|rabatt|rabattbetrag|nachlass|"
    "remise|montant remise|descuento|dto|sconto|korting|desconto|rabat|upust|"
    "reduction|rabais|ristourne|nachlass betrag|bonificacion" },
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
    "gesamt preis|ges preis|"
    "gesamt brutto|gesamtpreis brutto|montant|montant ht|total ht|prix total|"
    "total ligne|prix total ht|montant net|total ttc|montant ttc|importe|"
    "importe total|precio total|total linea|importe neto|importo|totale|"
    "prezzo totale|totale riga|imponibile|totaal|totaalprijs|bedrag|"
    "regeltotaal|totaal excl btw|totaal incl btw|valor total|preco total|"
    "montante|valor|mt|mnt|mt total|mnt total|vlr total|vl total|px total|"
    "wartosc|wartosc netto|razem|suma|kwota|kwota netto|"
    "wartosc brutto|belob|summa|sum|celkem|totale mensile|monthly total|"
    "total mensuel|total mensual|total loyers|total des loyers|gesamtmiete|"
    "summe raten|summe der raten|"
    "total cuotas|totale canoni|totaal huur|totaal termijnen|suma rat|line ex "
    "vat|line exc vat|line excl vat|line inc vat" },
  { QM_CSV_CURRENCY,
    "currency|ccy|curr|currency code|wahrung|waehrung|devise|monnaie|moneda|"
    "divisa|valuta|munt|moeda|waluta|mena" },
  { QM_CSV_VENDOR,
    "vendor|supplier|seller|vendor name|supplier name|reseller|company|"
    "lieferant|anbieter|verkaufer|handler|firma|fournisseur|vendeur|proveedor|"
    "vendedor|fornitore|venditore|leverancier|verkoper|fornecedor|dostawca|"
    "sprzedawca|oferent|leverandor" },
  { QM_CSV_QUOTE,
    "quote|quote number|quote no|quotation|quotation number|quotation no|"
    "quote id|quote ref|quote reference|offer|offer number|offer no|angebot|"
    "angebotsnummer|angebot nr|angebots nr|angebotsnr|devis|numero de devis|"
    "devis no|devis n|offre|presupuesto|numero de presupuesto|presupuesto no|"
    "oferta|cotizacion|numero de oferta|preventivo|numero preventivo|offerta|"
    "offerte|offertenummer|offerte nr|orcamento|numero do orcamento|proposta|"
    "cotacao|oferta nr|numer oferty|nr oferty|tilbud|proposal|devis numero|"
    "presupuesto n|preventivo n|orcamento n o|numero orcamento|"
    "numero proposta|proposta n|nr oferta|offerte no|angebot nummer|"
    "angebots nummer|proposta comercial|oferta comercial|offre commerciale|"
    "offre de prix|offerta commerciale|kostenvoranschlag|price quotation|"
    "quotation ref|commercial proposal|proposal number|proposal no|"
    "unser angebot|notre offre|onze offerte|soumission|soumission "
    "no|proposition|proposition no|proposition commerciale|"
    "numero de soumission|no de soumission|soumission n|"
    "anbot|anbot nr|anbotsnummer|oferta handlowa nr|oferta handlowa|our ref" },
  { QM_CSV_ISSUED,
    "date|quote date|issue date|issued|issued on|quotation date|offer date|"
    "datum|vom|d d|angebotsdatum|ausgestellt am|date du devis|date d "
    "emission|fecha|"
    "fecha de emision|data|data preventivo|data offerta|data di emissione|"
    "offertedatum|data de emissao|data do orcamento|data oferty|"
    "data wystawienia|dato|date of quotation|date of quote|date of issue|"
    "date of offer|dated|datum des angebots|date de l offre|"
    "date d etablissement|en date du|fecha de la oferta|fecha del presupuesto|"
    "fecha presupuesto|data del preventivo|data emissione|datum offerte|"
    "offerte datum|data da proposta|data proposta|data sporzadzenia|"
    "data wystawienia oferty|z dnia|proposal date|date of proposal|"
    "offertdatum|offre du|devis du|fecha de oferta|data da proposta "
    "comercial|prepared on|prepared|date prepared|prepared date|emissao|data "
    "emissao" },
  { QM_CSV_VALID_FROM,
    "valid from|gultig ab|gueltig ab|gultig von|valable a partir du|"
    "valido desde|valido dal|geldig vanaf|valido de|wazna od" },
  { QM_CSV_VALID_UNTIL,
    "vigencia|vigencia de la oferta|vigente hasta|valid until|valid to|valid "
    "till|valid|valid for|prices valid|"
    "prices valid until|offer valid until|quote valid until|offer valid|"
    "quote valid through|quotation valid until|validity period|"
    "period of validity|validity|expires|expires on|expiry|expiration|"
    "expiration date|expiry date|quote expires|valid thru|good through|"
    "good until|good thru|offer good through|quote good through|firm until|"
    "prices firm until|zuschlags und bindefrist|bindefrist bis|valid "
    "through|gultig bis|"
    "gueltig bis|angebot gultig bis|bindefrist|angebotsbindefrist|gultig|"
    "gultigkeit|gultigkeit des angebots|angebotsgultigkeit|preise gultig bis|"
    "preisbindung bis|preisbindung|valable jusqu au|valable jusqu|"
    "validite de l offre|validite du devis|valide jusqu au|"
    "offre valable jusqu au|devis valable jusqu au|fin de validite|validite|"
    "date de validite|fin de validite|valido hasta|validez|fecha de validez|"
    "validez de la oferta|validez del presupuesto|oferta valida hasta|"
    "valida hasta|valido fino al|validita|scadenza|geldig tot|geldigheid|"
    "geldigheidsduur|offerte geldig tot|geldig t m|valido ate|valida ate|"
    "proposta valida ate|validade da proposta|validade do orcamento|validade|"
    "wazna do|wazne do|termin waznosci|waznosc oferty|waznosc|oferta wazna do|"
    "oferta wazna|termin zwiazania oferta|validita offerta|"
    "validita dell offerta|offerta valida fino al|valida fino al|"
    "expiry of quote|validita preventivo|preise gultig|prix valables|"
    "precios validos|prezzi validi|prijzen geldig|precos validos|ceny wazne|"
    "valable|devis valable|offre valable|valida por|valido por|valida per|"
    "valido per|valida|valido|valide|geldig|gultig fur|angebot gultig|wazna|"
    "wazna przez|oferta valida|offerta valida|offerte geldig|pricing valid|"
    "pricing valid through|pricing valid until|prices valid through|"
    "prices are valid until|quotation valid|quote valid|prices held until|"
    "pricing held until|price held until|prices firm until|vervaldatum|"
    "vervaldatum offerte|freibleibend bis|angebot freibleibend bis" },
  { QM_CSV_NOTE,
    "note|notes|comment|comments|remark|remarks|bemerkung|bemerkungen|"
    "anmerkung|kommentar|hinweis|remarque|commentaire|nota|notas|"
    "observaciones|comentario|osservazioni|opmerking|opmerkingen|observacoes|"
    "uwagi|komentarz" },
  { QM_CSV_ALTERNATIVE,
    "option|option no|wahlposition|eventualposition|bedarfsposition|optional|"
    "opcional|opzionale|optionnel|optioneel|opcjonalnie|facultatif|"
    "facultatief|facoltativo|en option|als "
    "optie|variante|variant|alternative|alternativa|alternatief|"
    "opcion|opzione|optie|opcao|opcja|wariant|alternatywa|"
    "alternative of the quote" },
  { QM_CSV_ROLE, "role" },
  { QM_CSV_SUPERSEDES, "supersedes quote" },
  { QM_CSV_THING, "sells" },
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
  "note",        "total_gross",
  "alternative", "role",
  "supersedes",  "thing"
};

/* All phrases of columns' names, and of rows; never changed once they are
 * there. */
static GHashTable *
field_phrases (void)
{
  static GHashTable *table;

  if (g_once_init_enter (&table))
    {
      GHashTable *made = qm_csv_phrases_new ();

      for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
        qm_csv_phrases_add (made, fields[i].words, fields[i].field);
      g_once_init_leave (&table, made);
    }
  return table;
}

static QmCsvField
find_field (const char *phrase, gsize length)
{
  return (QmCsvField) qm_csv_phrases_find (field_phrases (), phrase, length);
}

/* "Price per node": a price whatever it is of, but for a number of pieces. */
static gboolean
is_price_of_one (const char *normal)
{
  static const char *const beginnings[] = {
    "price per ",  "cost per ",   "preis pro ", "preis je ",  "prix par ",
    "precio por ", "prezzo per ", "prijs per ", "preco por ", "cena za ",
  };

  for (guint i = 0; i < G_N_ELEMENTS (beginnings); i++)
    if (g_str_has_prefix (normal, beginnings[i]))
      return g_ascii_isalpha (normal[strlen (beginnings[i])]);
  return FALSE;
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
      "warranty|garantie|eta|stock|due date|delivery date|lieferdatum|"
      "liefertermin|date de livraison|fecha de entrega|data di consegna|"
      "leverdatum|data de entrega|data dostawy";

  static GHashTable *set;

  return g_hash_table_contains (qm_csv_phrases_once (&set, list), normal);
}

typedef struct
{
  char *words[MOST_SHORT];
  gboolean is_cut[MOST_SHORT]; /* a point stands behind it */
  guint n;
} ShortName;

static void
short_name_clear (ShortName *name)
{
  for (guint i = 0; i < name->n; i++)
    g_free (name->words[i]);
}

/* The words of a name without what qm_csv_strip_additions() leaves out.  FALSE:
 * none of them is cut short, or it is no name. */
static gboolean
split_short (const char *text, ShortName *name)
{
  g_auto (GStrv) all = g_strsplit_set (text, " \t\n()[]/-:", -1);
  gboolean any = FALSE;

  for (guint i = 0; all[i] != NULL; i++)
    {
      g_autofree char *normal = qm_csv_normalize (all[i]);
      g_autofree char *stripped = qm_csv_strip_additions (normal);

      if (stripped[0] == '\0' || strcmp (stripped, "percent") == 0)
        continue;
      if (name->n == MOST_SHORT || strchr (stripped, ' ') != NULL)
        return FALSE;
      name->is_cut[name->n] =
          strlen (stripped) >= 2 && g_str_has_suffix (all[i], ".");
      any = any || name->is_cut[name->n];
      name->words[name->n++] = g_steal_pointer (&stripped);
    }
  return any;
}

static gboolean
is_short_for (const ShortName *name, const char *phrase)
{
  for (guint i = 0; i < name->n; i++)
    {
      gsize n = strlen (name->words[i]);

      if (strncmp (phrase, name->words[i], n) != 0)
        return FALSE;
      phrase += n;
      if (name->is_cut[i])
        phrase += strcspn (phrase, " ");
      if (*phrase != (i + 1 < name->n ? ' ' : '\0'))
        return FALSE;
      phrase += *phrase == ' ';
    }
  return TRUE;
}

/* The field of a name with words that are cut short, "Cena jedn. netto": the
 * only one whose names it can be short for. */
static QmCsvField
find_short (const char *text)
{
  ShortName name = { .n = 0 };
  QmCsvField field = QM_CSV_IGNORED;
  GHashTableIter iter;
  gpointer phrase, value;

  if (strchr (text, '.') == NULL || strpbrk (text, "0123456789,;") != NULL
      || strlen (text) > LONGEST_SHORT || !split_short (text, &name))
    {
      short_name_clear (&name);
      return QM_CSV_IGNORED;
    }
  g_hash_table_iter_init (&iter, field_phrases ());
  while (g_hash_table_iter_next (&iter, &phrase, &value))
    if (is_short_for (&name, phrase))
      {
        if (field != QM_CSV_IGNORED && field != GPOINTER_TO_UINT (value))
          {
            field = QM_CSV_IGNORED;
            break;
          }
        field = (QmCsvField) GPOINTER_TO_UINT (value);
      }
  short_name_clear (&name);
  return field;
}

/* Without the rate of a tax: "totaal incl 8 1 percent btw". */
static char *
strip_rate (const char *normal)
{
  const char *end = strstr (normal, " percent ");
  const char *start = end;

  if (end == NULL)
    return g_strdup (normal);
  while (start > normal && (g_ascii_isdigit (start[-1]) || start[-1] == ' '))
    start--;
  return start == end ? g_strdup (normal)
                      : g_strdup_printf ("%.*s%s", (int) (start - normal),
                                         normal, end + strlen (" percent"));
}

/* "Menge / Quantité": the field of names in several languages, if those that
 * are known are one. */
static QmCsvField
field_of_parts (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", 4);
  QmCsvField field = QM_CSV_IGNORED;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      int tax;
      QmCsvField part = strchr (parts[i], '/') == NULL
                            ? qm_csv_field_of (parts[i], &tax)
                            : QM_CSV_IGNORED;

      /* "Remise / Korting %" */
      if (part == QM_CSV_DISCOUNT_PERCENT && field == QM_CSV_DISCOUNT)
        field = part;
      if (part != QM_CSV_IGNORED && field != QM_CSV_IGNORED && part != field)
        return QM_CSV_IGNORED;
      field = part != QM_CSV_IGNORED ? part : field;
    }
  return field;
}

gboolean
qm_csv_fields_suffice (guint seen)
{
  const guint named = 1u << QM_CSV_DESCRIPTION | 1u << QM_CSV_PART_NUMBER
                      | 1u << QM_CSV_ALTERNATIVE;

  return (seen & named) != 0
         && (seen & (1u << QM_CSV_PRICE | 1u << QM_CSV_TOTAL)) != 0;
}

QmCsvField
qm_csv_field_of (const char *name, int *tax)
{
  g_autofree char *normal = NULL;
  g_autofree char *untaxed = NULL;
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
  untaxed = strip_rate (normal);
  stripped = qm_csv_strip_additions (untaxed);
  if (field == QM_CSV_IGNORED && stripped[0] != '\0' && !is_unwanted (stripped))
    {
      field = find_field (stripped, strlen (stripped));
      if (field == QM_CSV_IGNORED)
        field = find_short (name);
      if (field == QM_CSV_IGNORED && is_price_of_one (stripped))
        field = QM_CSV_PRICE;
      if (field == QM_CSV_IGNORED)
        field = find_affix (stripped);
    }
  if (field == QM_CSV_IGNORED && strchr (name, '/') != NULL)
    field = field_of_parts (name);
  if (field != QM_CSV_IGNORED)
    *tax = qm_csv_tax_in (normal);
  if (field == QM_CSV_IGNORED && g_str_has_suffix (normal, " percent"))
    field = find_field (normal, strlen (normal) - strlen (" percent"));
  if (field == QM_CSV_DISCOUNT && strstr (normal, "percent") != NULL)
    field = QM_CSV_DISCOUNT_PERCENT;
  return field;
}

QmCsvField
qm_csv_field_exactly (const char *normal)
{
  return find_field (normal, strlen (normal));
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
    N_ ("Line total with tax"),
    N_ ("Alternative of the quote"),
    N_ ("Role of the line"),
    N_ ("Number of the quote it replaces"),
    N_ ("What the line sells"),
  };

  g_return_val_if_fail (field < QM_N_CSV_FIELDS, "");
  return _ (labels[field]);
}
