import { setImmediate } from 'node:timers/promises';
import { describeMistakes, differing, type Mistakes } from './mistakes.ts';

const mistakes: Mistakes = {
  'looks whether the code is unused, then consumes it': {
    case: 'redemption: of many parallel redemptions exactly one wins, and its token is dead',
    spoil: differing('grants', ({ grants }) => ({
      async redeem(redemption) {
        const grant = await grants.find(redemption.codeDigest);
        await setImmediate();
        const answer = await grants.redeem(redemption);
        return grant?.consumedAt === null ? 'redeemed' : answer;
      },
    })),
  },
  'does not revoke on a replay': {
    case: 'redemption: a replay revokes the grant, stores no token and touches no other grant',
    spoil: differing('grants', ({ grants }) => ({
      async redeem(redemption) {
        const grant = await grants.find(redemption.codeDigest);
        return grant?.consumedAt ? 'replayed' : grants.redeem(redemption);
      },
    })),
  },
  'lets a code live one millisecond longer': {
    case: 'redemption: a code dies at its exact millisecond',
    spoil: differing('grants', ({ grants }) => ({
      redeem: (redemption) => grants.redeem({ ...redemption, now: redemption.now - 1 }),
    })),
  },
  'ends the whole grant when a token is revoked': {
    case: 'access tokens: revoking a token ends this token, not its grant nor another token',
    spoil: differing('grants', ({ grants }) => ({
      async revokeToken(digest, now) {
        const answer = await grants.revokeToken(digest, now);
        for (const code of ['a', 'b']) await grants.revoke(await digestOfCode(code), now);
        return answer;
      },
    })),
  },
  'reads, adds a scope and writes back': {
    case: 'consents: parallel calls lose no scope and start one consent',
    spoil: differing('consents', ({ consents }) => ({
      async remember(consent) {
        const known = await consents.find(consent.sub, consent.clientId);
        await setImmediate();
        const scopes = [...(known?.scopes ?? []), ...consent.scopes];
        const [, isNew] = await Promise.all([
          consents.revoke(consent.sub, consent.clientId, consent.now),
          consents.remember({ ...consent, scopes }),
        ]);
        return isNew;
      },
    })),
  },
  'compares users without regard to case': {
    case: 'consents: a consent is read back, for this user and client only',
    spoil: differing('consents', ({ consents }) => ({
      find: (sub, clientId) => consents.find(sub.toLowerCase(), clientId),
    })),
  },
  'trusts a look before inserting the first key': {
    case: 'signing keys: of parallel first keys exactly one per algorithm is stored',
    spoil: differing('signingKeys', ({ signingKeys }) => ({
      async insertFirst(key) {
        const keys = await signingKeys.list();
        if (keys.some(({ alg }) => alg === key.alg)) return false;
        await signingKeys.insert(key);
        return true;
      },
    })),
  },
  'completes a job whoever asks': {
    case: 'queue: results of an earlier claim are refused and change nothing',
    spoil: differing('queue', ({ queue }) => ({
      async complete(claim) {
        await queue.complete(claim);
        return true;
      },
    })),
  },
  'ends a lease one millisecond late': {
    case: 'queue: a lease ends at its exact millisecond, and the next claim counts one more',
    spoil: differing('queue', ({ queue }) => ({
      claim: (request) => queue.claim({ ...request, leaseMs: request.leaseMs + 1 }),
    })),
  },
  'keeps an interaction one millisecond too long': {
    case: 'interactions: an interaction ends at its exact millisecond',
    spoil: differing('interactions', ({ interactions }) => ({
      find: (digest, now) => interactions.find(digest, now - 1),
    })),
  },
  'purges without a bound': {
    case: 'purge: one call removes at most the limit of each kind, and never a grant before its token',
    spoil: (storage) => ({ purge: (request) => storage.purge({ ...request, limit: 1000 }) }),
  },
  'refuses a second close': {
    case: 'storage: close can be called again, in parallel too',
    spoil(storage) {
      let closed = false;
      return {
        async close() {
          if (closed) throw new Error('closed already');
          closed = true;
          await storage.close();
        },
      };
    },
  },
};

async function digestOfCode(label: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.from(`code ${label}`)));
}

describeMistakes(mistakes);
