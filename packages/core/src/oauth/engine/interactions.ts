import { type Adapter, errors } from 'oidc-provider';
import { UnsealError } from '../../keys/sealing.ts';
import type { Core } from '../../options/context.ts';
import type { JsonObject } from '../../ports/interactions.ts';
import { digest } from '../../secrets/tokens.ts';
import { spaceSeparated } from '../../text/space-separated.ts';
import { startedByScript } from '../client.ts';
import { anonymousInteractionSeconds } from '../lifetimes.ts';
import { unfinishedLimit } from '../limits.ts';
import { currentRun, inert, visitor } from './adapter.ts';
import type { Decision } from './answers.ts';

/**
 * Reads the user's decision from the stored result of an interaction; see `finish` of `PendingInteraction`.
 */
function decisionOf(result: unknown): Decision | null {
  const decision =
    typeof result === 'object' && result !== null && 'decision' in result ? result.decision : null;
  return decision === 'approve' || decision === 'deny' || decision === 'cancel' ? decision : null;
}

/**
 * Time that is added to the end of an interaction, in seconds. The engine compares the end with the clock of its
 * machine, which may differ from the clock of the service. The storage has compared it already.
 */
const farSeconds = 1_000_000_000;

/**
 * Creates oidc-provider's adapter for interactions. They are stored under the digest of their id, without the
 * id, without `returnTo`, which contains the id, and without oidc-provider's session. The request's
 * parameters, some of which identify the user, are encrypted for this row alone.
 */
export function interactionAdapter(core: Core): Adapter {
  const { sealer, clock, options } = core;
  const { interactions } = core.storage;
  const requireRoom = unfinishedLimit(
    core,
    (now) => interactions.count(now),
    'Too many authorization requests wait for their users.',
  );
  const gone = () => new errors.SessionNotFound('interaction session not found');
  const contextOf = (id: string) => `interaction ${digest(id).toString('base64url')} params`;
  return {
    ...inert,
    async upsert(id, { jti: _, session: __, returnTo: ___, params = {}, ...rest }, expiresIn = 0) {
      const endsAt = (seconds: number) => clock.now() + seconds * 1000;
      const sealed = sealer.seal(JSON.stringify(params), contextOf(id));
      const payload = { ...rest, params: sealed, endsAt: endsAt(expiresIn) };
      if (rest.result === undefined) {
        const run = currentRun.getStore();
        if (run?.isScript) throw startedByScript();
        await requireRoom();
        const seconds = visitor() === null ? Math.min(expiresIn, anonymousInteractionSeconds) : expiresIn;
        await interactions.save(digest(id), payload, endsAt(seconds));
        if (run !== undefined) run.begun = { id, seconds };
        return;
      }
      // The interaction may have been resumed and removed in the meantime. A late decision must not recreate
      // it.
      const end = Math.round((Number(rest.exp) - farSeconds) * 1000);
      if (!(await interactions.replace(digest(id), { ...payload, endsAt: end }, end))) throw gone();
    },
    async find(id) {
      const found = await interactions.find(digest(id), clock.now());
      if (found === null) return undefined;
      const { endsAt, ...stored } = found;
      const payload: JsonObject = { ...stored, exp: Number(endsAt) / 1000 + farSeconds };
      try {
        const params = JSON.parse(sealer.open(String(payload.params), contextOf(id)));
        const run = currentRun.getStore();
        // Set for the rest of a resumed request, in which the engine calls the client adapter next.
        if (run !== undefined) {
          run.redirectUri = params.redirect_uri;
          run.claims = params.claims;
          run.resources = spaceSeparated(params.resources ?? '');
          run.decision = decisionOf(payload.result);
        }
        return { ...payload, params, jti: id };
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        // The sealing key was removed since the interaction began, so the user must start again.
        options.logger.warn(
          { err: error },
          'an authorization request was given up: its parameters cannot be opened',
        );
        return undefined;
      }
    },
    async destroy(id) {
      // If two decisions on an interaction arrive at once, the second one finds the interaction removed.
      if (!(await interactions.remove(digest(id)))) throw gone();
    },
  };
}
