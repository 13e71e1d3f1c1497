"""The schema as committed, documented, and without a way past its limits."""

from __future__ import annotations

from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    get_named_type,
    is_list_type,
    is_non_null_type,
)

import service.api
from service.api.schema import make_schema

COMMITTED = Path(service.api.__file__).parent / "schema.graphql"
schema = make_schema(development=True)
OURS = {n: t for n, t in schema._schema.type_map.items() if not n.startswith("__") and n not in {"ID", "DateTime"}}
BOUNDED = {
    "Account.suggestions": "five at most",
    "Message.addressees": "who is addressed in one turn",
    "Hit.found": "one for each tool",
    "SearchResult.hits": "capped by `first`",
    "SearchExplanation.legs": "one for each tool",
    "Answer.citations": "capped by the answer",
    "Answer.rounds": "three at most",
    "Hit.because": "one for each reason of the ranking",
    "Hit.layers": "a closed set",
    "SearchExplanation.rounds": "three at most",
    "Round.legs": "one for each tool",
    "Understood.speakers": "named in one question",
    "Understood.addressees": "named in one question",
    "Understood.others": "named in one question",
    "Understood.windows": "times in one question",
    "Understood.parts": "of one question",
    "WhoSaid.people": "five at most",
    "Attributed.evidence": "three at most",
    "Query.encoders": "a closed set",
    "Query.retention": "the places where personal data lives",
    "Receipt.counts": "one for each kind of thing",
    "Person.aliases": "names of one person",
    "Person.encoders": "a closed set",
    "Fact.addressees": "who is addressed in one turn",
    "Fact.evidence": "a turn and three before it",
    "Fact.history": "capped by the read",
    "Fact.revisions": "capped by the read",
    "Entity.aliases": "names of one entity",
    "Entity.related": "capped by the read",
    "Entity.joined": "names of one entity",
    "Theme.related": "a closed set",
    "Query.themes": "a closed set",
    "SearchResult.clusters": "each has one of the hits",
    "Cluster.supporting": "five at most",
    "Cluster.hits": "capped by `first`",
    "Profile.background": "capped by the answer",
    "Profile.preferences": "capped by the answer",
    "Profile.commitments": "capped by the answer",
    "Profile.plans": "capped by the answer",
    "Trait.now": "said in one breath",
    "Trait.before": "capped by the answer",
    "UnknownVoice.unresolvedIds": "capped by the read",
    "UnknownVoice.heard": "capped by the read",
    "UnknownVoice.turns": "capped by the read",
    "UnknownVoice.suggestions": "whom one voice may be",
    "UnknownVoice.names": "names of one voice",
    "NameProposal.sources": "a closed set",
    "NameProposal.evidence": "capped by the read",
    "Explanation.evidence": "capped by the read",
    "Explanation.merges": "a chain of 12 at most",
    "Explanation.suggestions": "whom one voice may be",
    "SplitPreview.parts": "capped by the answer",
    "SplitPart.messageIds": "capped by the answer",
    "SplitPart.turns": "capped by the answer",
    "Correction.personIds": "concerned by one correction",
    "Correction.people": "concerned by one correction",
    "Query.personas": "capped by the answer",
    "SoundsResult.hits": "capped by `first`",
    "Persona.sharedWith": "whom one person told of one thing",
    "Query.sharedPersonas": "capped by the answer",
    "SharedPersona.evidence": "capped by the read",
    "Persona.evidence": "capped by the read",
    "Affect.marks": "what one turn shows",
    "MatchEvent.entities": "named in one utterance",
    "MatchEvent.people": "named in one utterance",
    "MatchEvent.terms": "of one utterance",
    "MemoryEvent.lines": "what 430 tokens hold",
    "MemoryLine.sources": "of one line",
    "MemoryLine.to": "who is addressed in one turn",
    "Message.images": "at most 20 of a segment, or the transcript is refused",
    "IngestResult.factsDropped": "one a reason",
    "ImageSearchResult.hits": "capped by `first`",
    "Query.meetingSources": "as many as somebody configured",
    "DeliveriesRetried.waitingIds": "of one request",
    "DeliveriesRetried.stillDead": "of one request",
    "Query.webhooks": "fifty at most",
    "Webhook.kinds": "a closed set",
    "PersonUnresolved.voices": "capped when it is written",
    "PersonUnresolved.people": "capped when it is written",
    "IdentityRevised.people": "concerned by one correction",
    "IdentityRevised.sessions": "of one correction",
    "SomethingErased.people": "capped when it is written",
}


def test_the_committed_schema_is_fresh() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema.as_str() + "\n", (
        "python -m service.api.schema > service/api/schema.graphql"
    )


def test_the_schema_is_the_same_in_production() -> None:
    assert make_schema(development=False).as_str() == schema.as_str()


def test_every_type_field_and_argument_is_documented() -> None:
    bare = []
    for name, of in OURS.items():
        if isinstance(
            of, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType | GraphQLUnionType | GraphQLEnumType
        ):
            bare += [name] * (not of.description)
        for field_name, field in getattr(of, "fields", {}).items():
            bare += [f"{name}.{field_name}"] * (not field.description)
            bare += [f"{name}.{field_name}({a})" for a, arg in getattr(field, "args", {}).items() if not arg.description]
    assert bare == []


def test_every_list_is_a_connection_or_bounded_by_nature() -> None:
    lists = set()
    for name, of in OURS.items():
        if isinstance(of, GraphQLObjectType) and not name.endswith("Connection"):
            for field_name, field in of.fields.items():
                inner = field.type.of_type if is_non_null_type(field.type) else field.type
                if is_list_type(inner):
                    lists.add(f"{name}.{field_name}")
    assert lists == set(BOUNDED)


def test_every_connection_takes_all_four_page_arguments() -> None:
    for name, of in OURS.items():
        if isinstance(of, GraphQLObjectType):
            for field_name, field in of.fields.items():
                if get_named_type(field.type).name.endswith("Connection"):
                    assert {"first", "after", "last", "before"} <= set(field.args), f"{name}.{field_name}"


def test_every_mutation_has_a_key_and_may_end_in_a_conflict() -> None:
    assert schema._schema.mutation_type is not None
    for name, field in schema._schema.mutation_type.fields.items():
        assert "idempotencyKey" in field.args, name
        outcome = get_named_type(field.type)
        assert isinstance(outcome, GraphQLUnionType)
        assert {"Conflict", "NotAllowed", "InvalidInput"} <= {t.name for t in outcome.types}, name
