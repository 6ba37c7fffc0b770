"""Sends one operation by gql over websockets and prints its answer: URL, document, token, certificate."""
import asyncio
import json
import ssl
import sys

from gql import Client, gql
from gql.transport.websockets import WebsocketsTransport

url, document, token, certificate = (sys.argv[1:] + ["", ""])[:4]


async def main():
    context = None
    if certificate:
        context = ssl.create_default_context(cafile=certificate)
    transport = WebsocketsTransport(
        url=url,
        ssl=context or False,
        init_payload={"authorization": "Bearer " + token} if token else {},
        subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
        ping_interval=5,
    )
    async with Client(transport=transport, fetch_schema_from_transport=False) as session:
        for _ in range(3):
            print(json.dumps(await session.execute(gql(document))), flush=True)


asyncio.run(main())
