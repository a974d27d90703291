import { describe, expect, it } from 'vitest';
import { rawGet, sendRaw } from '../attacks/raw.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { register, secret } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';
import { body, hooks, idsOf, shop, url } from './webhook-shop.ts';

describe('what a webhook endpoint may be', () => {
  const long = (length: number) => 'é'.repeat(length);

  it.each<readonly [string, unknown, readonly string[]]>([
    ['nothing', undefined, ['url', 'events', 'secret']],
    ['no object', [], ['']],
    ['null', null, ['']],
    ['a member more', { ...body, enabled: false }, ['enabled']],
    ['a member of an endpoint', { ...body, id: `we_${'0'.repeat(32)}` }, ['id']],
    ['no url', { ...body, url: undefined }, ['url']],
    ['a url that is none', { ...body, url: 'hook' }, ['url']],
    ['a url of another type', { ...body, url: 7 }, ['url']],
    ['an empty url', { ...body, url: '' }, ['url']],
    ['a long url', { ...body, url: `${url}/${'x'.repeat(2048)}` }, ['url']],
    ['no events', { ...body, events: undefined }, ['events']],
    ['an empty list of events', { ...body, events: [] }, ['events']],
    ['an event that is no list', { ...body, events: '*' }, ['events']],
    ['an unknown event', { ...body, events: ['payment.created'] }, ['events.0']],
    ['an unknown event beside a known one', { ...body, events: ['kyc.updated', 'nope'] }, ['events.1']],
    ['an event in another case', { ...body, events: ['Payment.completed'] }, ['events.0']],
    ['an event of another type', { ...body, events: [null] }, ['events.0']],
    ['everything and one more', { ...body, events: ['*', 'kyc.updated'] }, ['events']],
    ['one and everything', { ...body, events: ['kyc.updated', '*'] }, ['events']],
    ['everything twice', { ...body, events: ['*', '*'] }, ['events']],
    ['an event twice', { ...body, events: ['kyc.updated', 'kyc.updated'] }, ['events']],
    ['many events', { ...body, events: Array.from({ length: 1000 }, () => 'kyc.updated') }, ['events']],
    ['a type that every object has', { ...body, events: ['constructor'] }, ['events.0']],
    ['no secret', { ...body, secret: undefined }, ['secret']],
    ['an empty secret', { ...body, secret: '' }, ['secret']],
    ['a short secret', { ...body, secret: long(15) }, ['secret']],
    ['a long secret', { ...body, secret: long(257) }, ['secret']],
    ['a secret of another type', { ...body, secret: 1e20 }, ['secret']],
    ['a secret of blanks', { ...body, secret: ' '.repeat(20) }, ['secret']],
    ['a secret that is a missing variable', { ...body, secret: 'undefinedundefined' }, ['secret']],
  ])('%s is refused', async (_name, given, paths) => {
    const { provider, key, call } = await shop();
    expect(blamed(await call(`POST ${hooks}`, given === undefined ? {} : given)).sort()).toEqual(
      [...paths].sort(),
    );
    expect(await idsOf(provider, key)).toEqual([]);
  });

  it('a secret that cannot be stored everywhere is refused with the whole body', async () => {
    const { call } = await shop();
    for (const part of ['\\u0000', '\\ud800', '\\udc00\\ud800'])
      expect(
        (await call(`POST ${hooks}`, JSON.stringify(body).replace(secret, `${secret}${part}`))).status,
      ).toBe(400);
  });

  it('secrets of 16 to 256 characters are taken as they are', async () => {
    const { call } = await shop();
    for (const good of [long(16), long(256), '🔑'.repeat(16), 'a b\tc"d\\e\n'.repeat(2), `  ${long(14)}`])
      expect((await call(`POST ${hooks}`, { ...body, secret: good })).status, good).toBe(201);
  });

  it.each<readonly [string, unknown, readonly string[]]>([
    ['nothing', {}, ['']],
    ['no object', [], ['']],
    ['a member more', { enabled: true, mode: 'live' }, ['mode']],
    ['a field that never changes', { id: `we_${'0'.repeat(32)}` }, ['id']],
    ['a switch that is text', { enabled: 'false' }, ['enabled']],
    ['a switch that is null', { enabled: null }, ['enabled']],
    ['a url that is null', { url: null }, ['url']],
    ['a url with credentials', { url: 'http://a:b@127.0.0.1/' }, ['url']],
    ['no events', { events: [] }, ['events']],
    ['an unknown event', { events: ['nope'] }, ['events.0']],
    ['everything and one more', { events: ['*', 'kyc.updated'] }, ['events']],
    ['a short secret', { secret: 'short' }, ['secret']],
    ['a secret of blanks', { secret: ' '.repeat(20) }, ['secret']],
    ['one good and one bad', { enabled: false, secret: 'short' }, ['secret']],
  ])('a change of %s is refused, and changes nothing', async (_name, given, paths) => {
    const { provider, key, call } = await shop();
    const id = await register(provider, key, url);
    const before = (await call(`GET ${hooks}/${id}`)).json();
    provider.clock.advance(1_000);
    expect(blamed(await call(`PATCH ${hooks}/${id}`, given))).toEqual(paths);
    expect((await call(`GET ${hooks}/${id}`)).json()).toEqual(before);
  });

  it('takes no query, and no body where none belongs', async () => {
    const { provider, key, call } = await shop();
    const id = await register(provider, key, url);
    expect(blamed(await call(`GET ${hooks}?limit=1`))).toEqual(['limit']);
    expect(blamed(await call(`GET ${hooks}/${id}?secret=1`))).toEqual(['secret']);
    expect(blamed(await call(`DELETE ${hooks}/${id}`, {}))).toEqual([]);
    expect(blamed(await call(`POST ${hooks}?x=1`, body))).toEqual(['x']);
    expect(await idsOf(provider, key)).toEqual([id]);
    for (const [method, allow] of [
      ['PUT', 'GET, HEAD, PATCH, DELETE'],
      ['POST', 'GET, HEAD, PATCH, DELETE'],
    ]) {
      const answer = await call(`${method} ${hooks}/${id}`, {});
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    }
  });

  it('paths that cannot be an id lead nowhere, and the database only counts them', async () => {
    const database = fragileStorage();
    const { provider, key, call } = await shop({ storage: database.storage });
    const id = await register(provider, key, url);
    database.forget();
    for (const path of [
      'x',
      '%00',
      `${id}%00`,
      id.toUpperCase(),
      `${id}%20`,
      `${id}0`,
      id.slice(0, -1),
      `%20${id}`,
      'we_%2e%2e',
      '..%2f..%2fadmin',
      '%2e%2e%2fwhoami',
      'we_'.padEnd(10_000, '0'),
      `${id}%0a`,
      '%F0%9F%94%91',
    ]) {
      for (const below of ['', '/deliveries'])
        expect((await call(`GET ${hooks}/${path}${below}`)).status, path.slice(0, 40)).toBe(404);
      expect((await call(`DELETE ${hooks}/${path}`)).status, path.slice(0, 40)).toBe(404);
    }
    for (const path of [`${hooks}/..`, `${hooks}/../whoami/x`, `${hooks}/%`, `${hooks}/%ff`]) {
      const answer = await sendRaw(provider.origin, rawGet(path, [`X-API-Key: ${key.key}`]));
      expect([400, 404], path).toContain(answer.status);
      expect(JSON.parse(answer.body), path).toHaveProperty('code');
    }
    expect(new Set(database.calls)).toEqual(new Set(['rateLimits.consumeOfKey']));
    expect(await idsOf(provider, key)).toEqual([id]);
  });
});
