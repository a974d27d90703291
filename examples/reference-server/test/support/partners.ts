import { sink } from '../../../../packages/core/test/webhooks/support/sink.ts';
import type { ReferenceServer } from '../../src/index.ts';
import { fieldsOf, type Visitor } from './visitor.ts';

const redirectUri = 'https://shop.example/callback';

/** Creates a partner with a key for webhooks, and an app. */
export async function createPartner({ installation, config }: ReferenceServer, slug: string) {
  const { admin } = installation.ostiary;
  await admin.partners.create({ slug, name: slug });
  const { key } = await admin.apiKeys.issue({ partner: slug, mode: 'live', scopes: ['webhooks'] });
  const { client } = await admin.clients.create({
    name: slug,
    partner: slug,
    redirectUris: [redirectUri],
    allowedScopes: ['openid', 'kyc'],
    public: true,
  });

  async function call(path: string, body?: object) {
    const response = await fetch(new URL(path, config.baseUrl), {
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  return {
    slug,
    clientId: client.clientId,
    call,
    events: async () => (await call('/v1/partner/events')).body.data as { type: string; data: unknown }[],
    register: (url: string) =>
      call('/v1/partner/webhooks', {
        url,
        events: ['kyc.updated', 'payment.completed', 'webhook.test'],
        secret: 'a-secret-of-the-partner',
      }),
  };
}

/** Body of the token request that exchanges a code. */
export interface Redemption {
  readonly grant_type: string;
  readonly code: string;
  readonly client_id: string;
  readonly redirect_uri: string;
  /** Code verifier of RFC 7636, appendix B. */
  readonly code_verifier: string;
}

/** Lets a signed-in visitor approve an app's request. Returns the body of the app's token request. */
export async function approve(visitor: Visitor, clientId: string, scope: string): Promise<Redemption> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: 's',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const first = await visitor.get(`/oauth/authorize?${query}`);
  const page = await visitor.get(first.location ?? '');
  const action = /<form[^>]* action="([^"]+)"/.exec(page.html)?.[1] ?? '';
  let next = (await visitor.post(action, { ...fieldsOf(page.html), decision: 'approve' })).location ?? '';
  while (!next.startsWith(redirectUri)) next = (await visitor.get(next)).location ?? redirectUri;
  const code = new URL(next).searchParams.get('code');
  if (code === null) throw new Error(`${clientId} got no code`);
  return {
    ...{ grant_type: 'authorization_code', code, client_id: clientId, redirect_uri: redirectUri },
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  };
}

/** Starts a receiver that responds to everything with a status, and records the requests. */
export async function receiver(status = 200) {
  const endpoint = await sink();
  endpoint.answer = (response) => void response.writeHead(status).end();
  return endpoint;
}
