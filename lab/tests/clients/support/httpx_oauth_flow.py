"""Signs in with httpx-oauth as it is: discovery, the exchange of a code, the profile, a revocation."""

import asyncio
import json
import sys

from httpx_oauth.clients.openid import OpenID
from httpx_oauth.oauth2 import BaseOAuth2

discovery, client_id, client_secret, code, redirect_uri, method, secret_of_revocation = sys.argv[1:]


async def main() -> None:
    client = OpenID(client_id, client_secret, discovery)
    chosen = [client.token_endpoint_auth_method, client.revocation_endpoint_auth_method]
    token = await client.get_access_token(code, redirect_uri)
    profile = await client.get_profile(token["access_token"])
    revoking = BaseOAuth2(
        client_id,
        secret_of_revocation,
        client.authorize_endpoint,
        client.access_token_endpoint,
        revoke_token_endpoint=client.revoke_token_endpoint,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
    )
    await revoking.revoke_token(token["access_token"])
    print(json.dumps({"chosen": chosen, "sub": profile["sub"], "token": token["access_token"]}))


asyncio.run(main())
