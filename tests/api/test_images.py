"""Images over HTTP: with their message, and with nobody else's."""

from __future__ import annotations

from service.graph.driver import Graph
from service.graph.images import Shown, save_images
from service.types.told import Image
from tests import models
from tests.api.serving import Api
from tests.graph.graph_builders import Said, seed

QUERY = """query($id: ID!) { message(id: $id) { text images { reference caption } }
  messages { edges { node { images { caption } } } } }"""


async def test_images_come_with_the_messages_that_may_be_read(api: Api, graph: Graph, space: str) -> None:
    said = [Said("ana", "Look.", ["ana", "ben"]), Said("ana", "And this, for me.", ["ana"])]
    world = await seed(graph, space, ["ana", "ben"], said)
    shown = {
        world.message(0): Shown([Image("boat.jpg", "a red boat"), Image("oars.jpg", None)]),
        world.message(1): Shown([Image("gift.jpg", "the surprise")]),
    }
    await graph.write(save_images, space, shown, None)
    ana, ben = (api.token(name, person_id=world.person(name), scopes=["ask"]) for name in ("ana", "ben"))

    seen = await api.data(QUERY, ana, id=f"Message:{world.message(1)}")
    assert seen["message"] == {"text": "And this, for me.", "images": [{"reference": "gift.jpg", "caption": "the surprise"}]}
    hidden = await api.data(QUERY, ben, id=f"Message:{world.message(1)}")
    assert hidden["message"] is None
    captions = [[image["caption"] for image in edge["node"]["images"]] for edge in hidden["messages"]["edges"]]
    assert captions == [["a red boat", None]]


FIND = """query($text: String, $image: ID, $upload: ID, $by: [ID!]) {
  imageSearch(text: $text, image: $image, uploadId: $upload, filters: {speakers: $by}, explain: true) { __typename
    ... on Problem { code }
    ... on ImageSearchResult { hits { image { id caption } message { text } score visibleBecause }
      explanation { visible model } } } }"""


async def test_images_are_found_by_words_and_by_another_one_as_far_as_they_may_be_seen(
    api: Api, graph: Graph, space: str
) -> None:
    said = [Said("ana", "Look.", ["ana", "ben"]), Said("ana", "And this, for me.", ["ana"]), Said("ben", "Ours.", ["ben"])]
    world = await seed(graph, space, ["ana", "ben"], said)
    captions = ["a red rowing boat", "a birthday cake with candles", "a ship with white sails"]
    vectors = models.e5().passages(captions)
    shown = {world.message(i): Shown([Image(None, captions[i])], [vectors[i]]) for i in range(3)}
    await graph.write(save_images, space, shown, "e5_small_v2_q")
    ana, ben = (api.token(name, person_id=world.person(name), scopes=["ask"]) for name in ("ana", "ben"))

    async def found(token: str, **by: object) -> list[str]:
        result = (await api.data(FIND, token, **by))["imageSearch"]
        assert result["__typename"] == "ImageSearchResult", result
        assert result["explanation"] == {"visible": 2, "model": "e5_small_v2_q"}
        return [hit["image"]["caption"] for hit in result["hits"]]

    assert await found(ana, text="something sweet with candles") == [captions[1], captions[0]]
    assert await found(ben, text="something sweet with candles") in ([captions[0], captions[2]], [captions[2], captions[0]])
    assert await found(ben, text="a boat", by=[world.person("ben")]) == [captions[2]]
    hits = (await api.data(FIND, ana, text="candles"))["imageSearch"]["hits"]
    assert (hits[0]["message"]["text"], hits[0]["visibleBecause"]) == ("And this, for me.", "said_it")
    assert await found(ana, image=hits[1]["image"]["id"]) == [captions[1]]
    assert await found(ben, image=hits[0]["image"]["id"]) == await found(ben, image="Image:nothing") == []

    async def refused(**by: object) -> str:
        return str((await api.data(FIND, ana, **by))["imageSearch"]["code"])

    assert await refused() == await refused(text="a", image="b") == "invalid_input"
    assert await refused(upload="0" * 64) == "not_found"
    own = await api.upload(b"a picture", api.token("ana", person_id=world.person("ana"), scopes=["ask", "ingest"]))
    assert await refused(upload=own) == "nothing_to_go_by", "captions do not know a picture"
