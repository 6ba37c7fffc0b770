"""Calls the tools of a server by the Model Context Protocol's own client: tools.py URL TOKEN.

Prints the names of the tools, then for each line NAME ARGUMENTS of standard input the result as JSON: whether it is an
error, and its structured content, or the message with which the server refused it.
"""
import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url, token):
    headers = {"Authorization": "Bearer " + token} if token else {}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            listed = await client.list_tools()
            print(json.dumps({"tools": {tool.name: tool.input_schema for tool in listed.tools}}))
            for line in sys.stdin:
                name, _, arguments = line.strip().partition(" ")
                try:
                    result = await client.call_tool(name, json.loads(arguments or "{}"))
                    print(json.dumps({"isError": bool(result.is_error), "content": result.structured_content}))
                except Exception as error:  # pylint: disable=broad-except
                    print(json.dumps({"refused": str(error)}))


asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
