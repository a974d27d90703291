import { describe, expect, it } from 'vitest';
import { newKit } from './support.ts';

describe('fetch of a kit', () => {
  it('shows the address of the answer, and redirects in each mode', async () => {
    const kit = await newKit();
    const url = kit.authorizeUrl(kit.clients.web);
    const manual = await kit.fetch(url, { redirect: 'manual' });
    expect([manual.status, manual.url]).toEqual([303, url]);
    await expect(kit.fetch(url, { redirect: 'error' })).rejects.toThrow(TypeError);
    kit.faults.status(302, '', { headers: { location: `${kit.authUrl}/.well-known/jwks.json` } });
    const followed = await kit.fetch(kit.baseUrl);
    expect([followed.status, followed.url]).toEqual([200, `${kit.authUrl}/.well-known/jwks.json`]);
  });

  it('follows redirects as the fetch of Node does', async () => {
    const kit = await newKit();
    const answer = async (request: Request) => {
      const { method, headers } = request;
      const [type, length] = [headers.get('content-type'), headers.get('content-length')];
      const credentials = [headers.get('authorization'), headers.get('x-api-key')];
      return Response.json([method, await request.text(), type, length, ...credentials]);
    };
    kit.webhooks.receive('https://shop.example/', answer);
    const headers = { authorization: 'Bearer a', 'x-api-key': 'k', 'content-type': 'text/plain' };
    const redirect = async (status: number, method: string, init: RequestInit & { duplex?: 'half' } = {}) => {
      kit.webhooks.receive(
        'https://from.example/',
        () => new Response(null, { status, headers: { location: 'https://from.example/next' } }),
      );
      kit.webhooks.receive(
        'https://from.example/next',
        () => new Response(null, { status, headers: { location: 'https://shop.example/' } }),
      );
      const response = await kit.fetch('https://from.example/', { method, headers, ...init });
      return response.json();
    };
    const repeated = (method: string) => [method, 'text', 'text/plain', '4', null, 'k'];
    const bare = ['GET', '', null, null, null, 'k'];
    for (const status of [307, 308])
      for (const method of ['POST', 'PUT'])
        expect(await redirect(status, method, { body: 'text' })).toEqual(repeated(method));
    for (const status of [301, 302]) {
      expect(await redirect(status, 'POST', { body: 'text' })).toEqual(bare);
      expect(await redirect(status, 'PUT', { body: 'text' })).toEqual(repeated('PUT'));
    }
    for (const method of ['POST', 'PUT']) expect(await redirect(303, method, { body: 'text' })).toEqual(bare);
    for (const status of [302, 303])
      expect(await redirect(status, 'GET')).toEqual(['GET', '', 'text/plain', null, null, 'k']);
    const stream = () => ({ body: new Blob(['text']).stream(), duplex: 'half' as const });
    await expect(redirect(307, 'POST', stream())).rejects.toThrow('fetch failed');
    expect(await redirect(303, 'POST', stream())).toEqual(bare);
  });

  it('follows no redirect after the caller has given up', async () => {
    const kit = await newKit();
    const caller = new AbortController();
    kit.webhooks.receive('https://shop.example/', () => {
      caller.abort();
      return new Response(null, { status: 302, headers: { location: '/next' } });
    });
    kit.webhooks.receive('https://shop.example/next', () => new Response('too late'));
    const asked = kit.fetch('https://shop.example/', { signal: caller.signal });
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  });
});
