"""Reads an answer that is compressed, as it comes: URL, a coding, and a file with the body of a request and its headers.
Prints the header fields of the coding, then the decoded text."""
import json
import sys

import httpx

url, coding, file = sys.argv[1:4]
request = json.load(open(file))
headers = {"accept-encoding": coding, **request["headers"]}
with httpx.Client(timeout=600) as client:
    with client.stream("POST", url, json=request["body"], headers=headers) as response:
        fields = response.headers.get_list("content-encoding") + response.headers.get_list("vary")
        print(" ".join(fields), flush=True)
        for text in response.iter_text():
            sys.stdout.write(text)
            sys.stdout.flush()
