import { describe, expect, it } from 'vitest';
import { checkRedirectUris } from '../../src/admin/redirect-uris.ts';

const long = (length: number): string => 'https://app.example/'.padEnd(length, 'a');

const accepted: readonly string[] = [
  'https://app.example',
  'https://app.example/',
  'https://app.example:8443/cb?a=b&c=d',
  'https://app.example/a%20b/(c);d=e,f',
  'https://xn--bcher-kva.example/cb',
  'https://192.0.2.1/cb',
  'https://[2001:db8::1]/cb',
  'https://localhost/cb',
  'http://localhost/cb',
  'http://localhost:8080/cb',
  'http://127.0.0.1/cb',
  'http://127.0.0.1:49152/cb',
  'http://[::1]/cb',
  'http://[::1]:1234/cb',
  long(2048),
];

const privateUse: readonly string[] = [
  'com.example.app:/cb',
  'com.example.app://cb',
  'com.example.app:/cb?x=1',
  'a.b:/',
];

const refused: readonly (readonly [string, RegExp])[] = [
  ['', /not an absolute URI/],
  ['app.example/cb', /not an absolute URI/],
  ['/cb', /not an absolute URI/],
  ['//app.example/cb', /not an absolute URI/],
  ['https://', /not an absolute URI/],
  ['https:app.example', /no host/],
  ['https:/app.example', /no host/],
  ['https:///app.example', /no host/],
  ['http://app.example/cb', /loopback addresses only/],
  ['http://10.0.0.1/cb', /loopback addresses only/],
  ['http://localhost.example/cb', /loopback addresses only/],
  ['http://127.0.0.1.example/cb', /loopback addresses only/],
  ['http://0.0.0.0/cb', /loopback addresses only/],
  ['https://app.example/cb#', /fragment/],
  ['https://app.example/cb#x', /fragment/],
  ['https://user@app.example/cb', /user information/],
  ['https://user:pass@app.example/cb', /user information/],
  ['https://@app.example/cb', /user information/],
  ['https://:@app.example/cb', /user information/],
  ['https://*.example/cb', /wildcard/],
  ['https://app.example/*', /wildcard/],
  ['javascript:alert(1)', /scheme that is not allowed/],
  ['JavaScript:alert(1)', /scheme that is not allowed/],
  ['data:text/html,x', /scheme that is not allowed/],
  ['file:///etc/passwd', /scheme that is not allowed/],
  ['ftp://app.example/cb', /scheme that is not allowed/],
  ['blob:https://app.example/x', /scheme that is not allowed/],
  ['myapp://cb', /scheme that is not allowed/],
  ['urn:ietf:wg:oauth:2.0:oob', /scheme that is not allowed/],
  ['https://app.example/a b', /characters that a URI cannot have/],
  [' https://app.example/', /characters that a URI cannot have/],
  ['https://app.example/\n', /characters that a URI cannot have/],
  ['https://app.example/é', /characters that a URI cannot have/],
  ['https://app.example\\cb', /characters that a URI cannot have/],
  ['https://app.example/"x"', /characters that a URI cannot have/],
  ['https://app.example/<x>', /characters that a URI cannot have/],
  ['https://app.example/%', /characters that a URI cannot have/],
  ['https://app.example/%zz', /characters that a URI cannot have/],
  [long(2049), /longer than 2048/],
];

describe('the provisioning of redirect URIs', () => {
  it.each(accepted)('accepts %s for every client', (uri) => {
    for (const isPublic of [true, false]) expect(() => checkRedirectUris([uri], isPublic)).not.toThrow();
  });

  it.each(privateUse)('accepts %s for public clients only', (uri) => {
    expect(() => checkRedirectUris([uri], true)).not.toThrow();
    expect(() => checkRedirectUris([uri], false)).toThrow(/public clients only/);
  });

  it.each(refused)('refuses %s', (uri, why) => {
    for (const isPublic of [true, false]) {
      expect(() => checkRedirectUris(['https://app.example/', uri], isPublic)).toThrow(TypeError);
      expect(() => checkRedirectUris(['https://app.example/', uri], isPublic)).toThrow(/^redirectUris\.1: /);
      expect(() => checkRedirectUris([uri], isPublic)).toThrow(why);
    }
  });

  it('takes 1 to 50, each once', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `https://app.example/${index}`);
    expect(() => checkRedirectUris([], false)).toThrow(/at least one/);
    expect(() => checkRedirectUris(many(50), false)).not.toThrow();
    expect(() => checkRedirectUris(many(51), false)).toThrow(/50 at most/);
    expect(() => checkRedirectUris(['https://a.example/', 'https://a.example/'], false)).toThrow(/twice/);
  });
});
