import { hasKeys } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import { searchNameOf } from '../text/search-name.ts';
import { checked } from './checked.ts';
import { refuseContradiction, requireOptions, requirePartner } from './client-checks.ts';
import { nameOfKeys, readKeys, recordedKeys } from './client-keys.ts';
import { withProfile } from './client-profile.ts';
import { broughtSecret, newSecret } from './client-secrets.ts';
import { type NewClient, newClient } from './client-settings.ts';

/**
 * Checks the settings of a new client, but not whether its id is taken or its URLs are allowed targets.
 * Returns the client record to store, its secret (`null` if none was generated), and the settings that the
 * audit log records.
 * @throws TypeError if a setting is invalid
 * @throws PartnerNameError `partner_not_found`
 */
export async function clientToCreate(core: Core, input: NewClient) {
  const {
    public: isPublic,
    clientId = core.tokens.newClientId(core.random),
    clientSecret,
    clientSecretHash,
    jwks,
    jwksUri,
    ...given
  } = checked(newClient(core.options.scopes.names), input);
  requireOptions(core, given);
  const keys = await readKeys(core, { jwks, jwksUri });
  const now = core.clock.now();
  const brought = broughtSecret(core, { isPublic, clientSecret, clientSecretHash }, now);
  if (hasKeys(keys) && (isPublic || brought !== null))
    throw new TypeError(
      isPublic
        ? `${nameOfKeys(keys)}: a public client has no keys`
        : 'clientSecret: a client with keys has no secret',
    );
  const secret = isPublic || brought !== null || hasKeys(keys) ? null : newSecret(core, now);
  const client = withProfile(core, {
    ...given,
    ...keys,
    clientId,
    searchName: searchNameOf(given.name),
    secrets: [brought ?? secret?.record ?? []].flat(),
    createdAt: now,
    updatedAt: now,
    disabledAt: null,
    version: 1,
  });
  refuseContradiction(client);
  await requirePartner(core, client.partner);
  const details = {
    ...given,
    ...recordedKeys(keys),
    public: isPublic,
    ...(brought !== null && { imported: true }),
  };
  return { client, secret: secret?.secret ?? null, details };
}
