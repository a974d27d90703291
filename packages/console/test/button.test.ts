import { describe, expect, it } from 'vitest';
import { consoleKit, visited } from './console-kit.ts';

describe('the sign-in button', () => {
  it('is a file with the name of the service, in each language, light and dark', async () => {
    const { browser } = await visited({ theme: { name: 'Kafe & <Thé>', colour: '#aa3300' } });
    const { text } = await browser.get('/sandbox/button');
    expect(text).toContain('Sign in with Kafe &amp; &lt;Thé&gt;');
    const files = [...text.matchAll(/button\.svg\?[^"]+/g)].map(([file]) => file.replaceAll('&amp;', '&'));
    expect(files).toHaveLength(10);
    for (const file of files) {
      const answer = await browser.get(`/sandbox/${file}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
      expect(answer.text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
      expect(answer.text).toContain('Kafe &amp; &lt;Thé&gt;');
      expect(answer.text).not.toMatch(/<script|<Thé|href=/);
    }
    const french = await browser.get('/sandbox/button.svg?scheme=dark&lang=fr');
    expect(french.text).toContain('Se connecter avec Kafe');
    expect(french.text).toContain('fill="#131314"');
    const unknown = await browser.get('/sandbox/button.svg?scheme=toString&lang=constructor');
    expect(unknown.text).toContain('Sign in with Kafe');
  });

  it('is for partners who are signed in', async () => {
    const kit = await consoleKit();
    for (const path of ['/sandbox/button', '/sandbox/button.svg'])
      expect((await kit.provider.browser(null).get(path)).status).toBe(303);
  });
});
