import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Limited, UnderWay } from '../../src/webhooks/under-way.ts';

interface Item extends Limited {
  readonly name: string;
}

let now = 0;
let expired: string[] = [];
let underWay: UnderWay<Item>;

const item = (name: string, deadline: number): Item => ({
  ...{ name, deadline, place: 0 },
  expire() {
    expired.push(name);
    underWay.remove(this);
  },
});

function added(name: string, deadline: number): Item {
  const one = item(name, deadline);
  underWay.add(one);
  return one;
}

/** Lets this much time pass, millisecond after millisecond. */
function pass(ms: number): void {
  for (const end = now + ms; now < end; vi.advanceTimersByTime(1)) now += 1;
}

const names = () => underWay.all.map(({ name }) => name).sort();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  now = 0;
  expired = [];
  underWay = new UnderWay(() => now);
});
afterEach(() => {
  vi.useRealTimers();
});

it('ends each at its deadline, whatever the order, with one timer', () => {
  for (const [name, deadline] of [
    ['b', 200],
    ['c', 300],
    ['a', 100],
    ['b too', 200],
  ] as const) {
    added(name, deadline);
  }
  expect(vi.getTimerCount()).toBe(1);
  pass(99);
  expect(expired).toEqual([]);
  pass(1);
  expect(expired).toEqual(['a']);
  pass(100);
  expect(expired.toSorted()).toEqual(['a', 'b', 'b too']);
  expect(vi.getTimerCount()).toBe(1);
  pass(100);
  expect(expired.at(-1)).toBe('c');
});

it('leaves no timer behind when nothing is under way', () => {
  const all = ['a', 'b', 'c'].map((name) => added(name, 100));
  for (const one of all) underWay.remove(one);
  expect(vi.getTimerCount()).toBe(0);
  added('d', 50);
  expect(vi.getTimerCount()).toBe(1);
  pass(50);
  expect(expired).toEqual(['d']);
  expect(vi.getTimerCount()).toBe(0);
});

it('does not end what is over, nor too early what has more time now', () => {
  const over = added('over', 100);
  const prolonged = added('prolonged', 100);
  const hurried = added('hurried', 500);
  underWay.remove(over);
  prolonged.deadline = 150;
  hurried.deadline = 120;
  underWay.watch(prolonged);
  underWay.watch(hurried);
  pass(119);
  expect(expired).toEqual([]);
  pass(1);
  expect(expired).toEqual(['hurried']);
  pass(30);
  expect(expired).toEqual(['hurried', 'prolonged']);
});

it('looks again when the timer came before the deadline', () => {
  added('a', 100.5);
  now = 99.9;
  vi.advanceTimersByTime(101);
  expect(expired).toEqual([]);
  now = 100.5;
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['a']);
});

it('takes what begins while others end', () => {
  const second = item('second', 100);
  underWay.add({
    ...item('first', 100),
    expire() {
      expired.push('first');
      underWay.remove(this);
      added('third', 110);
    },
  });
  underWay.add(second);
  pass(100);
  expect(expired).toEqual(['first', 'second']);
  expect(names()).toEqual(['third']);
  pass(10);
  expect(expired).toEqual(['first', 'second', 'third']);
});

it('knows who is under way, in whatever order they end', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => added(name, 100)) as [Item, Item, Item, Item];
  underWay.remove(b);
  underWay.remove(d);
  expect(names()).toEqual(['a', 'c']);
  underWay.remove(a);
  expect(names()).toEqual(['c']);
  underWay.remove(c);
  expect(names()).toEqual([]);
});
