import { z } from 'zod';
import type { ActiveToken } from '../oauth/token-checks.ts';

/** An authorization server whose introspection endpoint (RFC 7662) checks tokens for an API. */
export interface IntrospectionServer {
  readonly issuer: string;
  readonly endpoint: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

/** Maximum size of an introspection response, in bytes. A longer response counts as a failed check. */
const maxBytes = 64 * 1024;

/**
 * Schema of an introspection response for an active token. Ignores additional members, because other servers
 * send some.
 */
const activeToken = z.object({
  active: z.literal(true),
  sub: z.string().min(1),
  client_id: z.string().min(1),
  scope: z.string().default(''),
  exp: z.number(),
  iss: z.string().optional(),
  cnf: z.looseObject({ jkt: z.string().optional() }).optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  acr: z.string().optional(),
  auth_time: z.number().optional(),
});
const introspection = z.union([z.object({ active: z.literal(false) }), activeToken]);

/** An active token as described by the introspection response. */
export interface IntrospectedToken extends ActiveToken {
  readonly resources: readonly string[];
}

/** Form-encodes a part of Basic credentials (RFC 6749, section 2.3.1). */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** Reads the body of an introspection response. @throws Error if the body is longer than {@link maxBytes} */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error('the introspection endpoint returned a response that is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Introspects a token at the authorization server. Returns `null` if the token is not active.
 * @throws Error if the server cannot be reached or refuses the client, or if its response is too long, names
 * another issuer, or is no introspection response
 */
export async function introspect(
  { issuer, endpoint, clientId, clientSecret, timeoutMs, fetch }: IntrospectionServer,
  token: string,
): Promise<IntrospectedToken | null> {
  const credentials = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      Accept: 'application/json',
    },
    body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await readText(response);
  if (response.status !== 200)
    throw new Error(`the introspection endpoint responded with status ${response.status}`);
  const { success, data } = introspection.safeParse(JSON.parse(text));
  if (!success) throw new Error('the introspection endpoint returned no introspection response');
  if (!data.active) return null;
  if (data.iss !== undefined && data.iss !== issuer)
    throw new Error(`the introspection endpoint belongs to another issuer: ${data.iss}`);
  return {
    active: true,
    sub: data.sub,
    clientId: data.client_id,
    scopes: data.scope.split(' ').filter((scope) => scope !== ''),
    resources: [data.aud ?? []].flat(),
    expiresAt: new Date(data.exp * 1000),
    ...(data.acr !== undefined && { acr: data.acr }),
    ...(data.auth_time !== undefined && { authenticatedAt: new Date(data.auth_time * 1000) }),
    ...(data.cnf !== undefined && { dpopJkt: data.cnf.jkt ?? '' }),
  };
}
