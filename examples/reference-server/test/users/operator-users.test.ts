import { expect, test } from 'vitest';
import { createAccounts } from '../../src/users/accounts.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { onBothEngines } from '../support/engines.ts';
import { anaika, cheap, jean } from '../support/server.ts';
import { formOf, joined, startForStaff } from '../support/staff.ts';
import { Visitor } from '../support/visitor.ts';

onBothEngines('searching users', (engine) => {
  test('finds parts of names, starts of handles, and whole phone numbers and ids', async () => {
    const { database } = await engine.open();
    const accounts = createAccounts(database, createPasswords(cheap), () => 1);
    const { sub, kid } = await accounts.create(anaika);
    await accounts.create({ ...jean, name: '100%_\\ sure' });
    await accounts.setEmail('anaika', 'Anaika@example.com');
    const found = async (text: string) =>
      (await accounts.search({ text, after: '', limit: 10 })).map(({ handle }) => handle);
    expect(await found('')).toEqual(['anaika', 'jean']);
    for (const text of ['PIERRE', 'ka pie', 'ANAI', '@anai', anaika.phone, 'anaika@EXAMPLE.com', sub, kid])
      expect.soft([text, await found(text)]).toEqual([text, ['anaika']]);
    for (const text of ['100%_\\ s', '%', '_', '\\'])
      expect.soft([text, await found(text)]).toEqual([text, ['jean']]);
    expect(await found("' OR 1=1 --")).toEqual([]);
    expect(await found(anaika.phone.slice(0, -1))).toEqual([]);
    expect(await found('anaika@example')).toEqual([]);
    expect(
      (await accounts.search({ text: '', after: 'anaika', limit: 1 })).map(({ handle }) => handle),
    ).toEqual(['jean']);
  });
});

test('operators find a user, end the sessions, change the identity check and block', async () => {
  const kit = await startForStaff();
  const { accounts } = kit.server.installation;
  const { sub } = await accounts.create({ ...anaika, email: 'anaika@example.com' });
  const { browser } = await joined(kit, 'bob@example.com', 'support');
  const user = new Visitor(kit.origin);
  const isSignedIn = async () => (await user.get('/')).html.includes('/sign-out');
  await user.signIn('anaika', anaika.password);
  for (const text of ['pierre', 'anaika%40example.com'])
    expect((await browser.get(`/operators/users?q=${text}`)).html).toContain(`/operators/user?sub=${sub}`);
  const page = `/operators/user?sub=${sub}`;
  const act = async (form: Record<string, string>) => {
    const { csrf = '' } = formOf((await browser.get(page)).html, `${kit.origin}${page}`);
    return (await browser.post(page, { csrf, ...form })).status;
  };
  const shown = (await browser.get(page)).html;
  expect(shown).toContain('<dt>Sessions</dt><dd>1</dd>');
  expect(shown).toContain('<dt>E-mail address</dt><dd><bdi>anaika@example.com</bdi></dd>');
  expect(await act({ act: 'end_sessions' })).toBe(303);
  expect(await isSignedIn()).toBe(false);
  expect(await act({ act: 'kyc', status: 'approved', tier: '2' })).toBe(303);
  expect(await accounts.getBySub(sub)).toMatchObject({ kycStatus: 'approved', kycTier: 2 });
  expect(await act({ act: 'kyc', status: 'approved', tier: '9' })).toBe(400);
  await user.signIn('anaika', anaika.password);
  expect(await act({ act: 'block' })).toBe(303);
  expect(await isSignedIn()).toBe(false);
  expect((await user.signIn('anaika', anaika.password)).status).toBe(422);
  expect(await act({ act: 'unblock' })).toBe(303);
  expect((await user.signIn('anaika', anaika.password)).status).toBe(303);
  const made = (await kit.acts()).filter((one) => one.startsWith('bob@example.com support user.'));
  expect(made.map((one) => one.split(' user.')[1])).toEqual([
    'end_sessions',
    'kyc',
    'end',
    'block',
    'unblock',
  ]);
});
