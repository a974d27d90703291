import { request as connect } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isApiPath } from '../../src/http/api-path.ts';
import { startServer } from '../support/server.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly requestId: string;
  readonly text: string;
}

/** Sends the path as it stands here: `fetch` would tidy it up. */
function send(
  origin: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const request = connect({ hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          requestId: String(response.headers['x-request-id']),
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.on('error', reject);
    request.end();
  });
}

const partnerPaths = [
  '/v1/partner',
  '/v1/partner/',
  '/v1/partner/nothing',
  '/v1/partner/whoami/',
  '/v1/partner/Whoami',
  '/V1/partner/whoami',
  '/v1/PARTNER/whoami',
  '/v1/partner/payments/tr_1/refunds',
  '/v1//partner/whoami',
  '//v1/partner/whoami',
  '/%76%31/partner/whoami',
  '/v1%2Fpartner/whoami',
  '/v1/./partner/whoami',
  '/x/../v1/partner/whoami',
  '/x/%2e%2e/v1/partner/whoami',
  '/v1/partner/../../login',
  '/v1/partner/%',
  '/v1/partner/nothing?a=/login#b',
];
const otherPaths = [
  '/v1',
  '/V1',
  '/v1/',
  '//v1',
  '//v1/..',
  '/v1?x=1',
  '/v1/nothing',
  '/v1/oauth',
  '/v1/oauth/',
  '/v1/oauth/token/',
  '/v1/OAuth/userinfo',
  '/V1/oauth/token',
  '/v1/openapi.json/',
  '/v1/openapi',
  '/v1/../login',
  '/%561/nothing',
];
const browser = { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

/** That an answer is the JSON of its part of the API. */
function expectJson({ type, text, requestId }: Answer, isPartner: boolean, about: string): void {
  expect.soft(type, about).toMatch(/^application\/json/);
  if (text === '') return;
  expect
    .soft(JSON.parse(text), about)
    .toEqual(
      isPartner
        ? { code: expect.any(String), message: expect.any(String), requestId }
        : { error: expect.any(String), error_description: expect.any(String) },
    );
}

describe('below /v1, whatever the API does not have', () => {
  test('is 404 in JSON for every method, with a key and without, for browsers too', async () => {
    const { origin, server } = await startServer();
    const { admin } = server.installation.ostiary;
    await admin.partners.create({ slug: 'acme', name: 'Acme' });
    const { key } = await admin.apiKeys.issue({ partner: 'acme', mode: 'live', scopes: ['payments:read'] });
    const callers: Record<string, string>[] = [{}, browser, { ...browser, 'X-API-Key': key }];
    const methods = [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
    ];
    for (const [index, path] of [...partnerPaths, ...otherPaths].entries()) {
      const isPartner = index < partnerPaths.length;
      // Every path with every caller, and every method on some.
      for (const headers of callers) {
        const answer = await send(origin, 'GET', path, headers);
        expect.soft(answer.status, path).toBe(404);
        expectJson(answer, isPartner, path);
      }
      for (const method of index % 6 === 0 ? methods : ['POST', 'TRACE']) {
        const answer = await send(origin, method, path, browser);
        expect.soft(answer.status, `${method} ${path}`).toBe(404);
        expectJson(answer, isPartner, `${method} ${path}`);
      }
    }
  });

  test('is 405 in JSON where only the method is wrong', async () => {
    const { origin } = await startServer();
    for (const method of ['PUT', 'DELETE', 'TRACE', 'PROPFIND'])
      for (const [path, isPartner] of [
        ['/v1/partner/whoami', true],
        ['/v1/openapi.json', true],
        ['/v1/oauth/token', false],
      ] as const) {
        const answer = await send(origin, method, path, browser);
        expect.soft(answer.status, `${method} ${path}`).toBe(405);
        expectJson(answer, isPartner, `${method} ${path}`);
      }
  });

  test('is in JSON for an absolute request target', async () => {
    const { origin, server } = await startServer();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connectSocket(server.port, new URL(origin).hostname);
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
      });
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
      socket.write(
        'GET http://elsewhere/V1/partner/x HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
      );
    });
    expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*\r\nContent-Type: application\/json/);
    expect(answer).toContain('"code":"not_found"');
  });
});

describe('other paths', () => {
  test.each([
    '/',
    '/v2/partner/whoami',
    '/v10',
    '/v1x',
    '/login/v1/',
    '/login?return_to=/v1/partner',
    '/x/v1',
    '/v1.json',
    '*',
    '',
  ])('%s are not the API’s', (path) => {
    expect(isApiPath(path)).toBe(false);
  });

  test('keep their pages', async () => {
    const { origin } = await startServer();
    for (const [path, status] of [
      ['/nothing', 404],
      ['/v2/partner/whoami', 404],
      ['/v10', 404],
      ['/login', 200],
    ] as const) {
      const answer = await send(origin, 'GET', path, browser);
      expect([path, answer.status, answer.type]).toEqual([path, status, 'text/html; charset=utf-8']);
    }
  });
});
