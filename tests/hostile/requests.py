"""What do people send who mean harm, or programs that are broken? Seeded, so that what broke something can be sent again.

Each `Sent` is one HTTP request as bytes and headers: bombs of depth, aliases, fragments and directives, batches, Lucene, Cypher
and prompts in every text, any Unicode, ids and cursors of others, wrong types, content types and heads, and bytes changed at
random in what was right."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

from tests.hostile.words import CYPHER, LUCENE, MOMENTS, NUMBERS, PROMPTS, TYPES, UNICODE


@dataclass(frozen=True)
class Sent:
    kind: str
    principal: str
    """A name of World.tokens; empty: without a token."""
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    path: str = "/graphql"


@dataclass(frozen=True)
class Hostile:
    schema: GraphQLSchema
    ids: Sequence[str]
    """Of what the senders should not know."""
    principals: Sequence[str]
    changes: Sequence[str]
    """Those who also try mutations: nothing they may change is what is looked at afterwards."""
    seed: int = 0

    def requests(self, n: int) -> Iterator[Sent]:
        draw = random.Random(self.seed)
        kinds = list(KINDS)
        for i in range(n):
            kind = kinds[i % len(kinds)]
            sent = KINDS[kind](self, draw)
            yield replace(sent, kind=kind, principal=sent.principal or draw.choice(self.principals))

    # --- values ---

    def text(self, draw: random.Random) -> str:
        pick: Sequence[str] = draw.choice((LUCENE, CYPHER, PROMPTS, UNICODE, self.ids, MOMENTS))
        text = "".join(draw.choice(pick) for _ in range(draw.choice((1, 1, 1, 2, 5))))
        if draw.random() < 0.1:
            text += "".join(chr(draw.choice((draw.randrange(0x20, 0x250), draw.randrange(0x110000)))) for _ in range(60))
        return text * draw.choice((1,) * 12 + (40,))

    def value(self, of: GraphQLInputType, draw: random.Random, depth: int = 0) -> Any:
        """For a variable or an argument: mostly of the right kind, so that it gets further than the validation."""
        if draw.random() < 0.06:
            return draw.choice((None, [], {}, 7, "x", [[[]]], {"a": {"b": 1}}))
        if isinstance(of, GraphQLNonNull):
            return self.value(of.of_type, draw, depth)
        if isinstance(of, GraphQLList):
            return [self.value(of.of_type, draw, depth + 1) for _ in range(draw.choice((0, 1, 2, 40)))]
        if isinstance(of, GraphQLEnumType):
            return draw.choice(list(of.values))
        if isinstance(of, GraphQLInputObjectType):
            chosen = {n: f for n, f in of.fields.items() if isinstance(f.type, GraphQLNonNull) or draw.random() < 0.4}
            return {name: self.value(f.type, draw, depth + 1) for name, f in chosen.items()}
        match get_named_type(of).name:
            case "Int" | "Float":
                return draw.choice(NUMBERS)
            case "Boolean":
                return draw.choice((True, False))
            case "DateTime":
                return draw.choice(MOMENTS)
            case "ID":
                return draw.choice(self.ids) if draw.random() < 0.6 else self.text(draw)
        return self.text(draw)

    def field(self, name: str, of: GraphQLField, draw: random.Random) -> tuple[str, dict[str, tuple[str, Any]]]:
        """A root field with variables for its arguments, and what can be selected without more."""
        given = {a: arg for a, arg in of.args.items() if is_required_argument(arg) or draw.random() < 0.5}
        variables = {f"v{i}": (str(arg.type), self.value(arg.type, draw)) for i, arg in enumerate(given.values())}
        arguments = ", ".join(f"{a}: $v{i}" for i, a in enumerate(given))
        return f"{name}{f'({arguments})' if arguments else ''} {self.leaves(of, draw)}", variables

    def leaves(self, of: GraphQLField, draw: random.Random, depth: int = 0) -> str:
        kind = get_named_type(of.type)
        if is_leaf_type(kind):
            return ""
        if isinstance(kind, GraphQLUnionType):
            inner = " ".join(f"... on {t.name} {self.of_type(t, draw, depth)}" for t in kind.types[:1])
            return f"{{ __typename {inner} }}"
        return self.of_type(kind, draw, depth) if isinstance(kind, GraphQLObjectType) else "{ __typename }"

    def of_type(self, of: GraphQLObjectType, draw: random.Random, depth: int) -> str:
        free = [(n, f) for n, f in of.fields.items() if not any(map(is_required_argument, f.args.values()))]
        leaves = [n for n, f in free if is_leaf_type(get_named_type(f.type))]
        below = [(n, f) for n, f in free if n not in leaves]
        chosen = draw.sample(below, min(2, len(below))) if depth < 4 else []
        return "{ __typename " + " ".join((*leaves, *(f"{n} {self.leaves(f, draw, depth + 1)}" for n, f in chosen))) + " }"


def posted(query: str, variables: dict[str, Any] | None = None, principal: str = "", **headers: str) -> Sent:
    body = json.dumps({"query": query, "variables": variables or {}}).encode()
    return Sent("", principal, body, {"content-type": "application/json", **headers})


def _any_field(by: Hostile, draw: random.Random, root: GraphQLObjectType | None, principal: str = "") -> Sent:
    assert root is not None
    name, of = draw.choice(list(root.fields.items()))
    selection, variables = by.field(name, of, draw)
    declared = ", ".join(f"${v}: {kind}" for v, (kind, _) in variables.items())
    operation = {"Query": "query", "Mutation": "mutation", "Subscription": "subscription"}[root.name]
    return posted(
        f"{operation} X{f'({declared})' if declared else ''} {{ {selection} }}",
        {v: x for v, (_, x) in variables.items()},
        principal,
    )


def _queried(by: Hostile, draw: random.Random) -> Sent:
    return _any_field(by, draw, by.schema.query_type)


def _changed(by: Hostile, draw: random.Random) -> Sent:
    return _any_field(by, draw, by.schema.mutation_type, draw.choice(by.changes))


def _subscribed(by: Hostile, draw: random.Random) -> Sent:
    return _any_field(by, draw, by.schema.subscription_type)


def _deep(by: Hostile, draw: random.Random) -> Sent:
    n = draw.choice((13, 15, 60, 170, 400, 900))
    shape = draw.choice(
        ("{ messages { edges { node { %s id %s } } } }", "{ %s __typename %s }", "{ message(id: %s 1 %s) { id } }")
    )
    inner, close = draw.choice(
        (("replyTo {", "}"), ("... on Query {", "}"), ("[", "]"), ("{a:", "}"), ("people { edges { node {", "}}}"))
    )
    return posted(shape % (inner * n, close * n))


def _aliased(by: Hostile, draw: random.Random) -> Sent:
    n = draw.choice((19, 21, 60, 250, 700))
    of = draw.choice(
        ("space { name }", f'message(id: "{draw.choice(by.ids)}") {{ text }}', 'search(query: "a") { __typename }')
    )
    return posted("{ " + " ".join(f"a{i}: {of}" if draw.random() < 0.97 else of for i in range(n)) + " }")


def _fragments(by: Hostile, draw: random.Random) -> Sent:
    n = draw.choice((2, 5, 30, 120, 240))
    on = draw.choice(("Query", "Message", "Nothing"))
    to: Callable[[int], str] = draw.choice(
        (
            lambda i: f"...f{(i + 1) % n}",
            lambda i: " ".join(f"...f{j}" for j in range(i + 1, min(n, i + 12))),
            lambda i: f"...f{i}",
            lambda i: f"...f{i + 1} ...f{i + 1}",
        )
    )
    return posted("{ ...f0 space { name } } " + " ".join(f"fragment f{i} on {on} {{ __typename {to(i)} }}" for i in range(n)))


def _directives(by: Hostile, draw: random.Random) -> Sent:
    directive = draw.choice(
        (
            "@skip(if: false)",
            "@include(if: true)",
            "@nothing",
            "@deprecated",
            "@defer",
            "@stream(initialCount: 0)",
            "@skip(if: $x)",
            "@oneOf",
        )
    )
    return posted(f"query Q($x: Boolean = true) {{ space {directive * draw.choice((1, 2, 50, 300))} {{ name }} }}")


def _repeated(by: Hostile, draw: random.Random) -> Sent:
    n = draw.choice((30, 300, 900))
    return posted(
        draw.choice(
            (
                "{ space { " + "name " * n + "} }",
                "{ " + "space { name } " * (n // 2) + "}",
                "# x\n" * n + "{ space { name } }",
                "{ " + "x" * n * 40 + " }",
                "{ space { name } } " * n,
            )
        )
    )


def _batch(by: Hostile, draw: random.Random) -> Sent:
    one = {"query": "{ space { name } }"}
    body = draw.choice(([one] * draw.choice((1, 50, 2_000)), [], [[one]], [None], [1], {"0": one}))
    return Sent("", "", json.dumps(body).encode(), {"content-type": "application/json"})


def _searched(by: Hostile, draw: random.Random) -> Sent:
    field_, argument, inside = draw.choice(
        (
            ("search", "query", "... on SearchResult { hits { message { id text } } }"),
            ("ask", "question", "... on Answer { text }"),
            ("who", "said", "__typename"),
            ("imageSearch", "text", "__typename"),
            ("sounds", "about", "__typename"),
        )
    )
    query = f"query S($x: String!) {{ {field_}({argument}: $x) {{ __typename {inside if field_ == 'search' else ''} }} }}"
    return posted(query, {"x": by.text(draw)})


def _of_others(by: Hostile, draw: random.Random) -> Sent:
    kind = draw.choice(("", "Message:", "Person:", "Session:", "Fact:", "Entity:", "Job:", "message:", "Person:Person:", ":"))
    id = json.dumps(kind + draw.choice(by.ids))
    query = draw.choice(
        (
            "{ node(id: %s) { __typename id ... on Message { text } ... on Person { displayName } ... on Session { title } } }",
            "{ message(id: %s) { text speaker { displayName } } }",
            "{ person(id: %s) { displayName aliases } }",
            "{ session(id: %s) { title messages(first: 9) { edges { node { text } } } } }",
            "{ messages(sessionId: %s) { edges { node { text } } } }",
            "{ messages(speakerId: %s) { edges { node { text } } } }",
            "{ job(id: %s) { __typename } }",
            "{ explainIdentity(messageId: %s) { __typename } }",
            "{ profile(personId: %s) { __typename } }",
            "{ timeline(person: %s, first: 5) { edges { cursor } } }",
            "{ fact(id: %s) { statement: text } }",
        )
    )
    header = draw.choice(("acting-for", "heard-by", "heard-by-voices", "voice", "nothing"))
    more = {f"x-voicegraph-{header}": draw.choice(by.ids)} if draw.random() < 0.4 else {}
    return posted(query % id, None, "", **more)


def _cursor(by: Hostile, draw: random.Random) -> Sent:
    raw = draw.choice(
        (
            by.text(draw),
            '["x", 1]',
            '{"id": null}',
            "[" * 900,
            "1" * 9_000,
            f'["2026-01-01T00:00:00Z","{draw.choice(by.ids)}"]',
        )
    )
    cursor = draw.choice(
        (raw, base64.urlsafe_b64encode(raw.encode(errors="replace")).decode(), base64.b64encode(draw.randbytes(40)).decode())
    )
    name = draw.choice(("people", "sessions", "messages", "jobs", "facts", "entities", "corrections", "accounts", "deliveries"))
    side = draw.choice(("first: $n, after: $c", "last: $n, before: $c", "first: $n, last: $n, after: $c, before: $c"))
    return posted(
        f"query C($c: String, $n: Int) {{ {name}({side}) {{ edges {{ cursor }} }} }}", {"c": cursor, "n": draw.choice(NUMBERS)}
    )


def _headed(by: Hostile, draw: random.Random) -> Sent:
    sent = posted("{ viewer { __typename } }")
    odd = draw.choice(
        (
            {"content-type": draw.choice(TYPES)},
            {
                "authorization": draw.choice(
                    (
                        "Bearer",
                        "Bearer  ",
                        "Basic eDp5",
                        "bearer vg_" + "x" * 9_000,
                        "Bearer a.b.c",
                        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4IiwiaXNzIjoieCJ9.",
                        "Bearer " + "." * 4_000,
                        "Bearer \xff\xfe",
                    )
                )
            },
            {"x-voicegraph-heard-by": ",".join(["x"] * draw.choice((1, 40, 3_000)))},
            {"x-voicegraph-voice": draw.choice(("x", "0" * 64, "../../tokens.json"))},
            {"x-voicegraph-unknown": "1"},
            {"x-filler": "y" * draw.choice((8_000, 70_000))},
            {"accept": "text/event-stream"},
            {"accept": "multipart/mixed"},
            {"origin": "https://evil.example"},
            {"host": "evil.example"},
            {"x-forwarded-for": "127.0.0.1"},
            {"x-http-method-override": "DELETE"},
            {"content-encoding": "gzip"},
        )
    )
    return replace(sent, headers=sent.headers | odd)


def _elsewhere(by: Hostile, draw: random.Random) -> Sent:
    method = draw.choice(("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "POST"))
    path = draw.choice(
        (
            "/graphql?query={space{name}}",
            "/graphql?query=mutation{x}&variables=[",
            "/v1/uploads",
            "/v1/hooks/x",
            "/v1/hooks/..%2f..",
            "/graphql/",
            "//graphql",
            "/docs",
            "/openapi.json",
            "/readyz",
            "/%2e%2e/tokens.json",
            "/stream",
            "/" + "a" * 6_000,
            "/%ff%00",
        )
    )
    return Sent(
        "",
        "",
        by.text(draw).encode(errors="replace") if method in ("POST", "PUT", "PATCH") else b"",
        {"content-type": "application/json"},
        method,
        path,
    )


def _mangled(by: Hostile, draw: random.Random) -> Sent:
    """A right request with bytes changed, doubled or gone."""
    sent = draw.choice((_queried, _of_others, _cursor, _searched))(by, draw)
    body = bytearray(sent.content)
    for _ in range(draw.choice((1, 3, 20))):
        at = draw.randrange(len(body) + 1)
        body[at : at + draw.choice((0, 1, 9))] = draw.choice(
            (draw.randbytes(3), b"{", b'"', b"\\u0000", b"\x00", b"[" * 50, body[:40], b"1e999")
        )
    return replace(sent, content=bytes(body))


def _introspected(by: Hostile, draw: random.Random) -> Sent:
    return posted(
        draw.choice(
            (
                "{ __schema { types { name fields { name } } } }",
                '{ __type(name: "Message") { fields { name type { name } } } }',
                "{ a: __schema { __typename } }",
                "query { ...x } fragment x on Query { __schema { types { name } } }",
                "{ _service { sdl } }",
                "{ spac { nam } }",
                "{ space { secret } }",
            )
        )
    )


KINDS: dict[str, Callable[[Hostile, random.Random], Sent]] = {
    "query": _queried,
    "mutation": _changed,
    "depth": _deep,
    "alias": _aliased,
    "fragment": _fragments,
    "search": _searched,
    "directive": _directives,
    "id": _of_others,
    "repeat": _repeated,
    "cursor": _cursor,
    "batch": _batch,
    "head": _headed,
    "mangled": _mangled,
    "elsewhere": _elsewhere,
    "id again": _of_others,
    "introspection": _introspected,
    "query again": _queried,
    "subscription": _subscribed,
    "mutation again": _changed,
}
