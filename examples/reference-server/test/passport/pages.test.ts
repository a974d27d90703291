import { encode } from 'uqr';
import { describe, expect, test } from 'vitest';
import { anaika, startServer } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

const tokenOf = (html: string): string => /id="token"[^>]*>([^<]+)</.exec(html)?.[1] ?? '';

/** Reads the modules of the QR code back from its SVG. */
function modulesOf(html: string): boolean[][] {
  const size = Number(/class="qr" viewBox="0 0 (\d+)/.exec(html)?.[1]);
  const modules = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  for (const [, x, y, length] of html.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    modules[Number(y)]?.fill(true, Number(x), Number(x) + Number(length));
  }
  return modules;
}

async function signedIn(options: Parameters<typeof startServer>[0] = {}) {
  const started = await startServer(options);
  const visitor = new Visitor(started.origin, { 'Accept-Language': 'en' });
  await visitor.signIn('anaika', anaika.password);
  return { ...started, visitor };
}

async function verify(origin: string, key: string, token: string) {
  const response = await fetch(`${origin}/v1/partner/verify`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return { status: response.status, body: await response.json() };
}

describe('the passport page', () => {
  test('sends visitors without a session to the sign-in page, and back', async () => {
    const { origin } = await startServer();
    const visitor = new Visitor(origin);
    const answer = await visitor.get('/passport');
    expect(answer).toMatchObject({ status: 303, location: `${origin}/login?return_to=%2Fpassport` });
    const back = await visitor.signIn('anaika', anaika.password, '?return_to=%2Fpassport');
    expect(back.location).toBe(`${origin}/passport`);
    expect((await visitor.get('/')).html).toContain('href="/passport"');
  });

  test('shows a passport that a partner can verify until it expires', async () => {
    let now = Date.parse('2026-05-01T12:00:00.000Z');
    const { origin, server, visitor } = await signedIn({ now: () => now });
    const { partners, apiKeys } = server.installation.ostiary.admin;
    await partners.create({ slug: 'kafe', name: 'Kafe' });
    const { key } = await apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['identity:verify'] });
    const page = await visitor.get('/passport');
    expect(page.status).toBe(200);
    // The server does not know the reader's time zone: without the script, the time names its own.
    expect(page.html).toContain(
      '<time id="until" datetime="2026-05-01T12:05:00.000Z">12:05:00 PM UTC</time>',
    );
    const inFrench = await visitor.get('/passport', { 'Accept-Language': 'fr' });
    expect(inFrench.html).toContain('<html lang="fr">');
    expect(inFrench.html).toContain('Nouveau passeport');
    expect(inFrench.html).toContain('datetime="2026-05-01T12:05:00.000Z">12:05:00 UTC</time>');
    const token = tokenOf(page.html);
    const account = await server.installation.accounts.get('anaika');
    expect(await verify(origin, key, token)).toMatchObject({
      status: 200,
      body: { valid: true, user: { kid: account?.kid }, expiresAt: '2026-05-01T12:05:00.000Z' },
    });
    now += 300_001;
    expect(await verify(origin, key, token)).toMatchObject({ status: 422, body: { code: 'token_expired' } });
    const again = await visitor.post('/passport', {});
    expect(again).toMatchObject({ status: 303, location: `${origin}/passport` });
    expect(tokenOf((await visitor.get('/passport')).html)).not.toMatch(new RegExp(`^(${token})?$`));
    await server.installation.accounts.block('anaika');
    expect((await visitor.get('/passport')).status).toBe(303);
  });

  test('draws exactly the code of its token, with a white border', async () => {
    const { visitor } = await signedIn();
    const { html } = await visitor.get('/passport');
    expect(tokenOf(html)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(modulesOf(html)).toEqual(encode(tokenOf(html), { ecc: 'L', border: 4 }).data);
    expect(html).toMatch(/<svg class="qr"[^>]* role="img" aria-label="[^"]+"/);
  });

  test('has one script, from its own origin, and needs none', async () => {
    const { visitor, origin } = await signedIn();
    const { html, headers } = await visitor.get('/passport');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*; script-src 'self'$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(html.match(/<script[^>]*>/g)).toEqual(['<script src="/passport.js" defer>']);
    expect(html).not.toMatch(/ on[a-z]+=| style=/);
    const script = await fetch(`${origin}/passport.js`);
    expect(script.headers.get('content-type')).toContain('text/javascript');
    expect((await visitor.get('/')).headers.get('content-security-policy')).not.toContain('script');
  });
});
