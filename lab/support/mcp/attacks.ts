import { createHash, randomBytes } from 'node:crypto';
import type { SignInBrowser } from './sign-in-browser.ts';

/** Access tokens with which an MCP server with the tools `list_notes` and `add_note` is attacked. */
export interface AttackTokens {
  /** Access token of one user for this MCP server, with the scope `notes:read` only. */
  readonly reader: string;
  /** Access token of another user for this MCP server, with the scopes `notes:read` and `notes:write`. */
  readonly writer: string;
  /** Access token of the same authorization server that is for no resource. */
  readonly elsewhere: string;
}

/** Signs a user in with a public client, and returns the token response. */
export async function signIn(
  site: string,
  browser: SignInBrowser,
  request: {
    readonly clientId: string;
    readonly redirectUri: string;
    readonly scope: string;
    readonly resource?: string;
  },
): Promise<Record<string, unknown>> {
  const metadata = await (await fetch(`${site}/.well-known/oauth-authorization-server`)).json();
  const verifier = randomBytes(32).toString('base64url');
  const { clientId, redirectUri, scope, resource } = request;
  const parameters = {
    ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope, state: 'state' },
    ...{
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    },
    ...(resource !== undefined && { resource }),
  };
  const callback = await browser.walk(
    `${metadata.authorization_endpoint}?${new URLSearchParams(parameters)}`,
    redirectUri,
  );
  const exchange = {
    ...{
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      code_verifier: verifier,
    },
    ...{ client_id: clientId, redirect_uri: redirectUri },
  };
  const response = await fetch(metadata.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams(exchange),
  });
  return { ...(await response.json()), error_of_callback: callback.searchParams.get('error') };
}

const call = (name: string, parameters: object = {}, id = 1) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name, arguments: parameters },
});
const write = call('add_note', { text: 'of the attacker' });

/** Sends a message to an MCP server as MCP clients do. Returns the status and the body. */
async function post(url: string, message: unknown, headers: Readonly<Record<string, string>>) {
  const response = await fetch(url, {
    method: 'POST',
    signal: AbortSignal.timeout(10_000),
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
      ...headers,
    },
    ...(message instanceof ReadableStream
      ? { body: message, duplex: 'half' }
      : { body: typeof message === 'string' ? message : JSON.stringify(message) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Streams a request body of the given length, so that the request has no `Content-Length`. */
function streamed(bytes: number): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(65_536).fill(0x20);
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(chunk);
      left -= chunk.length;
    },
  });
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/**
 * Sends requests that an MCP server must refuse, or at least survive.
 * @returns each attack whose response has another status than the right one
 */
export async function acceptedAttacks(url: string, { reader, writer, elsewhere }: AttackTokens) {
  const list = call('list_notes');
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const deep = '['.repeat(40_000) + ']'.repeat(40_000);
  const evil = { Origin: 'https://evil.example' };
  const attacks: readonly (readonly [string, number, () => Promise<{ readonly status: unknown }>])[] = [
    ['no token', 401, () => post(url, list, {})],
    ['a made-up token', 401, () => post(url, list, bearer(`${reader.slice(0, -2)}AA`))],
    ['a token for no resource', 401, () => post(url, list, bearer(elsewhere))],
    ['a token in the query', 401, () => post(`${url}?access_token=${writer}`, list, {})],
    ['a token in the body', 401, () => post(url, { ...list, access_token: writer }, {})],
    ['the scheme Basic', 401, () => post(url, list, { Authorization: `Basic ${writer}` })],
    ['two tokens', 401, () => post(url, list, bearer(`${writer}, Bearer ${writer}`))],
    ['a tool beyond the scopes', 403, () => post(url, write, bearer(reader))],
    ['a tool beyond the scopes in a batch', 400, () => post(url, [list, write], bearer(reader))],
    ['a batch that cancels its own call', 400, () => post(url, [list, cancel], bearer(writer))],
    ['an empty batch', 400, () => post(url, [], bearer(writer))],
    [
      'a tool beyond the scopes, spelled with escapes',
      403,
      () => post(url, JSON.stringify(write).replace('add_note', 'add\\u005fnote'), bearer(reader)),
    ],
    [
      'a tool beyond the scopes, after a harmless name',
      403,
      () =>
        post(url, JSON.stringify(write).replace('"name":', '"name":"list_notes","name":'), bearer(reader)),
    ],
    ['a page of another site', 403, () => post(url, list, { ...bearer(writer), ...evil })],
    ['a page without an origin', 403, () => post(url, list, { ...bearer(writer), Origin: 'null' })],
    ['a preflight of another site', 403, () => fetch(url, { method: 'OPTIONS', headers: evil })],
    ['10 MiB', 413, () => post(url, JSON.stringify(' '.repeat(10 << 20)), bearer(writer))],
    ['10 MiB without a length', 413, () => post(url, streamed(10 << 20), bearer(writer))],
    ['no JSON', 400, () => post(url, '{', bearer(writer))],
    ['a number', 400, () => post(url, '1', bearer(writer))],
    ['deep JSON', 400, () => post(url, deep, bearer(writer))],
    [
      'a deep argument',
      200,
      () => post(url, JSON.stringify(write).replace('"of the attacker"', deep), bearer(writer)),
    ],
    ['an event stream', 405, () => fetch(url, { headers: bearer(writer) })],
    ['the end of a session', 405, () => fetch(url, { method: 'DELETE', headers: bearer(writer) })],
  ];
  const accepted: string[] = [];
  for (const [name, expected, attack] of attacks) {
    const { status } = await attack().catch((error) => ({ status: error }));
    if (status !== expected) accepted.push(`${name}: ${status}`);
  }
  return accepted;
}

/**
 * Lets two users call tools at the same time, both with the same request ids and the same session id.
 * @returns the responses of the rounds in which a user got no right response, or something of the other
 */
export async function mixedUpUsers(
  url: string,
  { reader, writer }: AttackTokens,
): Promise<readonly string[]> {
  await post(url, call('add_note', { text: 'secret of the writer' }), bearer(writer));
  const session = { 'Mcp-Session-Id': 'session' };
  const rounds = Array.from({ length: 20 }, async () => {
    const [own, others] = await Promise.all(
      [writer, reader].map((token) => post(url, call('list_notes'), { ...bearer(token), ...session })),
    );
    const isRight = own?.text.includes('secret of the writer') && others?.text.includes('"result"');
    return isRight && !others?.text.includes('secret') ? [] : [`${own?.text} ${others?.text}`];
  });
  return (await Promise.all(rounds)).flat();
}
