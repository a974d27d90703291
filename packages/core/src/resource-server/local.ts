import { z } from 'zod';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import type { TokenChecks } from '../oauth/token-checks.ts';
import type { Core } from '../options/context.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { createProtectedResource, type ProtectedResource } from './protected-resource.ts';
import { resourceUrl } from './resource-url.ts';

/** Settings of a protected resource that runs in Ostiary's process. */
export interface ProtectedResourceSettings<Name extends string = string> {
  /** URI of the resource, which must be in the option `resources`: https, or http on loopback. */
  readonly resource: string;
  /**
   * Scopes that every request to the API needs. The metadata document and the header `WWW-Authenticate` list
   * them, so that apps request no more than they need.
   * @defaultValue none: the document then lists every scope of the resource
   */
  readonly scopes?: readonly Name[];
}

const settingsSchema = z.strictObject({ resource: z.string(), scopes: z.array(z.string()).default([]) });

const isUnavailable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE';

/** Returns the function that creates protected resources whose tokens are checked in this process. */
export function localResources({ options }: Core, tokens: TokenChecks) {
  return (given: ProtectedResourceSettings): ProtectedResource => {
    const { success, data, error } = settingsSchema.safeParse(given, inPlainWords);
    if (!success)
      throw new TypeError(`protectedResource: ${inOneLine(problemsOf(error.issues), 'settings')}`);
    const { scopes } = data;
    const { resources } = options;
    const uri = resources?.find(data.resource);
    if (resources === undefined || uri == null)
      throw new TypeError(`protectedResource: resource: the option resources has no ${data.resource}`);
    resourceUrl(uri);
    const own = resources.scopesOf(uri);
    const shown = scopes.length > 0 ? scopes : own;
    const metadata = {
      resource: uri,
      authorization_servers: [options.issuer],
      ...(shown.length > 0 && { scopes_supported: shown }),
      bearer_methods_supported: ['header'],
      ...(options.dpop && { dpop_signing_alg_values_supported: clientAlgorithms }),
      resource_name: resources.nameOf(uri),
    };

    return createProtectedResource(metadata, {
      scopes,
      takesDpop: options.dpop,
      requireScopes(names) {
        const wrong = names.find((name) => !options.scopes.has(name) || !resources.isGrantable(name, [uri]));
        if (wrong !== undefined) throw new TypeError(`scopes: there is no scope ${wrong} for ${uri}`);
      },
      scopesOfResource: (token) => token.scopes.filter((name) => own.includes(name)),
      async verify(token, request) {
        try {
          return await tokens.verify(token, { resource: uri, request });
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          options.logger.error({ err: error, resource: uri }, 'an access token could not be checked');
          return { active: false, reason: 'unavailable' };
        }
      },
    });
  };
}
