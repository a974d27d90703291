import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Forms } from '../http/csrf.ts';
import { shippedLanguages } from '../languages/load.ts';
import type { Core } from '../options/context.ts';
import type { InteractionDetails } from '../options/host-pages.ts';
import type { ConsentView } from '../pages/consent.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { logoUrl } from './client-logo.ts';
import type { Interactions, Question } from './interaction.ts';

/** Result that contains the URL to which the browser must be redirected. */
export interface InteractionRedirect {
  readonly redirectTo: string;
}

/**
 * Operations for hosts that render the consent page themselves (option `interactionUrl`). Every call takes
 * the browser's request to that page. The request's path must begin with the path of the page's URL, because
 * a cookie for that path proves which interaction the browser may decide.
 */
export interface InteractionApi {
  /**
   * Returns the content of your consent page, or a redirect if there is nothing to ask (any more).
   * @throws OAuthError if the interaction has ended
   */
  details(request: IncomingMessage): Promise<InteractionDetails | InteractionRedirect>;
  /**
   * Approves the requested scopes, except those in `declined`, on behalf of the user. Returns the URL to
   * which the browser must go: the consent page again if a scope in `declined` is not optional, or if another
   * user has signed in since.
   * @throws OAuthError if the form is forged or the interaction has ended
   */
  approve(
    request: IncomingMessage,
    form: {
      readonly csrfToken: string;
      /** Optional scopes that the user left out. @defaultValue none */
      readonly declined?: readonly string[];
    },
  ): Promise<InteractionRedirect>;
  /**
   * Denies the request on behalf of the user. @throws OAuthError if the form is forged or the interaction has
   * ended
   */
  deny(request: IncomingMessage, form: { readonly csrfToken: string }): Promise<InteractionRedirect>;
}

/** Returns resources with their names from the option `resources`. */
export const namedResources = ({ options }: Core, uris: readonly string[]) =>
  uris.map((uri) => ({ uri, name: options.resources?.nameOf(uri) ?? uri }));

type ScopesToShow = InteractionDetails['scopes'];

/**
 * Returns the data of a client's metadata document that a consent page must show; `null` for a client that an
 * administrator created.
 */
export function shownDocument({ document }: ClientRecord, redirectUri: string): ConsentView['document'] {
  if (document === undefined) return null;
  const { claimedName } = document;
  return { claimedName, returnsToDevice: new URL(redirectUri).protocol !== 'https:' };
}

/** Returns the data for a consent page that the host application renders. */
export function detailsOf(
  { interaction, client, user, scopes, resources, csrfToken, switchAccountUrl }: Question,
  core: Core,
): InteractionDetails {
  const { languages, scopes: catalog } = core.options;
  /**
   * Returns the texts of a scope in every built-in language and in those of the host application. If a scope
   * of the host has no text in a language, the text in the first of the host's languages is used.
   */
  function textsOf(name: string): ScopesToShow[number]['texts'] {
    const own = Object.fromEntries(languages.map(({ tag, texts }) => [tag, texts.scopes[name]]));
    const known = { ...catalog.consents[name], ...own };
    const [first] = Object.values(own);
    const tags = [...shippedLanguages, ...Object.keys(own)];
    return Object.fromEntries(tags.map((tag) => [tag, known[tag] ?? first])) as ScopesToShow[number]['texts'];
  }
  const { clientId, name, termsUrl, privacyUrl } = client;
  const logo = logoUrl(core, client);
  const document = shownDocument(client, interaction.params.redirect_uri ?? '');
  return {
    interactionId: interaction.id,
    client: {
      ...{ clientId, name },
      ...(logo && { logoUrl: logo }),
      ...(termsUrl && { termsUrl }),
      ...(privacyUrl && { privacyUrl }),
      ...(document && { document }),
    },
    sub: user.sub,
    redirectUri: interaction.params.redirect_uri ?? '',
    scopes: scopes.flatMap(({ name, ...scope }) =>
      catalog.has(name) ? [{ name, ...scope, texts: textsOf(name) }] : [],
    ),
    ...(resources.length > 0 && { resources: namedResources(core, resources) }),
    uiLocales: (interaction.params.ui_locales ?? '').split(' ').filter(Boolean),
    csrfToken,
    switchAccountUrl,
  };
}

export function interactionApi(interactions: Interactions, forms: Forms, core: Core): InteractionApi {
  // A dummy response, which is never sent: reading the interaction's cookie needs a request and a response.
  // Cookies that are set on the dummy are lost; the browser got them from the interaction page before.
  const exchangeOf = (req: IncomingMessage) => ({ req, res: new ServerResponse(req) });

  async function answer(
    request: IncomingMessage,
    approved: boolean,
    csrfToken: string,
    declined: readonly string[] = [],
  ): Promise<InteractionRedirect> {
    forms.requireOwnOrigin(request, 'consent');
    const form = { approved, declined, csrfToken };
    return { redirectTo: await interactions.answer(exchangeOf(request), null, form) };
  }

  return {
    async details(request) {
      const step = await interactions.next(exchangeOf(request), null);
      if (typeof step === 'string') return { redirectTo: step };
      return detailsOf(step, core);
    },
    approve: (request, { csrfToken, declined }) => answer(request, true, csrfToken, declined),
    deny: (request, { csrfToken }) => answer(request, false, csrfToken),
  };
}
