"""Hears of three comments by gql over websockets and Apollo's multipart, and by httpx-sse: HOST:PORT, post, token."""
import asyncio
import json
import sys

import httpx
import httpx_sse
from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.websockets import WebsocketsTransport

host, post, token = sys.argv[1:]
document = "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }"
headers = {"Authorization": "Bearer " + token}


async def by_gql(name, transport):
    bodies = []
    async with Client(transport=transport, fetch_schema_from_transport=False) as session:
        request = gql(document)
        request.variable_values = {"id": post}
        async for answer in session.subscribe(request):
            bodies.append(answer["commentAdded"]["body"])
            if len(bodies) == 3:
                break
    print(name, json.dumps(bodies), flush=True)


async def by_events():
    bodies = []
    async with httpx.AsyncClient(timeout=60) as client:
        async with httpx_sse.aconnect_sse(
            client, "POST", f"http://{host}/graphql", headers=headers,
            json={"query": document, "variables": {"id": post}},
        ) as source:
            async for event in source.aiter_sse():
                bodies.append(json.loads(event.data)["data"]["commentAdded"]["body"])
                if len(bodies) == 3:
                    break
    print("events", json.dumps(bodies), flush=True)


async def main():
    await asyncio.gather(
        by_gql("websockets", WebsocketsTransport(
            url=f"ws://{host}/graphql", init_payload={"authorization": "Bearer " + token},
            subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL])),
        by_gql("multipart", AIOHTTPTransport(url=f"http://{host}/graphql", headers=headers)),
        by_events(),
    )


asyncio.run(main())
