"""How does Neo4j Browser open connected? A page beside it takes the password from the fragment of its address.

Neo4j Browser asks for a password, and takes none from an address. The embedded server therefore serves it from a copy of its
jar with one page more, which a private file of the user opens. A fragment is never sent, and replaced at once.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from urllib.parse import quote

PAGE = '<!doctype html><meta charset="utf-8"><title>Neo4j Browser</title><script src="connect.js"></script>\n'

SCRIPT = """\
// #PORT:PASSWORD, of a Neo4j on this machine
const [, port, password] = decodeURIComponent(location.hash).match(/^#(\\d+):(.*)$/);
const host = `bolt://127.0.0.1:${port}`;
const id = "$$discovery";   // the one connection that Neo4j Browser 5 remembers
const connection = {
  id, name: id, type: "bolt", db: null, host, username: "neo4j", password, authenticationMethod: "NATIVE", authEnabled: true,
};
localStorage.setItem("neo4j.connections", JSON.stringify({
  allConnectionIds: [id], connectionsById: {[id]: connection}, activeConnection: id, connectionState: 1, lastUpdate: Date.now(),
  useDb: null, lastUseDb: "neo4j",
}));
location.replace("./" + location.search);
"""


def with_connect_page(jar: Path) -> Path:
    """A copy of Neo4j Browser's jar, beside it, that has `connect.html` as well; made once, whole or not at all."""
    copy = jar.with_name(f"{jar.stem}-connect.jar")
    if copy.is_file():
        return copy
    part = copy.with_name(f".{copy.name}.{os.getpid()}")
    with zipfile.ZipFile(jar) as original, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in original.infolist():
            made.writestr(entry, original.read(entry))
        made.writestr("browser/connect.html", PAGE)
        made.writestr("browser/connect.js", SCRIPT)
    return part.replace(copy)


def opening_page(http: str, bolt_port: int, password: str, cypher: str = "") -> str:
    """HTML that leads to Neo4j Browser at `http`, logged in, `cypher` in its editor; for a file that only the user can read."""
    editor = f"?cmd=edit&arg={quote(cypher)}" if cypher else ""
    target = json.dumps(f"{http}/browser/connect.html{editor}#{bolt_port}:{password}")
    return f'<!doctype html><meta charset="utf-8"><title>Neo4j Browser</title><script>location.replace({target})</script>\n'
