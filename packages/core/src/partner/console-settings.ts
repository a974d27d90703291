import type { FormPurpose, Forms } from '../http/csrf.ts';
import { readParameters } from '../http/parameters.ts';
import { secretsOnce } from '../http/secrets-once.ts';
import type { Core } from '../options/context.ts';
import type { ConsoleBackend } from '../ports/partner-console.ts';
import type { RateLimitStore } from '../ports/rate-limits.ts';
import { apiKeyHeader } from '../secrets/api-key-format.ts';
import { urlBelow } from '../text/urls.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import type { PartnerOperation, PartnerRoute } from './request.ts';

/** Lifetime of a session of the console or the live portal from its beginning, in milliseconds. */
export const sessionLifetimeMs = 8 * 3600_000;

/** Parts of the partner API that the backend of a console uses. */
export interface ConsoleBackendParts {
  readonly pipeline: Pipeline;
  readonly operations: readonly PartnerOperation[];
  /** All routes of the partner API. */
  readonly table: readonly PartnerRoute[];
  readonly forms: Forms;
  /** Store for rate limit counts, shared by all processes if the storage supports that. */
  readonly counts: RateLimitStore;
}

/**
 * Returns what the backends of the console and of the live portal have in common: settings of the service,
 * and the values that their forms need.
 * @param name - name of the pages. It is part of the purpose of each form, and of the key under which a new
 * secret is kept until it is shown, so that other pages accept neither
 */
export function consoleSettings(
  core: Core,
  { table, forms }: Pick<ConsoleBackendParts, 'table' | 'forms'>,
  name: 'console' | 'portal',
): Omit<ConsoleBackend, 'logsRequests' | 'signIn' | 'visit' | 'revisit' | 'signOut'> {
  const { options, clock, random } = core;
  const once = secretsOnce(core);
  const purposeOf = (visitor: string): FormPurpose => [name, visitor];
  return {
    theme: options.theme,
    prefix: options.prefix,
    events: options.events,
    keyHeader: apiKeyHeader,
    routes: table.map(({ operation, method, path, sdk = null, bodyIsOptional = false }) => ({
      ...{ operation, method, path, sdk, bodyIsOptional },
    })),
    allowsPrivateTargets: options.webhooks.allowPrivateTargets,
    maxAttempts: options.webhooks.retryDelaysSeconds.length + 1,
    now: () => clock.now(),
    newWebhookSecret: () =>
      `whsec_${random.bytes(32).toString(options.webhooks.standardHeaders ? 'base64' : 'hex')}`,
    keepOnce: (session, text) => once.keep(`${name} ${session}`, text),
    takeOnce: (session, ticket) => once.take(`${name} ${session}`, ticket),
    url: (path) => urlBelow(options.authUrl, path),
    apiUrl: (path) => urlBelow(options.baseUrl, path),
    proof: (visitor) => forms.issue(purposeOf(visitor)),

    async form({ raw }, visitor) {
      const purpose = purposeOf(visitor);
      forms.requireOwnOrigin(raw, name);
      const fields = await readParameters(raw);
      forms.check(fields.get('csrf'), purpose);
      return fields;
    },
  };
}
