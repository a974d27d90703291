import { expect, test } from 'vitest';
import { startServer } from './support/server.ts';
import { fieldsOf, Visitor } from './support/visitor.ts';

test('an open page of the console does not delay the server’s stop', async () => {
  // If closing waited for the open page, it would take an hour.
  const drain = { OSTIARY_DRAIN_SECONDS: '2' };
  const { server, origin, lines } = await startServer({ closeDeadlineMs: 3600_000 }, drain);
  const { admin } = server.installation.ostiary;
  await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  const { key } = await admin.apiKeys.issue({ partner: 'kafe', mode: 'test', scopes: ['webhooks'] });
  const visitor = new Visitor(origin);
  const form = { ...fieldsOf((await visitor.get('/sandbox')).html), key };
  const signedIn = await visitor.post('/sandbox/sign-in', form, { Origin: origin });
  expect(signedIn).toMatchObject({ status: 303 });
  const cookie = `svc_sandbox=${visitor.cookies.get('svc_sandbox')}`;
  const stream = await fetch(`${origin}/sandbox`, { headers: { accept: 'text/event-stream', cookie } });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain('event: page');
  const closed = server.close();
  // The rest of the page may arrive first.
  for (let next = await reader?.read(); next?.done === false; ) next = await reader?.read();
  // The load balancer may not have noticed yet: requests still get a response, but no new stream starts.
  const again = await fetch(`${origin}/sandbox`, { headers: { accept: 'text/event-stream', cookie } });
  expect([again.status, await again.text()]).toEqual([503, '']);
  await closed;
  expect(lines.join('')).not.toContain('broke off');
});
