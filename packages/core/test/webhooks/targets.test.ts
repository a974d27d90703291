import { Resolver } from 'node:dns/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  checkTarget,
  defaultResolve,
  parseTarget,
  type Resolve,
  TargetError,
} from '../../src/webhooks/targets.ts';

const strict = { allowPrivate: false };
const lax = { allowPrivate: true };
const nobody = () => Promise.reject(new Error('asked'));

describe('the text of a target', () => {
  it.each([
    ['https://receiver.example', 'https://receiver.example/'],
    ['https://receiver.example/hook?a=b&c=%20', 'https://receiver.example/hook?a=b&c=%20'],
    ['HTTPS://Receiver.Example/Hook', 'https://receiver.example/Hook'],
    ['https://receiver.example:443/', 'https://receiver.example/'],
    ['https://receiver.example:1024/', 'https://receiver.example:1024/'],
    ['https://receiver.example:65535/', 'https://receiver.example:65535/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://localhost.example/', 'https://localhost.example/'],
    ['https://notlocalhost/', 'https://notlocalhost/'],
    ['https://receiver.example/a@b', 'https://receiver.example/a@b'],
    ['https://1.1.1.1/', 'https://1.1.1.1/'],
    ['https://[2606:4700:4700::1111]:8443/', 'https://[2606:4700:4700::1111]:8443/'],
    [`https://receiver.example/${'a'.repeat(2023)}`, `https://receiver.example/${'a'.repeat(2023)}`],
  ])('%s is allowed', (text, href) => {
    expect(parseTarget(text, strict).href).toBe(href);
  });

  const long = 'https://receiver.example/'.padEnd(2049, 'a');
  const refused: Readonly<Record<string, readonly string[]>> = {
    'The URL must begin with https:// and a host.': [
      ...['http://receiver.example/', 'ws://receiver.example/', 'receiver.example', 'https:receiver.example'],
      ...['https:///receiver.example', 'https://?', ''],
    ],
    'The URL must not contain credentials.': [
      ...['https://user@receiver.example/', 'https://user:pass@receiver.example/'],
      ...['https://@receiver.example/', 'https://:@receiver.example/'],
    ],
    'The URL must not contain a fragment.': ['https://receiver.example/#part', 'https://receiver.example/#'],
    'The port must be 443, or 1024 and above.': ['80', '444', '1023', '0'].map(
      (port) => `https://receiver.example:${port}/`,
    ),
    'The URL is malformed.': ['https://receiver.example:65536/', 'https://receiver.1/', 'https://%00/'],
    // Percent-encoding turns each `€` into nine characters.
    'The URL must have at most 2048 characters.': [long, `https://receiver.example/${'€'.repeat(300)}`],
    'The URL must not contain whitespace, control characters or backslashes.': [
      ...['\t', '\n', '\r', ' ', '\u0000', '\u007f', '\u00a0', '\u00ad', '\u200b', '\u2028', '\ud800', '\\'],
    ].map((character) => `https://receiver.example/a${character}b`),
    'The host must resolve, and to public addresses only.': [
      ...['https://10.0.0.1/', 'https://localhost/', 'https://receiver.example./'],
    ],
  };
  it.each(Object.entries(refused))('is refused: %s', (message, texts) => {
    for (const text of texts) expect(() => parseTarget(text, strict), text).toThrow(new TargetError(message));
  });

  it('may be plain http, private and on any port where private targets are allowed, and is refused otherwise', () => {
    for (const href of [
      'http://localhost/',
      'http://127.0.0.1:81/',
      'http://[::1]:22/',
      'https://intranet./',
    ])
      expect(parseTarget(href, lax).href).toBe(href);
    for (const text of ['ftp://a.example/', 'http://a@a.example/', 'http://a.example:0/', 'http:\\\\a/'])
      expect(() => parseTarget(text, lax), text).toThrow(TargetError);
  });
});

describe('the host of a target', () => {
  it('must exist and have addresses even where private ones are allowed', async () => {
    const check = (resolve: Resolve) => checkTarget('http://receiver.example/', lax, resolve);
    for (const resolve of [nobody, async () => [], async () => ['x']])
      await expect(check(resolve)).rejects.toThrow(TargetError);
    await expect(check(async () => ['10.0.0.1'])).resolves.toBeInstanceOf(URL);
  });

  it('keeps the resolver’s own words for the log', async () => {
    const error = { code: 'TARGET_REFUSED', cause: { message: 'asked' } };
    await expect(checkTarget('https://receiver.example/', strict, nobody)).rejects.toMatchObject(error);
  });
});

/** IP addresses that name servers return, by family. A query for a missing family gets no response. */
interface Records {
  readonly v4?: string[];
  readonly v6?: string[];
}

function nameServers(records: Records) {
  const silence = Promise.withResolvers<string[]>();
  const answers = (addresses?: string[]) => async () => addresses ?? silence.promise;
  const asked = [
    vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(answers(records.v4) as never),
    vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(answers(records.v6) as never),
  ];
  vi.spyOn(Resolver.prototype, 'cancel').mockImplementation(() => silence.reject(new Error('cancelled')));
  onTestFinished(() => void vi.restoreAllMocks());
  return () => asked.map(({ mock }) => mock.calls);
}

describe('the resolver', () => {
  it('knows this machine’s own names only where private targets are allowed', async () => {
    const addresses = await defaultResolve(lax)('localhost');
    expect(addresses.some((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
    expect(nameServers({ v4: [], v6: [] })()).toEqual([[], []]);
  });

  it.each<[found: string, records: Records]>([
    ['every address of both families', { v4: ['1.1.1.1', '1.0.0.1'], v6: ['2606:4700::1111'] }],
    ['one family, where the other has none', { v4: [], v6: ['2606:4700::1111'] }],
    ['one family, where the other never answers', { v4: ['1.1.1.1'] }],
    ['nothing, which the check refuses', { v4: [], v6: [] }],
    ['private addresses, which the check refuses', { v4: ['1.1.1.1'], v6: ['::1'] }],
  ])('asks name servers, once for each family, and finds %s', async (found, records) => {
    const asked = nameServers(records);
    const resolve = defaultResolve(strict);
    expect(await resolve('receiver.example')).toEqual([...(records.v4 ?? []), ...(records.v6 ?? [])]);
    expect(asked()).toEqual([[['receiver.example']], [['receiver.example']]]);
    const checked = checkTarget('https://receiver.example/', strict, resolve);
    if (found.endsWith('refuses')) await expect(checked).rejects.toThrow(TargetError);
    else await expect(checked).resolves.toBeInstanceOf(URL);
  });
});
