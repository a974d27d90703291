import { expect, test } from 'vitest';
import { pageRoutes } from '../src/app.ts';
import { createContext } from '../src/sign-in/context.ts';
import { anaika, startServer } from './support/server.ts';
import { Visitor } from './support/visitor.ts';

/** Headers with which browsers and client-side routers mark a prefetch. */
const ahead = [
  { 'Sec-Purpose': 'prefetch' },
  { 'Sec-Purpose': 'prefetch;prerender' },
  { 'Sec-Purpose': 'prefetch;anonymous-client-ip' },
  { Purpose: 'prefetch' },
  { Purpose: 'preview' },
  { 'X-Purpose': 'preview' },
  { 'X-Moz': 'prefetch' },
  { 'Next-Router-Prefetch': '1' },
];

/** Pages whose GET sets a cookie or issues a passport. */
const changing = ['/', '/login', '/passport'];

test('a prefetch sets no cookie and issues no passport, on every page of this server', async () => {
  const { server, origin } = await startServer();
  const routes = pageRoutes(createContext(server.config, server.installation));
  const pages = Object.keys(routes).filter((path) => routes[path]?.GET !== undefined);
  expect(pages).toEqual(expect.arrayContaining(changing));
  const signedIn = new Visitor(origin);
  await signedIn.signIn('anaika', anaika.password);
  for (const headers of ahead) {
    for (const visitor of [new Visitor(origin), signedIn]) {
      const empty: string[] = [];
      for (const path of [...pages, '/login?return_to=%2Fpassport&reauthenticate=1']) {
        const answer = await visitor.get(path, headers);
        expect([path, headers, answer.headers.getSetCookie()]).toEqual([path, headers, []]);
        if (answer.status !== 204) continue;
        expect([answer.html, answer.headers.get('cache-control')]).toEqual(['', 'no-store']);
        empty.push(path.replace(/\?.*/, ''));
      }
      expect([headers, empty]).toEqual([headers, [...changing, '/login']]);
    }
  }
});

test('a prefetched sign-in page does not invalidate the open one', async () => {
  const { origin } = await startServer();
  const visitor = new Visitor(origin);
  const open = await visitor.get('/login');
  const [cookies, csrf] = [[...visitor.cookies], /name="csrf" value="([^"]+)"/.exec(open.html)?.[1] ?? ''];
  // Two tabs of a browser without cookies send requests at once, one of them a prefetch.
  visitor.cookies.clear();
  const prefetched = await visitor.get('/login', { 'Sec-Purpose': 'prefetch' });
  expect([prefetched.status, [...visitor.cookies]]).toEqual([204, []]);
  for (const [name, value] of cookies) visitor.cookies.set(name, value);
  const answer = await visitor.post('/login', { csrf, return_to: '/', ...anaika });
  expect(answer.status).toBe(303);
});
