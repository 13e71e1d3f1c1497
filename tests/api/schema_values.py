"""What is given where the schema demands something: a value of each type, and what an id names, by what it is called."""

from __future__ import annotations

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    get_named_type,
    is_required_input_field,
)

VALUES = {"String": '"garden"', "Int": "3", "Float": "1.0", "Boolean": "true", "DateTime": '"2026-10-01T00:00Z"'}
"""By type."""
_PERSON = ("speakers", "addressees", "byOrTo", "by", "to", "of", "person", "personId", "intoId", "otherId", "actingFor",
           "heardBy", "addressedTo", "speaker", "addressee", "speakerId", "toId")  # fmt: skip
NAMES = {
    **dict.fromkeys(_PERSON, "Person"),
    **dict.fromkeys(("sessions", "sessionId", "session"), "Session"),
    **dict.fromkeys(("messageId", "messageIds"), "Message"),
    **dict.fromkeys(("entityId", "ofId"), "Entity"),
    **dict.fromkeys(("uploadId", "transcriptUploadId", "voiceUploadId", "heardByVoices"), "Upload"),
    "image": "Image", "like": "AudioMemory", "webhookId": "Webhook", "deliveryId": "WebhookDelivery", "streamId": "Stream",
    "localSpeakers": "LocalSpeaker", "correctionId": "Correction", "accountId": "Account", "proposalId": "NameProposal",
    "personaId": "PersonaNode", "ids": "Delivery", "grantId": "Grant", "jobProgress": "Job", "factId": "Fact",
}  # fmt: skip
"""What an argument, or a field with an `id`, names."""


def named_by(path: str) -> str:
    """The label of what an id names at a place like `search.filters.speakers`."""
    field, *_, last = path.split(".")
    if last == "id":
        return NAMES.get(field) or ("Webhook" if "ebhook" in field else field[:1].upper() + field[1:])
    return NAMES.get(last, "Message")


def needed(path: str, argument: GraphQLArgument | GraphQLInputField) -> str:
    """A value of its type; `$Person` and the like where an id must stand, `$key` for a key of one's own."""
    named, name = get_named_type(argument.type), path.split(".")[-1]
    if isinstance(named, GraphQLEnumType):
        value = next(iter(named.values))
    elif isinstance(named, GraphQLInputObjectType):
        given = ((inner, field) for inner, field in named.fields.items() if is_required_input_field(field))
        value = "{ " + " ".join(f"{inner}: {needed(f'{path}.{inner}', field)}" for inner, field in given) + " }"
    elif named.name == "ID":
        value = f'"${named_by(path)}"'
    else:
        value = '"$key"' if name == "idempotencyKey" else VALUES[named.name]
    return listed(argument.type, value)


def listed(of: object, value: str) -> str:
    inner = of.of_type if isinstance(of, GraphQLNonNull) else of
    return f"[{value}]" if isinstance(inner, GraphQLList) else value
