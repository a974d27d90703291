"""Signs in to an MCP server with the package mcp as it is: calls a tool, steps up, refreshes, loses its access."""

import asyncio
import html
import json
import re
import sys
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

url, client_id, metadata_url = sys.argv[1:]
redirect_uri = "http://127.0.0.1:51235/callback"


class Storage:
    def __init__(self):
        self.tokens = None
        self.client = None
        if client_id:
            self.client = OAuthClientInformationFull(
                client_id=client_id, redirect_uris=[redirect_uri], token_endpoint_auth_method="none"
            )

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class Browser:
    """Signs in and approves, as the user of the assistant does."""

    def __init__(self):
        self.http = httpx2.AsyncClient(follow_redirects=False)
        self.callback = {}
        self.pages = 0

    async def open(self, address):
        answer = await self.http.get(address)
        for _ in range(12):
            location = answer.headers.get("location")
            csrf = re.search(r'name="csrf" value="([^"]+)"', answer.text)
            return_to = re.search(r'name="return_to" value="([^"]+)"', answer.text)
            if location and location.startswith(redirect_uri + "?"):
                self.callback = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
                return
            if location:
                address = urljoin(address, location)
                answer = await self.http.get(address)
            elif csrf:
                self.pages += 1
                answer = await self.submit(address, {"csrf": csrf[1], "decision": "approve"})
            elif return_to:
                answer = await self.http.post(address, data={"name": "ana", "return_to": html.unescape(return_to[1])})
            else:
                raise RuntimeError(f"the flow stopped with {answer.status_code}: {answer.text[:300]}")
        raise RuntimeError("the flow goes in circles")

    async def submit(self, address, form):
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
        return await self.http.post(address, data=form, headers={"origin": origin})

    async def disconnect(self):
        """Removes the assistant from the connected apps of the user, which ends all its tokens."""
        address = urljoin(url, "/account/apps")
        form = r'<form [^>]*action="([^"]+/revoke)".*?name="csrf" value="([^"]+)"'
        action, csrf = re.search(form, (await self.http.get(address)).text, re.DOTALL).groups()
        await self.submit(urljoin(address, html.unescape(action)), {"csrf": csrf})
        if re.search(form, (await self.http.get(address)).text, re.DOTALL):
            raise RuntimeError("the app was not removed")

    async def result(self):
        return AuthorizationCodeResult(**{name: self.callback.get(name) for name in ("code", "state", "iss")})


async def main():
    storage, browser = Storage(), Browser()
    metadata = OAuthClientMetadata(
        client_name="Assistant",
        redirect_uris=[redirect_uri],
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",
    )

    auth = OAuthClientProvider(
        url, metadata, storage, browser.open, browser.result, client_metadata_url=metadata_url or None
    )
    said = {}
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            said["tools"] = [tool.name for tool in (await client.list_tools()).tools]
            said["pages"] = [browser.pages]
            added = await client.call_tool("add_note", {"text": "buy bread"})
            said["added"] = added.content[0].text
            said["pages"].append(browser.pages)
            said["scope"] = sorted((storage.tokens.scope or "").split())
            said["refreshes"] = storage.tokens.refresh_token is not None
            before = storage.tokens.access_token
            # The access token has ended, by the client's own clock.
            auth.context.token_expiry_time = 1
            said["notes"] = (await client.call_tool("list_notes", {})).content[0].text
            said["pages"].append(browser.pages)
            said["refreshed"] = storage.tokens.access_token != before
            await browser.disconnect()
            said["reconnected"] = (await client.call_tool("list_notes", {})).content[0].text
            said["pages"].append(browser.pages)
    print(json.dumps(said))


asyncio.run(main())
