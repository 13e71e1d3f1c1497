"""Whose a login is, over HTTP: who sees it, who says it, and what a token for it opens as long as it stands."""

from __future__ import annotations

from typing import Any

import pytest

from service.graph.accounts import account_id
from service.graph.driver import Graph
from service.graph.write_people import save_person
from service.types.ids import fresh
from service.types.meeting import AccountKey
from tests.api.serving import Api
from tests.graph.login_builders import a_meeting, signed_in

ZOOM, MAIL = AccountKey("zoom", "u-ana"), AccountKey("mailto", "ana@example.org")
CHANGED = "{ __typename ... on AccountChanged { accountId personId numTurns numSessions } ... on Problem { code } }"
BIND = f"""mutation($issuer: String!, $subject: String!, $person: ID!, $key: String!) {{
  bindAccount(issuer: $issuer, subject: $subject, personId: $person, why: "she said so", idempotencyKey: $key) {CHANGED} }}"""
UNBIND = f"mutation($id: ID!, $key: String!) {{ unbindAccount(accountId: $id, idempotencyKey: $key) {CHANGED} }}"
SHARE = f"mutation($id: ID!, $key: String!) {{ shareAccount(accountId: $id, shared: true, idempotencyKey: $key) {CHANGED} }}"
ACCOUNTS = """query($bound: Boolean) { accounts(first: 9, bound: $bound) { edges { node {
  id issuer subject name shared numSessions numSeveral boundBy why person { id } suggestions { id displayName } } } } }"""
NAME = """mutation($person: ID!, $key: String!) {
  namePerson(personId: $person, name: "Ana Ruiz", idempotencyKey: $key) { __typename } }"""
TEXTS = "{ messages(first: 50) { edges { node { text speaker { id } } } } }"
BY = "{ messages(first: 9) { edges { node { id text } } } }"
WHY = "query($id: ID!) { explainIdentity(messageId: $id) { turn { decision by reason } } }"


class Meeting:
    def __init__(self, api: Api, ana: str, ben: str) -> None:
        self.api, self.ana, self.ben = api, f"Person:{ana}", f"Person:{ben}"
        self.all = api.token("admin", scopes=["ask", "admin", "read_all"])
        self.admin = api.token("keeper", scopes=["ask", "admin"])
        self.own = api.token("ana", person_id=ana)

    async def do(self, query: str, token: str, **variables: Any) -> Any:
        return next(iter((await self.api.data(query, token, key=fresh(), **variables)).values()))

    async def listed(self, token: str, bound: bool | None = None) -> list[Any]:
        found = await self.api.data(ACCOUNTS, token, bound=bound)
        return [edge["node"] for edge in found["accounts"]["edges"]]

    async def reads(self, token: str) -> set[str]:
        return {edge["node"]["text"] for edge in (await self.api.data(TEXTS, token))["messages"]["edges"]}

    async def bind(self, token: str, key: AccountKey, person: str) -> Any:
        return await self.do(BIND, token, issuer=key.issuer, subject=key.subject, person=person)


@pytest.fixture
async def meeting(api: Api, graph: Graph, space: str) -> Meeting:
    ana, ben = fresh(), fresh()
    await graph.write(save_person, space, ana, "Ana")
    await graph.write(save_person, space, ben, "Ben")
    logins = [signed_in(space, "monday", "ana", ZOOM)]
    await a_meeting(graph, space, "monday", [("ana", "the piano"), ("ben", "the ladder")], logins)
    return Meeting(api, ana, ben)


async def test_a_login_is_proposed_by_its_name_bound_and_given_back_by_its_owner(meeting: Meeting) -> None:
    assert await meeting.reads(meeting.own) == set(), "a name opens nothing"
    (found,) = await meeting.listed(meeting.all, bound=False)
    assert [p["id"] for p in found["suggestions"]] == [meeting.ana] and found["person"] is None
    assert await meeting.listed(meeting.own) == [] == await meeting.listed(meeting.admin)
    assert (await meeting.bind(meeting.own, ZOOM, meeting.ana))["__typename"] == "NotAllowed"
    done = await meeting.bind(meeting.admin, ZOOM, meeting.ana)
    assert (done["personId"], done["numTurns"], done["numSessions"]) == (meeting.ana, 1, 1)
    assert await meeting.reads(meeting.own) == {"the piano", "the ladder"}
    (mine,) = await meeting.listed(meeting.own)
    assert (mine["subject"], mine["person"], mine["boundBy"], mine["why"]) == ("u-ana", {"id": meeting.ana}, None, None)
    (told,) = await meeting.listed(meeting.all, bound=True)
    assert told["why"] == "she said so" and told["boundBy"] and told["suggestions"] == []
    read = {e["node"]["text"]: e["node"]["id"] for e in (await meeting.api.data(BY, meeting.own))["messages"]["edges"]}
    why = (await meeting.api.data(WHY, meeting.own, id=read["the piano"]))["explainIdentity"]["turn"]
    assert why == {"decision": "assigned", "by": "account", "reason": "account"}
    assert (await meeting.do(UNBIND, meeting.own, id=mine["id"]))["numTurns"] == 1
    assert await meeting.reads(meeting.own) == set()
    assert (await meeting.do(UNBIND, meeting.own, id=mine["id"]))["__typename"] == "NotFound", "it is not theirs any more"


async def test_somebody_elses_login_is_a_conflict_and_a_shared_one_nobodys(meeting: Meeting) -> None:
    done = await meeting.bind(meeting.admin, ZOOM, meeting.ana)
    refused = await meeting.bind(meeting.admin, ZOOM, meeting.ben)
    assert (refused["__typename"], refused["code"]) == ("Conflict", "account_bound")
    shared = await meeting.do(SHARE, meeting.admin, id=done["accountId"])
    assert (shared["personId"], shared["numTurns"]) == (None, 1)
    assert (await meeting.bind(meeting.admin, ZOOM, meeting.ben))["code"] == "account_shared"
    assert await meeting.reads(meeting.own) == set()


async def test_a_token_for_a_login_asks_as_its_person_while_it_is_bound(meeting: Meeting, space: str) -> None:
    token = meeting.api.token(MAIL.subject, issuer=MAIL.issuer)
    assert await meeting.reads(token) == set()
    await meeting.bind(meeting.admin, ZOOM, meeting.ana)
    done = await meeting.bind(meeting.admin, MAIL, meeting.ana)
    assert await meeting.reads(token) == {"the piano", "the ladder"}
    assert (await meeting.do(NAME, token, person=meeting.ana))["__typename"] == "Named", "as their own token does"
    assert (await meeting.do(NAME, token, person=meeting.ben))["__typename"] == "NotAllowed"
    assert await meeting.reads(meeting.api.token(MAIL.subject, issuer="elsewhere")) == set()
    await meeting.do(UNBIND, meeting.admin, id=done["accountId"])
    assert await meeting.reads(token) == set()
    assert (await meeting.do(NAME, token, person=meeting.ana))["__typename"] == "NotAllowed"


async def test_nobody_says_of_their_own_token_whose_it_is(meeting: Meeting, space: str) -> None:
    own = AccountKey("local", "keeper")
    refused = await meeting.bind(meeting.admin, own, meeting.ana)
    assert refused["__typename"] == "NotAllowed"
    assert await meeting.reads(meeting.admin) == set()
    done = await meeting.bind(meeting.all, own, meeting.ben)
    assert done["accountId"] == f"Account:{account_id(space, own)}"
