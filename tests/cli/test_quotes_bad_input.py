# SPDX-License-Identifier: Apache-2.0
"""quartermaster quotes: of what cannot be trusted nothing is stored."""

import os
import resource
import sqlite3
import threading

import harness
from quotes import OFFER, SAMPLES, QuotesTest

ASK = ("--model", "pythia-1b", "--budget", "150k")


class BadInputTest(QuotesTest):
    def test_documents(self):
        ubl = ('xmlns="urn:oasis:names:specification:ubl:schema:xsd:'
               'Quotation-2"')
        bomb = "".join('<!ENTITY a%d "%s">' % (i, "&a%d;" % (i - 1) * 10)
                       for i in range(1, 9))
        with open(os.path.join(SAMPLES, "server.xml"),
                  encoding="utf-8") as file:
            whole = file.read()
        documents = {
            "empty": "",
            "blank": "   \n",
            "nul.csv": b"a,b\0,c\n1,2,3\n",
            "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
            "offer.pdf": b"%PDF-1.7\n" + bytes(100),
            "table.xlsx": b"PK\x03\x04" + bytes(100),
            "cut.xml": whole[:2000],
            "order.xml": '<Order xmlns="urn:oasis:names:specification:ubl:'
                         'schema:xsd:Order-2"/>',
            "external.xml": '<!DOCTYPE q [<!ENTITY x SYSTEM '
                            '"file:///etc/passwd">]><Quotation %s>&x;'
                            '</Quotation>' % ubl,
            "bomb.xml": '<!DOCTYPE q [<!ENTITY a0 "ha">%s]><Quotation %s>'
                        '&a8;</Quotation>' % (bomb, ubl),
            "deep.xml": "<Quotation %s>%s" % (ubl, "<a>" * 100000),
            "deep.json": "[" * 100000,
            "other.json": '{"format": "something else", "quotes": []}',
            "list.json": "[1, 2, 3]",
            "mixed.csv": OFFER.replace("0.10;USD", "0.10;EUR"),
            "header.csv": OFFER.splitlines()[0] + "\n",
            "open.csv": 'item,price\n"never closed,1\n',
            "invoice.html": "<html><body>Nothing</body></html>",
        }
        for name, data in documents.items():
            with self.subTest(name=name):
                self.refuse_quotes("import", self.write(name, data),
                                   says="" if name == "blank" else name)
        self.assertFalse(os.path.exists(self.store_path()))

    def test_large_documents(self):
        with open(self.path("large.xml"), "wb") as file:
            file.write(b"<Quotation>")
            file.truncate(1 << 31)
        with open(self.path("large.csv"), "wb") as file:
            file.write(b"item,price\n")
            for _ in range(100):
                file.write(b"a,1\n" * 200000)
        for name in ("large.xml", "large.csv"):
            self.refuse_quotes("import", self.path(name), says=name)

    def test_endless(self):
        """Of what does not end, no more is read than a document may have."""
        for beginning, most in ((b"<Quotation>", 8 << 20), (b"{", 8 << 20),
                                (b"a,b\n", 64 << 20)):
            os.mkfifo(self.path("pipe"))
            done = []

            def write():
                piece = b" " * (1 << 16)
                written = 0
                with open(self.path("pipe"), "wb", buffering=0) as pipe:
                    pipe.write(beginning)
                    try:
                        while written < 1 << 30:
                            written += pipe.write(piece)
                    except BrokenPipeError:
                        pass
                done.append(written)
            writer = threading.Thread(target=write)
            writer.start()
            self.refuse("quotes", "import", self.path("pipe"), says="pipe")
            writer.join()
            self.assertLess(done[0], most + (1 << 20))
            os.remove(self.path("pipe"))

    def test_files(self):
        self.refuse_quotes("import", "nowhere.xml", says="nowhere.xml")
        self.refuse_quotes("import", self.home, says="directory")
        self.refuse_quotes("import", says="needed")
        self.refuse_quotes("import", "ftp://localhost/a.csv", says="ftp")
        self.refuse_quotes("import", "file:///etc/passwd", says="file")
        if os.getuid() != 0:
            path = self.write("secret.csv", OFFER)
            os.chmod(path, 0)
            self.refuse_quotes("import", path, says="secret.csv")

    def test_arguments(self):
        for arguments, says in (
                (("impotr",), "did you mean 'import'"),
                (("list", "--sort", "price"), "choose"),
                (("list", "--valid-on", "tomorrow"), "2026-12-31"),
                (("list", "--limit", "0"), "--limit"),
                (("list", "all"), "unexpected"),
                (("show",), "number"), (("show", "x"), "'x'"),
                (("show", "1", "2"), "one quote"),
                (("show", "77"), "no quote 77"),
                (("compare", "1"), "2 to 4"),
                (("compare", "1", "2", "3", "4", "5"), "2 to 4"),
                (("export", "1"), "--format"),
                (("export", "1", "--format", "doc"), "doc"),
                (("delete",), "number"), (("delete", "0"), "'0'"),
                (("delete", "5"), "no quote 5"),
                (("restore", "5"), "no deleted quote 5"),
                (("rates",), "update"), (("rates", "guess"), "update"),
                (("rates", "show", "EURO"), "EURO"),
                (("rates", "show", "EUR", "XYZ"), "XYZ"),
                (("rates", "show", "EUR", "USD", "DKK"), "two"),
                (("rates", "update", "EUR"), "neither"),
                (("history",), "needed"), (("history", "h1000"), "h1000"),
                (("fetch",), "--add"), (("fetch", "--item", "l40s"), "--add"),
                (("fetch", "--add", "ftp://a/"), "ftp"),
                (("fetch", "--add", "http://a/", "--item", "x"), "'x'"),
                (("fetch", "http://127.0.0.1/"), "not watched"),
                (("fetch", "--remove", "http://a/"), "not watched"),
                (("fetch", "--list", "--remove", "http://a/"), "exclude")):
            with self.subTest(arguments=arguments):
                self.refuse_quotes(*arguments, says=says)

    def test_store_out_of_sight(self):
        """Where it cannot be seen whether there is a store, it is not said that
        there are no quotes."""
        os.chmod(self.home, 0o755)
        os.symlink("loop", self.path("loop"))
        os.mkdir(self.path("closed"), 0o700)
        cases = [("loop", {})]
        if os.getuid() == 0:
            cases.append(("closed", {"user": 65534}))
        else:
            os.chmod(self.path("closed"), 0)
            cases.append(("closed", {}))
        for folder, options in cases:
            options["env"] = {"XDG_DATA_HOME": self.path(folder)}
            with self.subTest(folder):
                for verb in ("list", "export"):
                    more = (("1", "--format", "csv") if verb == "export"
                            else ())
                    self.refuse("quotes", verb, *more, says="quotes.sqlite",
                                **options)
                answer = self.run_program("advise", *ASK, "--json", **options)
                self.assertIn("quotes.sqlite", " ".join(
                    one["message"] for one in answer.json["problems"]))

    def test_stores(self):
        number, = self.add()
        other = self.path("notes.sqlite")
        base = sqlite3.connect(other)
        base.execute("CREATE TABLE notes (text TEXT)")
        base.close()
        self.refuse("quotes", "list", "--store", other, says="notes.sqlite")
        self.refuse("quotes", "import", self.path("offer.csv"), "--store",
                    self.home)
        damaged = self.write("damaged.sqlite", os.urandom(8192))
        self.refuse("quotes", "list", "--store", damaged,
                    says="damaged.sqlite")
        base = sqlite3.connect(self.store_path())
        base.execute("PRAGMA user_version = 99")
        base.close()
        self.refuse("quotes", "show", str(number), says="newer")
        # Advice is given without them, and says so, every time.
        for _ in range(2):
            problem, = self.ask(*ASK)["problems"]
            for word in ("newer", "do not count", "--no-quotes"):
                self.assertIn(word, problem["message"])
        self.assertIn("newer", self.run_program("advise", *ASK,
                                                expect=0).text)
        self.assertEqual(self.ask(*ASK, "--no-quotes")["problems"], [])

    def damage(self, page):
        """Overwrites a page of the store; says what is in the file then."""
        with open(self.store_path(), "r+b") as file:
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
            file.seek(0)
            return file.read()

    def change(self, sql):
        base = sqlite3.connect(self.store_path())
        base.execute(sql)
        base.commit()
        base.close()

    def test_one_unreadable(self):
        """One quote that nobody understands takes no other out of the advice,
        and is told of every time."""
        number, = self.add()
        sound = self.ask(*ASK)
        other, = self.add(OFFER.replace("Q-17", "Q-18"), name="b.csv")
        for sql in (
                "UPDATE quotes SET asked = 'zzz' WHERE id = %d",
                "UPDATE quotes SET valid_until = 'r' || substr (valid_until, 2)"
                " WHERE id = %d",
                "UPDATE quotes SET currency = 'uSD' WHERE id = %d",
                "UPDATE lines SET price_micros = 'abc' WHERE quote = %d"):
            self.change(sql % other)
            for _ in range(2):
                answer = self.ask(*ASK)
                problem, = answer["problems"]
                self.assertIn("Quote %d in" % other, problem["message"], sql)
                self.assertIn("does not count", problem["message"], sql)
                self.assertEqual(answer["recommendation"],
                                 sound["recommendation"], sql)
                self.assertEqual(answer["quotes"], sound["quotes"], sql)
            listed = self.quotes("list", "--json")
            self.assertEqual(
                [(row["id"], row["broken"], row["holds"])
                 for row in listed.json["quotes"]],
                [(other, True, False), (number, False, True)], sql)
            self.assertIn("Quote %d in" % other, listed.complaint, sql)
            self.refuse("quotes", "show", str(other), says="damaged")
            # What is wrong can be taken away, and the document read again.
            self.quotes("delete", str(other))
            self.assertEqual(self.ask(*ASK)["problems"], [], sql)
            other, = self.add(OFFER.replace("Q-17", "Q-18"), name="b.csv")

    def test_damaged(self):
        """What is readable counts, and that something may be missing is told
        with all advice until somebody has decided."""
        self.add()
        sound = self.ask(*ASK)
        self.assertEqual(sound["problems"], [])
        base = sqlite3.connect(self.store_path())
        page, = base.execute("SELECT rootpage FROM sqlite_master"
                             " WHERE name = 'rates'").fetchone()
        base.close()
        damaged = self.damage(page - 1)
        folder = os.path.dirname(self.store_path())
        before = sorted(os.listdir(folder))

        # Readers change nothing.
        for _ in range(2):
            answer = self.ask(*ASK)
            problem, = answer["problems"]
            for word in ("damaged", "1 of 1 quote", "backups"):
                self.assertIn(word, problem["message"])
            self.assertEqual(answer["recommendation"], sound["recommendation"])
        self.assertIn("1 of 1 quote", self.run_program(
            "advise", *ASK, expect=0).text)
        self.assertIn("damaged", self.quotes("list").complaint)
        self.assertEqual(sorted(os.listdir(folder)), before)
        with open(self.store_path(), "rb") as file:
            self.assertEqual(file.read(), damaged)

        # A writer keeps the file and goes on.
        other, = (quote["id"] for quote in self.quotes(
            "import", self.write("b.csv", OFFER.replace("Q-17", "Q-18")),
            "--json").json["documents"][0]["quotes"])
        kept = [name for name in os.listdir(folder)
                if ".damaged-" in name and not name.endswith(".notice")]
        with open(os.path.join(folder, kept[0]), "rb") as file:
            self.assertEqual(file.read(), damaged)
        for _ in range(2):
            problem, = self.ask(*ASK)["problems"]
            for word in ("damaged", "1 of 1 quote", kept[0], "--accept"):
                self.assertIn(word, problem["message"])
        self.assertIn(kept[0], self.quotes("backups").text)
        self.quotes("backups", "--accept")
        self.assertEqual(self.ask(*ASK)["problems"], [])
        self.assertEqual(self.quotes("list").err, b"")
        self.quotes("delete", str(other))

    def test_backups(self):
        number, = self.add()
        backup, = self.ask_json("backups")["backups"]
        self.assertEqual((backup["quotes"], backup["problem"]), (1, None))
        self.quotes("delete", str(number))
        self.assertEqual(self.stored(), [])
        self.refuse("quotes", "backups", "--restore", "20000101T000000Z",
                    says="20000101T000000Z")
        self.refuse("quotes", "backups", "--restore", "newest", "--accept")
        self.quotes("backups", "--restore", backup["backup"])
        quote, = self.stored()
        self.assertEqual(quote["id"], number)
        # What was there before is a backup, too.
        newest = self.ask_json("backups")["backups"][0]
        self.assertEqual(newest["quotes"], 0)
        self.quotes("backups", "--restore", "newest")
        self.assertEqual(self.stored(), [])
        # The header gone, it is no store any more, but has backups.
        with open(self.store_path(), "r+b") as file:
            file.write(bytes(100))
        self.refuse("quotes", "list", says="no store of quotes")
        problem, = self.ask(*ASK)["problems"]
        self.assertIn("do not count", problem["message"])
        self.quotes("backups", "--restore", backup["backup"])
        self.assertEqual(len(self.stored()), 1)
        # So it has when it is gone.
        os.remove(self.store_path())
        problem, = self.ask(*ASK)["problems"]
        self.assertIn("backups", problem["message"])
        self.quotes("backups", "--restore", backup["backup"])
        self.assertEqual(self.ask(*ASK)["problems"], [])

    def test_erased(self):
        """What was deleted for good is in no file any more."""
        secret = "Confidential Computing of Zwiesel"
        number, = self.add(OFFER.replace("Delta Computers", secret))
        other, = self.add(OFFER.replace("Q-17", "Q-18"), name="other.csv")
        self.assertIn("restore", self.quotes("delete", str(number)).text)
        folder = os.path.dirname(self.store_path())

        def files_with(text):
            found = []
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as file:
                    if text.encode() in file.read():
                        found.append(name)
            return found
        self.assertGreaterEqual(len(files_with(secret)), 2)
        self.quotes("delete", "--erase", str(number))
        self.assertEqual(files_with(secret), [])
        self.refuse("quotes", "restore", str(number))
        self.assertEqual([quote["id"] for quote in self.stored()], [other])
        # And so is what was deleted a month ago, with the next change.
        self.quotes("delete", str(other))
        base = sqlite3.connect(self.store_path())
        base.execute("UPDATE quotes SET deleted_at = deleted_at - 31 * 86400")
        base.commit()
        base.close()
        self.add(name="again.csv")
        self.assertEqual(files_with("Q-18"), [])

    def test_erased_but_kept(self):
        """A damaged file keeps what is erased from the store, which is said."""
        number, = self.add()
        other, = self.add(OFFER.replace("Q-17", "Q-18"), name="other.csv")
        self.assertNotIn("damaged",
                         self.quotes("delete", "--erase", str(other)).text)
        base = sqlite3.connect(self.store_path())
        page, = base.execute("SELECT rootpage FROM sqlite_master"
                             " WHERE name = 'rates'").fetchone()
        base.close()
        self.damage(page - 1)
        for arguments in ((), ("--erase",)):
            said = self.quotes("delete", *arguments, str(number)).text
            kept, = (name for name in os.listdir(
                os.path.dirname(self.store_path()))
                if ".damaged-" in name and not name.endswith(".notice"))
            self.assertIn(kept, said)
            self.assertIn("until you delete that file", " ".join(said.split()))
        # Also when nothing else is told of the damage any more.
        self.quotes("backups", "--accept")
        number, = self.add(name="again.csv")
        self.assertIn(kept,
                      self.quotes("delete", "--erase", str(number)).text)

    def test_no_space(self):
        """Where nothing can be written any more, reading goes on."""
        number, = self.add()
        sound = self.ask(*ASK)

        def fill_disk():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        full = dict(preexec_fn=fill_disk, restore_signals=False)
        self.assertEqual(self.ask(*ASK, **full), sound)
        self.assertIn("Q-17", self.quotes("list", **full).text)
        self.quotes("show", str(number), **full)
        self.write("b.csv", OFFER.replace("Q-17", "Q-18"))
        self.refuse("quotes", "import", "b.csv", says="quotes.sqlite", **full)
        self.assertEqual(self.ask(*ASK), sound)

    def test_may_not_be_written(self):
        """Reading goes on where nothing may be written."""
        number, = self.add()
        sound = self.ask(*ASK)
        os.chmod(self.store_path(), 0o444)
        folder = os.path.dirname(self.store_path())
        before = sorted(os.listdir(folder))
        self.assertEqual(self.ask(*ASK), sound)
        self.assertEqual(len(self.stored()), 1)
        self.quotes("show", str(number))
        self.refuse("quotes", "delete", str(number), says="may not be written")
        self.assertEqual(self.ask(*ASK), sound)
        self.assertEqual(sorted(os.listdir(folder)), before)

    def test_no_space_for_output(self):
        number, = self.add()
        with open("/dev/full", "wb") as full:
            result = self.run_program("quotes", "show", str(number),
                                      stdout=full, expect=2)
        self.assertIn("cannot write", result.complaint)


if __name__ == "__main__":
    harness.main()
