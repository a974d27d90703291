import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import type { PresentedCode } from '../ports/rate-limits.ts';
import { digest } from '../secrets/tokens.ts';
import { addressCounts } from './address-counts.ts';
import { isClientId } from './client.ts';
import { type Credentials, checkSecret, requireEnabled } from './client-authentication.ts';
import { allowOriginOf } from './cors.ts';
import { importedSecrets } from './imported-secrets.ts';

const tooManyFailures = 'Client authentication failed too often from this address.';

/** What a request of a client presents: credentials, and a secret text such as a code. */
export interface Presented {
  readonly credentials: Credentials;
  readonly text: string;
}

/** What names the client and, where the text is a code, the grant. */
function namesOf({ credentials: { clientId }, text }: Presented): PresentedCode {
  // An id that cannot be one is looked up as one that nobody has.
  return { clientId: isClientId(clientId) ? clientId : '', codeDigest: digest(text) };
}

/**
 * Authenticates the client of a request and works for it. Addresses that fail too often are refused; endpoints that share one of
 * these share their counts.
 */
export function countedAuthentication(core: Core) {
  const counts = addressCounts(core);
  const failures = addressLimit(counts, {
    name: 'client authentication',
    limit: core.options.limits.failedClientAuthentications,
  });
  const checkImported = importedSecrets(core, {
    consume: failures.consume,
    async requireRoom(address, now) {
      const { states } = await counts.peek(failures.requests(address, now), null);
      requireAllowed(states, now, tooManyFailures);
    },
  });

  /**
   * @param read - reads what is presented; what is wrong with it is said when the address may be answered
   * @param work - with the client, and the grant if what is presented is a code
   */
  return async <Given extends Presented, Answer>(
    ctx: Context,
    read: () => Given,
    work: (client: ClientRecord, grant: GrantState | null, presented: Given) => Promise<Answer>,
  ): Promise<Answer> => {
    const presented = outcomeOf(read);
    const address = core.clientAddress(ctx.req);
    const now = core.clock.now();
    const names = 'error' in presented ? null : namesOf(presented.value);
    const found = await counts.peek(failures.requests(address, now), names);
    requireAllowed(found.states, now, tooManyFailures);
    try {
      if ('error' in presented) throw presented.error;
      const { credentials } = presented.value;
      const client = requireEnabled(found.client, credentials);
      await allowOriginOf(core, ctx, client);
      await checkSecret(client, credentials, now, (stored, secret) =>
        checkImported({ client, stored, secret, address }),
      );
      return await work(client, found.grant, presented.value);
    } catch (error) {
      if (error instanceof OAuthError && error.code === 'invalid_client') {
        core.options.logger.warn(Object(error.cause), 'a client could not be authenticated');
        await failures.consume(address, now);
      }
      throw error;
    }
  };
}

export type CountedAuthentication = ReturnType<typeof countedAuthentication>;

function outcomeOf<T>(read: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: read() };
  } catch (error) {
    return { error };
  }
}
