import { describe, expect, it } from 'vitest';
import { type Duration, milliseconds, Timeline } from '../../src/clock.ts';
import { call, newKit, pay } from './support.ts';

describe('a length of time', () => {
  it.each([
    [1500, 1500],
    [0, 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['1.5s', 1_500],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
  ] as const)('%j is %d ms', (text, expected) => {
    expect(milliseconds(text)).toBe(expected);
  });

  it.each([
    '',
    '5',
    's',
    '-1s',
    '1w',
    '1 s',
    '1s 2m',
    'Infinity',
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
  ])('%j is none', (text) => {
    expect(() => milliseconds(text as Duration)).toThrow(TypeError);
  });
});

describe('the clock of a kit', () => {
  it('stands still, and begins at the present', async () => {
    const before = Date.now();
    const kit = await newKit();
    const now = kit.clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    await pay(kit);
    await kit.settle();
    // The request takes one millisecond of the clock.
    expect(kit.clock.now()).toBe(now + 1);
  });

  it('lets passports expire after five minutes, and not before', async () => {
    const kit = await newKit();
    const { token } = await kit.passports.issue();
    const verify = () => call(kit, 'POST /v1/partner/verify', { token });
    await kit.clock.advance(299_999);
    expect((await verify()).status).toBe(200);
    expect(await verify()).toMatchObject({ status: 422, json: { code: 'token_expired' } });
  });

  it('makes every retry at its time, in no time', async () => {
    const kit = await newKit();
    await kit.webhooks.register('https://shop.example/hooks', {
      receiver: () => new Response(null, { status: 500 }),
    });
    await pay(kit);
    const start = kit.clock.now();
    const before = performance.now();
    await kit.clock.advance('3h');
    expect(performance.now() - before).toBeLessThan(2_000);
    const minutes = kit.inbox.deliveries.map(({ sentAt }) => (sentAt - start) / 60_000);
    expect(minutes).toEqual([0, 1, 6, 36, 156]);
    expect(new Set(kit.inbox.deliveries.map(({ id }) => id)).size).toBe(1);
    expect(kit.clock.now()).toBe(start + 3 * 3_600_000);
    await kit.clock.advance('30d');
    expect(kit.inbox.deliveries).toHaveLength(5);
  });

  it('does what a receiver causes on the way, at that time', async () => {
    const kit = await newKit();
    let tries = 0;
    await kit.webhooks.register('https://shop.example/hooks', {
      events: ['payment.completed'],
      async receiver() {
        tries += 1;
        if (tries === 2) await pay(kit, { amount: '2.00' });
        return new Response(null, { status: tries === 1 ? 503 : 200 });
      },
    });
    await pay(kit);
    const start = kit.clock.now();
    await kit.clock.advance('1h');
    const sent = kit.inbox.deliveries.map(({ event, sentAt }) => [event.data.amount, sentAt - start]);
    expect(sent).toEqual([
      ['125.00', 0],
      ['125.00', 60_000],
      ['2.00', 60_001],
    ]);
  });

  it('is not moved by a receiver, which would wait for itself', async () => {
    const kit = await newKit();
    await kit.webhooks.register('https://shop.example/hooks', {
      async receiver() {
        await kit.clock.advance('1m');
        return new Response();
      },
    });
    await pay(kit);
    await kit.settle();
    const [delivery] = kit.inbox.deliveries;
    expect(delivery?.status).toBeNull();
    expect(String(delivery?.error)).toContain('a receiver cannot wait');
  });

  it('moves once for each of several advances at the same time', async () => {
    const kit = await newKit();
    const start = kit.clock.now();
    await Promise.all([kit.clock.advance('1h'), kit.clock.advance('1d'), kit.clock.advance('1s')]);
    expect(kit.clock.now() - start).toBe(90_001_000);
  });
});

it('old rows are removed in a month that passes at once', async () => {
  const kit = await newKit();
  await pay(kit);
  const sent = async () => (await call(kit, 'GET /v1/partner/events')).json.data;
  await kit.settle();
  expect(await sent()).toHaveLength(1);
  await kit.clock.advance('60d');
  expect(await sent()).toEqual([]);
});

describe('a timeline', () => {
  it('stops at every moment, in order, and wakes sleepers before it works', async () => {
    const seen: string[] = [];
    const timeline = new Timeline(0, async () => {
      seen.push(`work at ${timeline.now()}`);
      if (timeline.now() === 20) timeline.expect(25);
    });
    for (const moment of [30, 10, 20, 10, 99]) timeline.expect(moment);
    const { signal } = new AbortController();
    void timeline.sleep(15, signal).then(() => seen.push(`awake at ${timeline.now()}`));
    await timeline.advance(50);
    expect(seen).toEqual([
      'work at 0',
      'work at 10',
      'awake at 15',
      'work at 15',
      'work at 20',
      'work at 25',
      'work at 30',
    ]);
    expect(timeline.now()).toBe(50);
  });

  it('comes to upkeep with other work, or at the end, and stops for it at no other time', async () => {
    const seen: number[] = [];
    const timeline = new Timeline(0, async () => {
      seen.push(timeline.now());
      timeline.expectUpkeep(timeline.now() + 10);
    });
    timeline.expect(35);
    await timeline.advance(5);
    await timeline.advance(95);
    expect(seen).toEqual([0, 5, 35, 100]);
  });

  it('lets sleepers be called off', async () => {
    const timeline = new Timeline(0, async () => {});
    const control = new AbortController();
    const sleeping = timeline.sleep(10, control.signal);
    control.abort(new RangeError('enough'));
    await expect(sleeping).rejects.toThrow(RangeError);
    await expect(timeline.sleep(10, control.signal)).rejects.toThrow(RangeError);
  });

  it('goes on after work that failed', async () => {
    let fails = true;
    const timeline = new Timeline(0, async () => {
      if (fails) throw new RangeError('work');
    });
    await expect(timeline.advance(5)).rejects.toThrow(RangeError);
    fails = false;
    await timeline.advance(5);
    expect(timeline.now()).toBe(5);
  });
});
