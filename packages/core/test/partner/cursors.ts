import { expect } from 'vitest';
import type { Answer } from '../support/browser.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { blamed } from './refusal.ts';

/** Asks for a page of a list, with a query such as `limit=2`. */
export type List = (query: string, by?: TestKey) => Promise<Answer>;

/** Goes through a list page by page; something happens after each. */
export async function walk(list: List, size: number, between: () => Promise<unknown>) {
  const seen: Json[] = [];
  let pages = 0;
  for (let cursor = ''; ; pages += 1) {
    const page = (await list(`limit=${size}${cursor}`)).json();
    seen.push(...(page.data as Json[]));
    await between();
    if (page.nextCursor === null) return { seen, pages: pages + 1 };
    cursor = `&cursor=${page.nextCursor}`;
  }
}

/** The newest come first, those of one millisecond by id. */
export function expectNewestFirst(seen: readonly Json[]): void {
  const order = seen.map(({ createdAt, id }) => `${createdAt} ${id}`);
  expect(order).toEqual(order.toSorted().reverse());
}

/** That a list of three or more takes its own cursor, and none that was changed or written for another list. */
export async function expectSealed(list: List, foreign: readonly List[]): Promise<void> {
  const cursor = String((await list('limit=1')).json().nextCursor);
  expect((await list(`cursor=${cursor}`)).status).toBe(200);
  for (const other of foreign) expect(blamed(await other(`cursor=${cursor}`))).toEqual(['cursor']);
  const decoded = Buffer.from(cursor, 'base64url').toString();
  const forged = [
    decoded.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    `${decoded}.x`,
    decoded.replace(/\.[^.]*$/, '.'),
    decoded.replace('_', '-'),
  ].map((text) => Buffer.from(text).toString('base64url'));
  for (let at = 0; at < cursor.length; at += 5)
    forged.push(cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1));
  for (const suffix of ['=', '%20', '!', 'A']) forged.push(`${cursor}${suffix}`);
  for (const text of forged) expect.soft(blamed(await list(`cursor=${text}`)), text).toEqual(['cursor']);
}
