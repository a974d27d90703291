import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { actDigest } from '../../../core/src/audit/acts.ts';
import { answered, asked, describeMistakes, differing, instead } from './mistakes.ts';

describeMistakes({
  'looks whether the code is unused, then consumes it': [
    'redemption: of many parallel redemptions exactly one wins, and its token is dead',
    instead('grants', 'redeem', (redeem, { grants }) => async (redemption) => {
      const grant = await grants.find(redemption.codeDigest);
      await setImmediate();
      const answer = await redeem(redemption);
      return grant?.consumedAt === null ? 'redeemed' : answer;
    }),
  ],
  'does not revoke on a replay': [
    'redemption: a replay revokes the grant, stores no token and touches no other grant',
    instead('grants', 'redeem', (redeem, { grants }) => async (redemption) => {
      const grant = await grants.find(redemption.codeDigest);
      return grant?.consumedAt ? 'replayed' : redeem(redemption);
    }),
  ],
  'refuses a refresh token that comes again, and ends nothing': [
    'refresh tokens: one that was replaced ends its grant when it comes again, and no other',
    instead('grants', 'refresh', (refresh) => {
      const seen = new Set<string>();
      return async (request) => {
        const text = Buffer.from(request.presented.digest).toString('hex');
        if (seen.has(text)) return { outcome: 'replayed' };
        seen.add(text);
        return refresh(request);
      };
    }),
  ],
  'forgets replaced refresh tokens': [
    'refresh tokens: one that is not stored any more is found by its family, and ends its grant',
    asked('grants', 'findRefreshToken', (token) => ({ ...token, family: token.digest })),
  ],
  'keeps every access token of a grant': [
    'refresh tokens: of the access tokens of a grant the newest are kept, as many as the call says',
    asked('grants', 'refresh', (request) => ({ ...request, maxAccessTokens: 1e9 })),
  ],
  'forgives a refresh token that comes again for as long as it lives': [
    'refresh tokens: once its successor was used, or the grace period is over, it ends its grant',
    asked('grants', 'refresh', (request) => ({ ...request, graceMs: 1e12 })),
  ],
  'stores another successor at each use': [
    'refresh tokens: any number of uses within the grace period give one successor, and an access token each',
    instead('grants', 'refresh', (refresh) => async (request) => {
      const result = await refresh(request);
      return result.outcome === 'refreshed' ? { ...result, successor: request.token.digest } : result;
    }),
  ],
  'knows no successor but its own': [
    'refresh tokens: the successor that was stored first stays, whoever derives others',
    asked('grants', 'refresh', (request) => ({ ...request, otherSuccessors: [] })),
  ],
  'gives every access token the scopes of its grant': [
    'refresh tokens: an access token may have fewer scopes than its grant, and the next one all of them',
    asked('grants', 'refresh', (request) => ({ ...request, scopes: ['openid', 'profile'] })),
  ],
  'stores no refresh token with a code': [
    'refresh tokens: one is stored with the access token, and read back with its grant',
    asked('grants', 'redeem', (redemption) => ({ ...redemption, refreshToken: null })),
  ],
  'ends the whole grant when a token is revoked': [
    'the end of access: when a token is revoked, what it gave ends for good, and nothing else',
    differing('grants', ({ grants }) => ({
      async revokeToken(digest, now) {
        const answer = await grants.revokeToken(digest, now);
        await grants.revoke(createHash('sha256').update('code own').digest(), now);
        return answer;
      },
    })),
  ],
  'reads, adds a scope and writes back': [
    'consents: parallel calls lose no scope and start one consent',
    instead('consents', 'remember', (remember, { consents }) => async (consent) => {
      const known = await consents.find(consent.sub, consent.clientId);
      await setImmediate();
      const scopes = [...(known?.scopes ?? []), ...consent.scopes];
      const [, isNew] = await Promise.all([
        consents.revoke(consent.sub, consent.clientId, consent.now),
        remember({ ...consent, scopes }),
      ]);
      return isNew;
    }),
  ],
  'compares users without regard to case': [
    'consents: a consent is read back, for this user and client only',
    asked('consents', 'find', (sub) => sub.toLowerCase()),
  ],
  'lists the consents of a user who ends, then revokes them': [
    'the end of access: when a user is ended while codes, tokens and consents are given, none is left alive',
    ({ consents, grants }) => ({
      consents: {
        ...consents,
        async endUser(sub, now) {
          for (const { clientId } of await consents.list(sub)) await consents.revoke(sub, clientId, now);
        },
      },
      grants: {
        ...grants,
        // Has looked at the consent before.
        async issue(grant) {
          const consent = await consents.find(grant.sub, grant.clientId);
          if (consent === null) return false;
          await setImmediate();
          await consents.remember({ ...grant, now: grant.issuedAt });
          return grants.issue(grant);
        },
      },
    }),
  ],
  'looks whether the client is disabled, then stores the consent': [
    'the end of access: when a client is disabled while codes, tokens and consents are given, none is left alive',
    ({ clients, consents }) => {
      const late = new Map<string, { readonly scopes: readonly string[] }>();
      return {
        consents: {
          ...consents,
          async remember(consent) {
            const client = await clients.find(consent.clientId);
            if (client === null || client.disabledAt !== null) return false;
            await setImmediate();
            late.set(consent.clientId, consent);
            return true;
          },
          async find(sub, clientId) {
            const { scopes } = late.get(clientId) ?? {};
            return scopes === undefined
              ? null
              : { sub, clientId, scopes, grantedAt: 0, updatedAt: 0, usedAt: null };
          },
        },
      };
    },
  ],
  'takes the start of a consent for its last use': [
    'consents: a consent says when it was used last, to the hour, and never goes back',
    answered('consents', 'find', (consent) => consent && { ...consent, usedAt: consent.grantedAt }),
  ],
  'says what any partner holds': [
    'consents of partners: a partner holds what a user let its client read, and nothing else',
    instead('consents', 'partnerHolds', (_partnerHolds, { consents }) => async ({ sub, scope }) => {
      return (await consents.list(sub)).some(({ scopes }) => scopes.includes(scope));
    }),
  ],
  'keeps the partner that a client had first': [
    'consents of partners: it follows a client that gets, changes or loses its partner',
    instead('clients', 'replace', (replace, { clients }) => async (client) => {
      const stored = await clients.find(client.clientId);
      return replace({ ...client, partner: stored?.partner ?? null });
    }),
  ],
  'trusts a look before inserting the first key': [
    'signing keys: of parallel first keys exactly one per algorithm is stored',
    instead('signingKeys', 'insertFirst', (_insertFirst, { signingKeys }) => async (key) => {
      const keys = await signingKeys.list();
      if (keys.some(({ alg }) => alg === key.alg)) return false;
      await signingKeys.insert(key);
      return true;
    }),
  ],
  'brings the end of an interaction forward': [
    'interactions: an end is put off, and never brought forward',
    instead('interactions', 'extend', (_extend, { interactions }) => async (digest, expiresAt) => {
      const payload = await interactions.find(digest, 0);
      if (payload !== null) await interactions.save(digest, payload, expiresAt);
    }),
  ],
  'completes a job whoever asks': [
    'leases of jobs: it ends at its exact millisecond, and then only the next claim counts',
    answered('queue', 'complete', () => true),
  ],
  'ends a lease one millisecond late': [
    'leases of jobs: it ends at its exact millisecond, and then only the next claim counts',
    asked('queue', 'claim', (request) => ({ ...request, leaseMs: request.leaseMs + 1 })),
  ],
  'fails where the job is there already': [
    'parallel calls: that store the same jobs in any order store each once, and none fails',
    differing('queue', ({ queue }) => {
      const known = new Set<string>();
      return {
        async enqueue(jobs) {
          if (jobs.some(({ id }) => known.has(id))) throw new Error('duplicate key');
          for (const { id } of jobs) known.add(id);
          await queue.enqueue(jobs);
        },
      };
    }),
  ],
  'says that a job was handed back, whoever held it': [
    'leases of jobs: of parallel results of one claim exactly one counts, whatever they say',
    answered('queue', 'retry', () => true),
  ],
  'says that a job is done, whoever took it over': [
    'leases of jobs: a result and the claim after its end give it to one of them',
    answered('queue', 'complete', () => true),
  ],
  'forgets the value before': [
    'audit: every act takes the next place in the chain, with its change and not without',
    answered('audit', 'chain', (acts) =>
      acts.map((act) => ({ ...act, chain: createHash('sha256').update(actDigest(act)).digest() })),
    ),
  ],
  'purges without a bound': [
    'purge: one call removes at most the limit of each kind, the oldest first, and never a grant before its token',
    (storage) => ({ purge: (request) => storage.purge({ ...request, limit: 1000 }) }),
  ],
  'counts no refresh tokens that it purged': [
    'refresh tokens: they are purged when they ended, and their grant after them',
    (storage) => ({ purge: async (request) => ({ ...(await storage.purge(request)), refreshTokens: 0 }) }),
  ],
  'counts what it wanted to purge': [
    'parallel calls: that purge remove each row once',
    (storage) => ({
      purge: async (request) => ({ ...(await storage.purge(request)), interactions: request.limit }),
    }),
  ],
  'refuses a second close': [
    'storage: close can be called again, in parallel too',
    (storage) => {
      let closed = false;
      return {
        async close() {
          if (closed) throw new Error('closed already');
          closed = true;
          await storage.close();
        },
      };
    },
  ],
  'lets a code live one millisecond longer': [
    'redemption: a code dies at its exact millisecond',
    asked('grants', 'redeem', (redemption) => ({ ...redemption, now: redemption.now - 1 })),
  ],
  'keeps a record of the sandbox among the interactions': [
    'sandbox records: a record is no interaction, under the same digest either',
    differing('sandbox', ({ interactions }) => ({ save: interactions.save, find: interactions.find })),
  ],
  'keeps an interaction one millisecond too long': [
    'interactions: an interaction ends at its exact millisecond',
    differing('interactions', ({ interactions }) => ({
      find: (digest, now) => interactions.find(digest, now - 1),
    })),
  ],
});
