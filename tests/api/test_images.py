"""Images over HTTP: with their message, and with nobody else's."""

from __future__ import annotations

from service.graph.driver import Graph
from service.graph.images import Shown, save_images
from service.types.told import Image
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
