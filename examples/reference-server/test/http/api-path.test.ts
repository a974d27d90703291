import { once } from 'node:events';
import { request as connect, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { isApiPath } from '../../src/http/api-path.ts';
import { startServer } from '../support/server.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly requestId: string;
  readonly text: string;
}

/** Sends a request whose path is not normalized; `fetch` would normalize it. */
async function send(origin: string, method: string, path: string, headers: object): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const request = connect({ hostname, port, method, path, headers: { ...headers } }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    requestId: String(response.headers['x-request-id']),
    text: await text(response),
  };
}

const partnerPaths = `
  /v1/partner /v1/partner/ /v1/partner/nothing /v1/partner/whoami/ /v1/partner/Whoami
  /V1/partner/whoami /v1/PARTNER/whoami /v1/partner/payments/tr_1/refunds /v1//partner/whoami
  //v1/partner/whoami /%76%31/partner/whoami /v1%2Fpartner/whoami /v1/./partner/whoami
  /x/../v1/partner/whoami /x/%2e%2e/v1/partner/whoami /v1/partner/../../login /v1/partner/%
  /v1/partner/nothing?a=/login#b
`
  .trim()
  .split(/\s+/);
const otherPaths = `
  /v1 /V1 /v1/ //v1 //v1/.. /v1?x=1 /v1/nothing /v1/oauth /v1/oauth/ /v1/oauth/token/
  /v1/OAuth/userinfo /V1/oauth/token /v1/openapi.json/ /v1/openapi /v1/../login /%561/nothing
`
  .trim()
  .split(/\s+/);
const browser = { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY'.split(' ');

/** Checks that a response is the JSON error of the right API (OAuth or partner API). */
function expectJson(answer: Answer, status: number, isPartner: boolean, about: string): void {
  const { type, text, requestId } = answer;
  expect
    .soft([about, answer.status, type])
    .toEqual([about, status, expect.stringMatching(/^application\/json/)]);
  if (text === '') return;
  const shape = isPartner
    ? { code: expect.any(String), message: expect.any(String), requestId }
    : { error: expect.any(String), error_description: expect.any(String) };
  expect.soft(JSON.parse(text), about).toEqual(shape);
}

test('unknown paths below /v1 return 404 in JSON for every method, with and without a key, also to browsers', async () => {
  const { origin, server } = await startServer();
  const { admin } = server.installation.ostiary;
  await admin.partners.create({ slug: 'acme', name: 'Acme' });
  const { key } = await admin.apiKeys.issue({ partner: 'acme', mode: 'live', scopes: ['payments:read'] });
  for (const [index, path] of [...partnerPaths, ...otherPaths].entries()) {
    const isPartner = index < partnerPaths.length;
    for (const headers of [{}, { ...browser, 'X-API-Key': key }])
      expectJson(await send(origin, 'GET', path, headers), 404, isPartner, path);
    // Try every method on each sixth path.
    for (const method of index % 6 === 0 ? methods : ['POST', 'TRACE'])
      expectJson(await send(origin, method, path, browser), 404, isPartner, `${method} ${path}`);
  }
  for (const method of ['PUT', 'DELETE', 'TRACE', 'PROPFIND'])
    for (const path of ['/v1/partner/whoami', '/v1/openapi.json', '/v1/oauth/token'])
      expectJson(await send(origin, method, path, browser), 405, !/oauth/.test(path), `${method} ${path}`);
  // An absolute request target is treated like a path.
  expectJson(await send(origin, 'GET', 'http://elsewhere/V1/partner/x', browser), 404, true, 'absolute');
});

test.each(
  '/ /v2/partner/whoami /v10 /v1x /login/v1/ /login?return_to=/v1/partner /x/v1 /v1.json *'.split(' '),
)('%s is not the API’s', (path) => {
  expect(isApiPath(path)).toBe(false);
});
