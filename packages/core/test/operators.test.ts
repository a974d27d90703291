import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Operators } from '../src/ports/operators.ts';
import { answerOf } from './support/browser.ts';
import { startProvider } from './support/running.ts';

type Authenticate = Operators['authenticate'];

/** Starts a provider whose operators' pages show who visits them. `seen` records the submitted forms. */
async function started(authenticate: Authenticate, options: Parameters<typeof startProvider>[0] = {}) {
  const seen: ReadonlyMap<string, string>[] = [];
  const pages: Operators<{ purge(): Promise<unknown> }>['pages'] = {
    pages: (backend) => [
      {
        path: '',
        summary: 'first',
        GET: async ({ operator, proof }) => ({
          status: 200,
          body: `${operator} ${proof} ${backend.url('/x')}`,
        }),
      },
      {
        path: '/things/:id',
        summary: 'a thing',
        GET: async ({ parameters, query }) => ({ status: 200, body: `${parameters.id} ${query.get('q')}` }),
        async POST({ admin }, form) {
          seen.push(form);
          await admin.purge();
          return { status: 303, headers: { Location: '/operators' } };
        },
      },
    ],
  };
  const operators = { authenticate, pages } as unknown as Operators;
  return { provider: await startProvider({ operators, ...options }), seen };
}

const named: Authenticate = ({ headers }) =>
  headers['x-staff'] ? { name: String(headers['x-staff']) } : null;

const html = { accept: 'text/html' };
const staff = (name = 'ana') => ({ ...html, 'x-staff': name });

async function proofOf(provider: Awaited<ReturnType<typeof started>>['provider'], name = 'ana') {
  const { text } = await provider.request('/operators', { headers: staff(name) });
  return text.split(' ').at(-2) ?? '';
}

function posted(form: Record<string, string>, headers: Record<string, string>): RequestInit {
  return { method: 'POST', body: new URLSearchParams(form), headers };
}

describe('the option operators', () => {
  it('serves the pages, with headers against caching and framing', async () => {
    const { provider } = await started(named);
    const { status, text, headers } = await provider.request('/operators', { headers: staff() });
    expect(status).toBe(200);
    expect(text).toContain(`ana `);
    expect(text).toContain(`${provider.origin}/operators/x`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
    const thing = await provider.request('/operators/things/a%2Fb?q=1', { headers: staff() });
    expect(thing.text).toBe('a/b 1');
  });

  it('shows visitors nothing, with the same response on every path and for every method', async () => {
    const { provider, seen } = await started(named);
    const proof = await proofOf(provider);
    const paths = [
      '',
      '/things/1',
      '/things',
      '/nothing/of/it',
      '/things/1/2',
      '/',
      '/%00',
      '/things/%2e%2e',
    ];
    const bodies = new Set<string>();
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const body = method === 'POST' ? new URLSearchParams({ csrf: proof }) : null;
        const answer = await provider.request(`/operators${path}`, { method, body, headers: html });
        expect.soft([path, method, answer.status]).toEqual([path, method, 403]);
        expect.soft(answer.headers.get('allow')).toBeNull();
        expect.soft(answer.headers.get('cache-control')).toBe('no-store');
        const { text } = answer;
        if (method !== 'HEAD') bodies.add(text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'));
      }
    }
    expect(bodies.size).toBe(1);
    expect([...bodies].join()).not.toMatch(/\bana\b|things|operator/i);
    expect(seen).toEqual([]);
  });

  it('returns the response of a path to operators', async () => {
    const { provider } = await started(named);
    const status = async (method: string, path: string) => {
      const answer = await provider.request(`/operators${path}`, { method, headers: staff() });
      return `${answer.status} ${answer.headers.get('allow')}`;
    };
    expect(await status('PUT', '/things/1')).toBe('405 GET, HEAD, POST');
    expect(await status('POST', '')).toBe('405 GET, HEAD');
    expect(await status('OPTIONS', '/things/1')).toBe('405 GET, HEAD, POST');
    expect(await status('GET', '/nothing')).toBe('404 null');
    expect(await status('DELETE', '/nothing')).toBe('404 null');
  });

  it('calls the host for every request, with the original request', async () => {
    const asked: IncomingMessage[] = [];
    let name: string | null = 'ana';
    const { provider } = await started((request) => {
      asked.push(request);
      return name === null ? null : { name };
    });
    const proof = await proofOf(provider);
    name = null;
    const form = posted({ csrf: proof }, { ...html, origin: provider.origin });
    expect((await provider.request('/operators/things/1', form)).status).toBe(403);
    expect((await provider.request('/operators', { headers: html })).status).toBe(403);
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      ...['GET /operators', 'POST /operators/things/1', 'GET /operators'],
    ]);
  });

  it('redirects operators who must sign in first', async () => {
    let to: unknown = '/login?return_to=x';
    const { provider, seen } = await started(() => ({ redirectTo: to }) as never);
    const location = async (init: RequestInit = {}) => {
      const { status, headers, text } = await provider.request('/operators/things/1', init);
      return [status, headers.get('location'), text];
    };
    expect(await location()).toEqual([303, `${provider.origin}/login?return_to=x`, '']);
    expect(await location(posted({}, html))).toEqual([303, `${provider.origin}/login?return_to=x`, '']);
    to = 'https://sso.example/start';
    expect(await location()).toEqual([303, 'https://sso.example/start', '']);
    for (to of ['javascript:alert(1)', 'data:text/html,x', 'http://', 7, null, {}, ''])
      expect((await location())[0]).toBe(to === '' ? 303 : 500);
    expect(seen).toEqual([]);
  });

  it.each([
    ['undefined', undefined],
    ['true', true],
    ['a text', 'ana'],
    ['a number', 1],
    ['nothing known', {}],
    ['a list', ['ana']],
    ['no name', { name: '' }],
    ['blanks', { name: ' \u00a0' }],
    ['a number as name', { name: 7 }],
    ['a long name', { name: 'x'.repeat(201) }],
    ['U+0000', { name: 'a\0b' }],
    ['a line end', { name: 'a\nb' }],
    ['half of a pair', { name: 'a\ud800' }],
    ['both', { name: 'ana', redirectTo: '/login' }],
    ['a right that does not exist', { name: 'ana', may: ['webhooks', 'everything'] }],
    ['a right in place of a list', { name: 'ana', may: 'service' }],
    ['no list of rights', { name: 'ana', may: null }],
    ['an empty role', { name: 'ana', role: '' }],
    ['a long role', { name: 'ana', role: 'x'.repeat(41) }],
    ['a script to confirm at', { name: 'ana', confirmAt: 'javascript:alert(1)' }],
    ['a script to sign out', { name: 'ana', signOut: { action: 'javascript:alert(1)' } }],
    ['no form to sign out', { name: 'ana', signOut: null }],
    ['a field that is no text', { name: 'ana', signOut: { action: '/out', fields: { csrf: 1 } } }],
    ['a function', () => ({ name: 'ana' })],
  ])('lets nobody in with %s for an answer, and tells the log', async (_, answer) => {
    const { provider, seen } = await started(() => answer as never);
    for (const init of [{ headers: html }, posted({ csrf: 'x' }, html)]) {
      const { status, text } = await provider.request('/operators/things/1', init);
      expect(status).toBe(500);
      expect(text).not.toContain('operators.authenticate');
    }
    expect(seen).toEqual([]);
    expect(String(provider.errors[0]?.fields && Object.values(provider.errors[0].fields))).toContain(
      'operators.authenticate',
    );
  });

  it('refuses everybody if the host throws or does not respond', async () => {
    let call: Authenticate = () => {
      throw new Error('secret detail');
    };
    const { provider, seen } = await started((request) => call(request), { hostTimeoutSeconds: 0.05 });
    const status = async () => {
      const { status, text } = await provider.request('/operators/things/1', { headers: html });
      expect(text).not.toContain('secret detail');
      return status;
    };
    expect(await status()).toBe(500);
    call = async () => {
      throw new Error('secret detail');
    };
    expect(await status()).toBe(500);
    call = () => new Promise(() => {});
    expect(await status()).toBe(503);
    expect(seen).toEqual([]);
  });
});

describe('a form for operators', () => {
  it('is taken from a page of the same operator, and its act has the name of the operator', async () => {
    const { provider, seen } = await started(named);
    const proof = await proofOf(provider, 'Ana Belle');
    const headers = { ...staff('Ana Belle'), origin: provider.origin, 'sec-fetch-site': 'same-origin' };
    const answer = await provider.request('/operators/things/1', posted({ csrf: proof, a: 'b' }, headers));
    expect(answer.status).toBe(303);
    expect(seen.map((form) => form.get('a'))).toEqual(['b']);
    const { entries } = await provider.ostiary.admin.audit.list();
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([['Ana Belle', 'storage.purge']]);
  });

  it('is refused from elsewhere, without a proof, and with another one', async () => {
    const { provider, seen } = await started(named);
    const own = await proofOf(provider, 'ana');
    const other = await proofOf(provider, 'bob');
    const { origin } = provider;
    const site = { origin, 'sec-fetch-site': 'same-origin' };
    const [time = '', mac = ''] = own.split('.');
    const cases: [string, Record<string, string>, Record<string, string>][] = [
      ['no proof', {}, site],
      ['an empty proof', { csrf: '' }, site],
      ['that of another operator', { csrf: other }, site],
      ['a forged one', { csrf: `${time}.${mac.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}` }, site],
      ['a foreign origin', { csrf: own }, { origin: 'https://evil.example' }],
      ['a foreign site', { csrf: own }, { origin, 'sec-fetch-site': 'cross-site' }],
      ['an origin of null', { csrf: own }, { origin: 'null' }],
    ];
    for (const [name, form, headers] of cases) {
      const init = posted(form, { ...staff('ana'), ...headers });
      expect.soft([name, (await provider.request('/operators/things/1', init)).status]).toEqual([name, 403]);
    }
    provider.clock.advance(25 * 3_600_000);
    const old = posted({ csrf: own }, { ...staff('ana'), ...site });
    expect((await provider.request('/operators/things/1', old)).status).toBe(403);
    expect(seen).toEqual([]);
    expect((await provider.ostiary.admin.audit.list()).entries).toEqual([]);
  });
});

describe('without the option operators', () => {
  it('there is nothing, and a host may have pages there', async () => {
    const provider = await startProvider();
    for (const path of ['/operators', '/operators/partners'])
      expect((await provider.request(path, { headers: staff() })).status).toBe(404);
    expect(provider.ostiary.routes.filter((path) => path.includes('operators'))).toEqual([]);
    const answer = await provider.ostiary.fetch(new Request(`${provider.origin}/operators`), {
      next: () => new Response('of the host'),
    });
    expect((await answerOf(answer)).text).toBe('of the host');
  });

  it('and what it takes is checked at the start', async () => {
    const pages = { pages: () => [] };
    for (const operators of [
      {},
      { pages },
      { authenticate: () => null },
      { authenticate: () => null, pages: {} },
      true,
    ])
      await expect(startProvider({ operators: operators as never })).rejects.toThrow(/operators/);
  });
});
