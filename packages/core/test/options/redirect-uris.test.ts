import { describe, expect, it } from 'vitest';
import { checkRedirectUris } from '../../src/options/redirect-uris.ts';

const rules = (isPublic: boolean, firstParty = false) => ({ isPublic, firstParty });
const long = (length: number): string => 'https://app.example/'.padEnd(length, 'a');

const accepted: readonly string[] = [
  ...['https://app.example', 'https://app.example/', 'https://app.example:8443/cb?a=b&c=d'],
  ...['https://app.example/a%20b/(c);d=e,f', 'https://xn--bcher-kva.example/cb', 'https://192.0.2.1/cb'],
  ...['https://[2001:db8::1]/cb', 'https://localhost/cb', 'http://localhost/cb', 'http://localhost:8080/cb'],
  ...[
    'http://127.0.0.1/cb',
    'http://127.0.0.1:49152/cb',
    'http://[::1]/cb',
    'http://[::1]:1234/cb',
    long(2048),
  ],
];

const privateUse = ['com.example.app:/cb', 'com.example.app://cb', 'com.example.app:/cb?x=1', 'a.b:/'];

const refused: readonly (readonly [why: RegExp, ...uris: string[]])[] = [
  [/not an absolute URI/, '', 'app.example/cb', '/cb', '//app.example/cb', 'https://'],
  [/no host/, 'https:app.example', 'https:/app.example', 'https:///app.example'],
  [/loopback addresses only/, 'http://app.example/cb', 'http://10.0.0.1/cb', 'http://localhost.example/cb'],
  [/loopback addresses only/, 'http://127.0.0.1.example/cb', 'http://0.0.0.0/cb'],
  [/fragment/, 'https://app.example/cb#', 'https://app.example/cb#x'],
  [/user information/, 'https://user@app.example/cb', 'https://user:pass@app.example/cb'],
  [/user information/, 'https://@app.example/cb', 'https://:@app.example/cb'],
  [/wildcard/, 'https://*.example/cb', 'https://app.example/*'],
  [/scheme that is not allowed/, 'javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x'],
  [/scheme that is not allowed/, 'file:///etc/passwd', 'ftp://app.example/cb', 'blob:https://app.example/x'],
  [/scheme that is not allowed/, 'myapp://cb', 'urn:ietf:wg:oauth:2.0:oob'],
  [/characters that a URI cannot have/, 'https://app.example/a b', ' https://app.example/'],
  [/characters that a URI cannot have/, 'https://app.example/\n', 'https://app.example/é'],
  [/characters that a URI cannot have/, 'https://app.example\\cb', 'https://app.example/"x"'],
  [/characters that a URI cannot have/, 'https://app.example/<x>', 'https://app.example/%'],
  [/characters that a URI cannot have/, 'https://app.example/%zz'],
  [/longer than 2048/, long(2049)],
];

describe('the provisioning of redirect URIs', () => {
  it.each(accepted)('accepts %s for every client', (uri) => {
    for (const isPublic of [true, false])
      expect(() => checkRedirectUris([uri], rules(isPublic))).not.toThrow();
  });

  it.each(privateUse)('accepts %s for public clients only', (uri) => {
    expect(() => checkRedirectUris([uri], rules(true))).not.toThrow();
    expect(() => checkRedirectUris([uri], rules(false))).toThrow(/public clients only/);
  });

  it.each(['cursor://anysphere.cursor-mcp/oauth/callback', 'myapp:/cb'])(
    'accepts %s, a scheme without a dot, for public clients that an administrator vouches for',
    (uri) => {
      expect(() => checkRedirectUris([uri], rules(true, true))).not.toThrow();
      expect(() => checkRedirectUris([uri], rules(true, false))).toThrow(/firstParty/);
      expect(() => checkRedirectUris([uri], rules(false, true))).toThrow(/public clients only/);
    },
  );

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'intent://x',
    'about:x',
  ])('refuses %s, which the browser acts on, for every client', (uri) => {
    expect(() => checkRedirectUris([uri], rules(true, true))).toThrow(/scheme that is not allowed/);
  });

  it.each(refused.flatMap(([why, ...uris]) => uris.map((uri) => [uri, why] as const)))(
    'refuses %s',
    (uri, why) => {
      for (const isPublic of [true, false]) {
        expect(() => checkRedirectUris(['https://app.example/', uri], rules(isPublic))).toThrow(TypeError);
        expect(() => checkRedirectUris(['https://app.example/', uri], rules(isPublic))).toThrow(
          /^redirectUris\.1: /,
        );
        expect(() => checkRedirectUris([uri], rules(isPublic))).toThrow(why);
      }
    },
  );

  it('takes 1 to 50, each once', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `https://app.example/${index}`);
    expect(() => checkRedirectUris([], rules(false))).toThrow(/at least one/);
    expect(() => checkRedirectUris(many(50), rules(false))).not.toThrow();
    expect(() => checkRedirectUris(many(51), rules(false))).toThrow(/50 at most/);
    expect(() => checkRedirectUris(['https://a.example/', 'https://a.example/'], rules(false))).toThrow(
      /twice/,
    );
  });
});
