-- SPDX-License-Identifier: Apache-2.0
--
-- A store of format 1 with something of everything in it.

PRAGMA application_id = 1366118772;
PRAGMA user_version = 1;

CREATE TABLE vendors (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE quotes (id INTEGER PRIMARY KEY AUTOINCREMENT, vendor INTEGER REFERENCES vendors, number TEXT, note TEXT, currency TEXT NOT NULL, kind TEXT NOT NULL, unit TEXT NOT NULL, issued_on TEXT, valid_from TEXT, valid_until TEXT, tax_included INTEGER, net_minor INTEGER, discount_minor INTEGER, charge_minor INTEGER, tax_minor INTEGER, payable_minor INTEGER, origin TEXT NOT NULL, source TEXT, sha256 TEXT, read_at INTEGER NOT NULL);
CREATE UNIQUE INDEX quotes_by_document ON quotes (sha256, ifnull (source, '')) WHERE sha256 IS NOT NULL;
CREATE INDEX quotes_by_vendor ON quotes (vendor);
CREATE TABLE lines (quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE, position INTEGER NOT NULL, role TEXT NOT NULL, number TEXT, part_number TEXT, description TEXT, unit TEXT, quantity_micros INTEGER, price_micros INTEGER, base_quantity_micros INTEGER, discount_minor INTEGER, charge_minor INTEGER, total_minor INTEGER, match TEXT NOT NULL, item TEXT, gpus INTEGER NOT NULL, candidates TEXT, PRIMARY KEY (quote, position)) WITHOUT ROWID;
CREATE INDEX lines_by_item ON lines (item) WHERE item IS NOT NULL;
CREATE TABLE findings (quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE, position INTEGER NOT NULL, level TEXT NOT NULL, place TEXT, message TEXT NOT NULL, PRIMARY KEY (quote, position)) WITHOUT ROWID;
CREATE TABLE attachments (id INTEGER PRIMARY KEY, quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE, sha256 TEXT NOT NULL, name TEXT, media_type TEXT, size INTEGER NOT NULL, bytes BLOB);
CREATE INDEX attachments_by_quote ON attachments (quote);
CREATE TABLE rate_sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE rates (currency TEXT NOT NULL, date TEXT NOT NULL, nanos INTEGER NOT NULL, source INTEGER NOT NULL REFERENCES rate_sources, PRIMARY KEY (currency, date)) WITHOUT ROWID;

INSERT INTO vendors (id, name) VALUES (1, 'Delta Computing'), (2, 'Königsweg');
INSERT INTO quotes VALUES
(1, 1, 'Q-1', 'Five weeks; freight included', 'USD', 'quote', 'each', '2026-03-01', NULL, '2026-04-30', 0, 3000000, NULL, 20000, NULL, 3020000, 'ubl', 'q-1.xml', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 1772400000),
(3, 2, NULL, NULL, 'EUR', 'quote', 'each', '2026-05', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'csv', 'list.csv', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 1772400001),
(4, NULL, '', NULL, '', 'cloud', 'hour', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'hand', NULL, NULL, 0);
INSERT INTO lines VALUES
(1, 0, 'quoted', '1', '900-21010', 'NVIDIA H100 80GB', 'EA', 1000000, 30000000000, 1000000, 0, 0, 3000000, 'found', 'h100-80gb-sxm', 1, NULL),
(1, 1, 'part', '1.1', NULL, 'Heat sink', NULL, NULL, NULL, 1000000, 0, 0, NULL, 'none', NULL, 0, NULL),
(3, 0, 'quoted', NULL, NULL, 'RTX 6000', NULL, 2000000, 7100500000, 1000000, 0, 0, NULL, 'ambiguous', NULL, 0, 'a6000;rtx6000-ada');
INSERT INTO findings VALUES (1, 0, 'warning', 'line 1', 'does not add up');
INSERT INTO attachments (id, quote, sha256, name, media_type, size, bytes) VALUES
(1, 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'q-1.xml', 'application/xml', 3, x'3c712f'),
(2, 3, 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'list.csv', 'text/csv', 9000000, NULL),
(3, 4, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'again.xml', NULL, 3, NULL);
INSERT INTO rate_sources (id, name) VALUES (1, 'https://www.ecb.europa.eu/');
INSERT INTO rates VALUES ('USD', '2026-03-02', 1084000000, 1), ('JPY', '2026-03-02', 162350000000, 1);
