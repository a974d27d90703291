import { describe, expect, it, vi } from 'vitest';
import {
  checkTarget,
  defaultResolve,
  nameServerResolve,
  parseTarget,
  TargetError,
} from '../../src/webhooks/targets.ts';
import { startNameServer } from './support/target-name-server.ts';

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

  it.each([
    ['http://receiver.example/', 'The URL must begin with https:// and a host.'],
    ['ws://receiver.example/', 'The URL must begin with https:// and a host.'],
    ['receiver.example', 'The URL must begin with https:// and a host.'],
    ['https:receiver.example', 'The URL must begin with https:// and a host.'],
    ['https:///receiver.example', 'The URL must begin with https:// and a host.'],
    ['https://?', 'The URL must begin with https:// and a host.'],
    ['', 'The URL must begin with https:// and a host.'],
    ['https://user@receiver.example/', 'The URL must not contain credentials.'],
    ['https://user:pass@receiver.example/', 'The URL must not contain credentials.'],
    ['https://@receiver.example/', 'The URL must not contain credentials.'],
    ['https://:@receiver.example/', 'The URL must not contain credentials.'],
    ['https://receiver.example/#part', 'The URL must not contain a fragment.'],
    ['https://receiver.example/#', 'The URL must not contain a fragment.'],
    ['https://receiver.example:80/', 'The port must be 443, or 1024 and above.'],
    ['https://receiver.example:444/', 'The port must be 443, or 1024 and above.'],
    ['https://receiver.example:1023/', 'The port must be 443, or 1024 and above.'],
    ['https://receiver.example:0/', 'The port must be 443, or 1024 and above.'],
    ['https://receiver.example:65536/', 'The URL is malformed.'],
    ['https://receiver.1/', 'The URL is malformed.'],
    ['https://%00/', 'The URL is malformed.'],
    [`https://receiver.example/${'a'.repeat(2024)}`, 'The URL must have at most 2048 characters.'],
    // 1 + 3 bytes each once they are percent-encoded.
    [`https://receiver.example/${'€'.repeat(300)}`, 'The URL must have at most 2048 characters.'],
    ...[
      '\t',
      '\n',
      '\r',
      ' ',
      '\u0000',
      '\u007f',
      '\u00a0',
      '\u00ad',
      '\u200b',
      '\u2028',
      '\ud800',
      '\\',
    ].map((character) => [
      `https://receiver.example/a${character}b`,
      'The URL must not contain whitespace, control characters or backslashes.',
    ]),
    ['https://10.0.0.1/', 'The host must resolve, and to public addresses only.'],
    ['https://localhost/', 'The host must resolve, and to public addresses only.'],
    ['https://receiver.example./', 'The host must resolve, and to public addresses only.'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseTarget(text ?? '', strict)).toThrow(new TargetError(message));
  });

  it('may be plain http, private and on any port where private targets are allowed', () => {
    for (const href of [
      'http://localhost/',
      'http://127.0.0.1:81/',
      'http://[::1]:22/',
      'https://intranet./',
    ]) {
      expect(parseTarget(href, lax).href).toBe(href);
    }
  });

  it.each([
    'ftp://receiver.example/',
    'http://a@receiver.example/',
    'http://receiver.example:0/',
    'http:\\\\a/',
  ])('%s is refused even there', (text) => {
    expect(() => parseTarget(text, lax)).toThrow(TargetError);
  });
});

describe('the host of a target', () => {
  it('is resolved once, and every address checked', async () => {
    const resolve = vi.fn(async () => ['1.1.1.1', '2606:4700:4700::1111']);
    expect((await checkTarget('https://receiver.example/hook', strict, resolve)).href).toBe(
      'https://receiver.example/hook',
    );
    expect(resolve.mock.calls).toEqual([['receiver.example']]);
  });

  it('is not resolved when it is an address', async () => {
    expect((await checkTarget('https://1.1.1.1/', strict, nobody)).hostname).toBe('1.1.1.1');
    expect((await checkTarget('https://[2606:4700::1]/', strict, nobody)).hostname).toBe('[2606:4700::1]');
    expect((await checkTarget('http://127.1/', lax, nobody)).hostname).toBe('127.0.0.1');
  });

  it('must exist and have addresses even where private ones are allowed', async () => {
    await expect(checkTarget('http://receiver.example/', lax, nobody)).rejects.toThrow(TargetError);
    await expect(checkTarget('http://receiver.example/', lax, async () => [])).rejects.toThrow(TargetError);
    await expect(checkTarget('http://receiver.example/', lax, async () => ['x'])).rejects.toThrow(
      TargetError,
    );
    await expect(
      checkTarget('http://receiver.example/', lax, async () => ['10.0.0.1']),
    ).resolves.toBeInstanceOf(URL);
  });

  it('keeps the resolver’s own words for the log', async () => {
    const error: unknown = await checkTarget('https://receiver.example/', strict, nobody).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ code: 'TARGET_REFUSED', cause: { message: 'asked' } });
  });
});

describe('the resolver', () => {
  it('knows this machine’s own names only where private targets are allowed', async () => {
    const addresses = await defaultResolve(lax)('localhost');
    expect(addresses.some((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
  });

  it('asks name servers for both families, and finds every address', async () => {
    await using server = await startNameServer({ A: ['1.1.1.1', '1.0.0.1'], AAAA: ['2606:4700::1111'] });
    const resolve = nameServerResolve([server.address]);
    expect(await resolve('receiver.example')).toEqual(['1.1.1.1', '1.0.0.1', '2606:4700::1111']);
    expect(server.questions).toEqual(expect.arrayContaining(['receiver.example A', 'receiver.example AAAA']));
    expect(server.questions).toHaveLength(2);
  });

  it('is content with one family when the other has no answer or never gets one', async () => {
    await using empty = await startNameServer({ A: [], AAAA: ['2606:4700::1111'] });
    expect(await nameServerResolve([empty.address])('receiver.example')).toEqual(['2606:4700::1111']);
    await using silent = await startNameServer({ A: ['1.1.1.1'] });
    const startedAt = performance.now();
    expect(await nameServerResolve([silent.address])('receiver.example')).toEqual(['1.1.1.1']);
    expect(performance.now() - startedAt).toBeLessThan(1_900);
  });

  it('finds nothing for a name without addresses, which is then refused', async () => {
    await using server = await startNameServer({ A: [], AAAA: [] });
    const resolve = nameServerResolve([server.address]);
    expect(await resolve('receiver.example')).toEqual([]);
    await expect(checkTarget('https://receiver.example/', strict, resolve)).rejects.toThrow(TargetError);
  });

  it('does not judge: private addresses that it finds are refused by the check', async () => {
    await using server = await startNameServer({ A: ['1.1.1.1'], AAAA: ['::1'] });
    const resolve = nameServerResolve([server.address]);
    await expect(checkTarget('https://receiver.example/', strict, resolve)).rejects.toThrow(TargetError);
  });
});
