import assert from 'node:assert/strict';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { firstByName, samplePartner } from './partner-samples.ts';
import { now } from './samples.ts';

/** Counts of a partner that has no keys, clients or deliveries. */
const none = { keys: 0, clients: 0, codes: 0, tokens: 0, deliveries: 0 };

export const partnerCases = casesOf('partners', {
  'of parallel inserts of one slug exactly one is stored': async ({ partners }) => {
    const answers = await inParallel(20, (index) =>
      partners.insert(samplePartner({ name: `name ${index}` })),
    );
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    assert.equal((await partners.find('acme'))?.name, `name ${answers.indexOf(true)}`);
  },

  'pages go by slug in code unit order and include disabled partners': async ({ partners }) => {
    const sorted = ['--', '1-0', '10', '2', 'a', 'a-', 'a-b', 'a0', 'ab', 'b'];
    for (const slug of sorted.toReversed()) {
      await partners.insert(samplePartner({ slug, disabledAt: slug === 'a' ? now : null }));
    }
    const slugs = async (after: string | null, limit: number) =>
      (await partners.list({ after, limit })).map((partner) => partner.slug);
    assertSame(await slugs(null, 100), sorted);
    assertSame(await slugs(null, 3), sorted.slice(0, 3));
    assertSame(await slugs('10', 3), sorted.slice(3, 6), 'the slug that the page starts after is not on it');
    assertSame(await slugs('3', 2), ['a', 'a-'], 'a slug that does not exist is a place to start too');
    assertSame(await slugs('b', 5), []);
    assertSame(
      (await partners.list({ after: '2', limit: 1 }))[0],
      samplePartner({ slug: 'a', disabledAt: now }),
    );
  },

  'replace stores the next version and refuses any other': async ({ partners }) => {
    await partners.insert(samplePartner());
    await partners.insert(samplePartner({ slug: 'other' }));
    const next = samplePartner({ version: 2, name: 'Renamed', updatedAt: now + 1, disabledAt: now + 1 });
    assertSame(await partners.replace(next), none);
    for (const version of [1, 2, 4]) {
      assert.equal(
        await partners.replace(samplePartner({ version, name: 'Stale' })),
        null,
        `version ${version}`,
      );
    }
    assertSame(await partners.find('acme'), next);
    assertSame(await partners.find('other'), samplePartner({ slug: 'other' }));
    assertSame(await partners.replace(samplePartner({ version: 3 })), none, 'and it can be enabled again');
    assert.equal((await partners.find('acme'))?.disabledAt, null);
    assert.equal(await partners.replace(samplePartner({ slug: 'nobody' })), null);
    assert.equal(await partners.find('nobody'), null, 'and none is created');
  },

  'of parallel replacements of one version exactly one is stored': async ({ partners }) => {
    await partners.insert(samplePartner());
    const answers = await inParallel(20, async (index) => {
      const reach = await partners.replace(samplePartner({ version: 2, name: `name ${index}` }));
      return reach !== null;
    });
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    assert.equal((await partners.find('acme'))?.name, `name ${answers.indexOf(true)}`);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const partnerCalls: Calls<'partners'> = {
  named: ({ partners }) => partners.named({ words: 'a', searched: 1, limit: 1 }),
  insert: ({ partners }) => partners.insert(samplePartner()),
  find: ({ partners }) => partners.find('acme'),
  list: ({ partners }) => partners.list({ after: null, limit: 1 }),
  sorted: ({ partners }) => partners.sorted(firstByName),
  count: ({ partners }) => partners.count(1),
  replace: ({ partners }) => partners.replace(samplePartner({ version: 2 })),
};
