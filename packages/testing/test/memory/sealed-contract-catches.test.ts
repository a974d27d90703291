import { setImmediate } from 'node:timers/promises';
import type { SealedSecrets } from '../../../core/src/ports/sealed-secrets.ts';
import { describeMistakes, differing, type Mistakes } from './mistakes.ts';

/** Every secret that there is. */
const everything = { after: null, limit: 1_000 };

/** Replaces whatever a row holds by now. */
const overwriting = (store: SealedSecrets): Partial<SealedSecrets> => ({
  async reseal(secrets) {
    await setImmediate();
    const held = new Map((await store.listSealed(everything)).map(({ id, sealed }) => [id, sealed]));
    return store.reseal(secrets.map((secret) => ({ ...secret, before: held.get(secret.id) ?? '' })));
  },
});

const mistakes: Mistakes = {
  'takes the secret of a partner who was faster away': {
    case: 'sealed secrets: a webhook secret that was rotated between read and replace stays',
    spoil: differing('webhooks', ({ webhooks }) => overwriting(webhooks)),
  },
  'takes a rotation away that comes at the same time': {
    case: 'sealed secrets: a rotation that meets a replacement wins, and is not refused',
    spoil: differing('webhooks', ({ webhooks }) => overwriting(webhooks)),
  },
  'replaces the secrets of keys without a look at them': {
    case: 'sealed secrets: of API keys: what a row held when it was read is replaced, and nothing else of it',
    spoil: differing('apiKeys', ({ apiKeys }) => overwriting(apiKeys)),
  },
  'looks what rows hold, then replaces it': {
    case: 'sealed secrets: of API keys: of parallel calls for the same rows one replaces each, whatever their order',
    spoil: differing('apiKeys', ({ apiKeys }) => ({
      async reseal(secrets) {
        const held = new Map((await apiKeys.listSealed(everything)).map(({ id, sealed }) => [id, sealed]));
        const unchanged = secrets.filter(({ id, before }) => held.get(id) === before);
        await setImmediate();
        await apiKeys.reseal(unchanged);
        return unchanged.length;
      },
    })),
  },
  'makes a new version of an endpoint whose secret is what it was': {
    case: 'sealed secrets: of webhook endpoints: what a row held when it was read is replaced, and nothing else of it',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async reseal(secrets) {
        const count = await webhooks.reseal(secrets);
        for (const endpoint of await webhooks.list({ partner: 'acme', mode: 'live' }))
          await webhooks.replace({ ...endpoint, version: endpoint.version + 1 }, 0);
        return count;
      },
    })),
  },
  'counts what it was given': {
    case: 'sealed secrets: of API keys: what a row held when it was read is replaced, and nothing else of it',
    spoil: differing('apiKeys', ({ apiKeys }) => ({
      async reseal(secrets) {
        await apiKeys.reseal(secrets);
        return secrets.length;
      },
    })),
  },
  'begins a page with the row that the last one ended with': {
    case: 'sealed secrets: of API keys: pages go by id, in code unit order, and leave nothing out',
    spoil: differing('apiKeys', ({ apiKeys }) => ({
      async listSealed({ after, limit }) {
        const all = await apiKeys.listSealed(everything);
        const page = all.filter(({ id }) => after === null || id >= after).slice(0, limit);
        return page.length === 1 && page[0]?.id === after ? [] : page;
      },
    })),
  },
  'sorts pages by a locale': {
    case: 'sealed secrets: of webhook endpoints: pages go by id, in code unit order, and leave nothing out',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async listSealed({ after, limit }) {
        const all = await webhooks.listSealed(everything);
        const sorted = all.toSorted((a, b) => a.id.localeCompare(b.id));
        return sorted.filter(({ id }) => after === null || id.localeCompare(after) > 0).slice(0, limit);
      },
    })),
  },
  'leaves out endpoints that are disabled': {
    case: 'sealed secrets: rows of every partner and mode are there, those that have ended too',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async listSealed(page) {
        const enabled = (await webhooks.list({ partner: 'acme', mode: 'live' })).filter((one) => one.enabled);
        const known = new Set(enabled.map(({ id }) => id));
        return (await webhooks.listSealed(page)).filter(({ id }) => known.has(id));
      },
    })),
  },
};

describeMistakes(mistakes);
