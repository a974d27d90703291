import { expect, test } from 'vitest';
import { createDirectory } from '../src/users/directory.ts';
import { anaika, startServer } from './support/server.ts';
import { fieldsOf, Visitor } from './support/visitor.ts';

async function metadataOf(env: NodeJS.ProcessEnv = {}) {
  const { origin } = await startServer({}, env);
  const response = await fetch(`${origin}/.well-known/openid-configuration`);
  return (await response.json()) as Record<string, unknown> & { readonly scopes_supported: string[] };
}

test('without settings there are five languages, the five scopes, logout, and nothing else', async () => {
  const metadata = await metadataOf();
  expect(metadata.ui_locales_supported).toEqual(['en', 'fr', 'ht', 'es', 'pt']);
  expect(metadata.scopes_supported).toEqual(['openid', 'profile', 'kyc', 'wallet:balance', 'identity']);
  expect(metadata.grant_types_supported).toEqual(['authorization_code']);
  expect(metadata).toHaveProperty('end_session_endpoint');
  expect(metadata).not.toHaveProperty('introspection_endpoint');
  expect(metadata).not.toHaveProperty('client_id_metadata_document_supported');
  expect(metadata).not.toHaveProperty('pushed_authorization_request_endpoint');
  expect(metadata.token_endpoint_auth_methods_supported).not.toContain('private_key_jwt');
});

test('settings switch features of Ostiary on and off', async () => {
  const metadata = await metadataOf({
    OSTIARY_LANGUAGES: 'ht,fr',
    OSTIARY_SCOPES: 'phone,standardProfile',
    OSTIARY_REFRESH_TOKENS: 'on',
    OSTIARY_INTROSPECTION: 'on',
    OSTIARY_CLAIMS_PARAMETER: 'on',
    OSTIARY_CLIENT_DOCUMENT_SCOPES: 'openid,offline_access',
    OSTIARY_PRIVATE_KEY_JWT: 'on',
    OSTIARY_PUSHED_REQUESTS: 'required',
    OSTIARY_LOGOUT: 'off',
  });
  expect(metadata.ui_locales_supported).toEqual(['ht', 'fr']);
  expect(metadata.scopes_supported.slice(5)).toEqual(['phone', 'offline_access']);
  expect(metadata.claims_supported).toEqual(
    expect.arrayContaining(['phone_number', 'preferred_username', 'picture']),
  );
  expect(metadata.grant_types_supported).toContain('refresh_token');
  expect(metadata).toHaveProperty('introspection_endpoint');
  expect(metadata.claims_parameter_supported).toBe(true);
  expect(metadata).toHaveProperty('client_id_metadata_document_supported', true);
  expect(metadata.token_endpoint_auth_methods_supported).toContain('private_key_jwt');
  expect(metadata.require_pushed_authorization_requests).toBe(true);
  expect(metadata).not.toHaveProperty('end_session_endpoint');
});

test('apps can request tokens for the APIs of the setting', async () => {
  const api = 'https://tools.example.com/mcp';
  const { server } = await startServer(
    {},
    {
      OSTIARY_RESOURCES: JSON.stringify({ [api]: { name: 'Tools', scopes: ['identity'] } }),
    },
  );
  const { ostiary } = server.installation;
  expect(ostiary.protectedResource({ resource: api }).metadata).toMatchObject({
    ...{ resource: api, resource_name: 'Tools', scopes_supported: ['identity'] },
  });
});

test('the phone number is that of the user', async () => {
  const { server } = await startServer();
  const { accounts, database, now } = server.installation;
  const { sub = '' } = (await accounts.get('anaika')) ?? {};
  const user = await createDirectory(database, now).find(sub, new Set(['phone']));
  expect(user?.phoneNumber).toBe(anaika.phone);
});

test('an app sends a user here to sign out, which ends the session of this server', async () => {
  const { origin } = await startServer();
  const visitor = new Visitor(origin, { 'Accept-Language': 'es' });
  await visitor.signIn('anaika', anaika.password);
  const session = visitor.cookies.get('ostiary_session') ?? '';
  const page = await visitor.get('/oauth/logout');
  expect(page.html).toContain('¿Cerrar sesión?');
  const { csrf = '' } = fieldsOf(page.html);
  const left = await visitor.post('/oauth/logout/confirm', { csrf, decision: 'leave' }, { Origin: origin });
  expect(left.html).toContain('Su sesión está cerrada');
  expect([...visitor.cookies.keys()]).toEqual(['ostiary_known']);
  visitor.cookies.set('ostiary_session', session);
  expect((await visitor.get('/')).html).toContain('href="/login"');
});
