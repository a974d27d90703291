import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Forms } from '../http/csrf.ts';
import type { PageLanguage } from '../languages/page-language.ts';
import { shippedTexts } from '../languages/shipped.ts';
import type { Language, ScopeTexts } from '../languages/texts.ts';
import type { ScopeCatalog } from '../scope-catalog.ts';
import type { Scope } from '../scopes.ts';
import type { Interactions } from './interaction.ts';

/** What a consent page of your own has to show. */
export interface InteractionDetails {
  readonly interactionId: string;
  readonly client: { readonly clientId: string; readonly name: string };
  /** Who is signed in, and would give the consent. */
  readonly sub: string;
  readonly redirectUri: string;
  /** Show all of them; the user approves all or none. */
  readonly scopes: readonly {
    readonly name: Scope | (string & {});
    /** Not approved for this client before. */
    readonly isNew: boolean;
    /** What it gives, in plain words: in each language that ships, and in those of the option `languages`. Scopes of yours are in the first
     *  of these where they have no words. */
    readonly texts: { readonly [L in Language]: ScopeTexts } & {
      readonly [tag: string]: ScopeTexts | undefined;
    };
  }[];
  readonly uiLocales: readonly string[];
  /** Goes into a hidden field of the form, and back into `approve` or `deny`. */
  readonly csrfToken: string;
  /** Where the user can sign in as somebody else. */
  readonly switchAccountUrl: string;
}

/** Where the browser has to be sent. */
export interface InteractionRedirect {
  readonly redirectTo: string;
}

/**
 * For hosts that render the consent page themselves (option `interactionUrl`). Every call takes the browser's
 * request to that page, whose path has to begin with the path of the page's URL, because a cookie for it
 * proves which interaction the browser may answer.
 */
export interface InteractionApi {
  /**
   * What to show, or where to go instead when there is nothing (more) to ask.
   * @throws OAuthError when the interaction is over
   */
  details(request: IncomingMessage): Promise<InteractionDetails | InteractionRedirect>;
  /**
   * Takes the user's approval of all scopes.
   * @throws OAuthError when the form is forged or the interaction is over
   */
  approve(request: IncomingMessage, form: { readonly csrfToken: string }): Promise<InteractionRedirect>;
  /** Takes the user's refusal. @throws OAuthError as above */
  deny(request: IncomingMessage, form: { readonly csrfToken: string }): Promise<InteractionRedirect>;
}

type ScopesToShow = InteractionDetails['scopes'];

export function interactionApi(
  interactions: Interactions,
  forms: Forms,
  {
    languages,
    scopes: catalog,
  }: { readonly languages: readonly PageLanguage[]; readonly scopes: ScopeCatalog },
): InteractionApi {
  /** In every language that ships: where a scope of the host's has no words, in the first of the host's languages. */
  function textsOf(name: string): ScopesToShow[number]['texts'] {
    const own = Object.fromEntries(languages.map(({ tag, texts }) => [tag, texts.scopes[name]]));
    const known = { ...catalog.consents[name], ...own };
    const [first] = Object.values(own);
    const tags = [...Object.keys(shippedTexts), ...Object.keys(own)];
    return Object.fromEntries(tags.map((tag) => [tag, known[tag] ?? first])) as ScopesToShow[number]['texts'];
  }
  // Nothing is written to the response: reading the interaction cookie takes both sides of an exchange.
  const exchangeOf = (req: IncomingMessage) => ({ req, res: new ServerResponse(req) });

  async function answer(
    request: IncomingMessage,
    approved: boolean,
    csrfToken: string,
  ): Promise<InteractionRedirect> {
    forms.requireOwnOrigin(request, 'consent');
    return { redirectTo: await interactions.answer(exchangeOf(request), null, { approved, csrfToken }) };
  }

  return {
    async details(request) {
      const step = await interactions.next(exchangeOf(request), null);
      if (typeof step === 'string') return { redirectTo: step };
      const { interaction, client, user, csrfToken, switchAccountUrl } = step;
      return {
        interactionId: interaction.id,
        client: { clientId: client.clientId, name: client.name },
        sub: user.sub,
        redirectUri: interaction.params.redirect_uri ?? '',
        scopes: step.scopes.flatMap(({ name, isNew }) =>
          catalog.has(name) ? [{ name, isNew, texts: textsOf(name) }] : [],
        ),
        uiLocales: (interaction.params.ui_locales ?? '').split(' ').filter(Boolean),
        csrfToken,
        switchAccountUrl,
      };
    },
    approve: (request, { csrfToken }) => answer(request, true, csrfToken),
    deny: (request, { csrfToken }) => answer(request, false, csrfToken),
  };
}
