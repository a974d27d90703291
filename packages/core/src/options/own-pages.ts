import type { IncomingMessage } from 'node:http';
import type { ErrorKind } from '../languages/texts.ts';
import type { Language, ScopeTexts } from '../scopes/consent-texts.ts';
import type { Scope } from '../scopes/scopes.ts';

/** What a consent page of your own has to show. */
export interface InteractionDetails {
  readonly interactionId: string;
  readonly client: {
    readonly clientId: string;
    readonly name: string;
    /** On `authUrl`, where the app has one. */
    readonly logoUrl?: string;
    /** Pages of the app, where the administrator has given them. */
    readonly termsUrl?: string;
    readonly privacyUrl?: string;
  };
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

/** A page of the host's: a whole document of HTML, or a response with one. Escape what you put into it. */
export type OwnPage = string | Response;

/** What a consent page has to show, and where its form goes. */
export interface ConsentPageDetails extends InteractionDetails {
  /** How the host calls who is signed in, by `users.find`. */
  readonly user: { readonly name: string | null; readonly handle: string | null };
  /** Where the form is posted: with `csrf`, the token, and `decision`, which is `approve` or `deny`. */
  readonly action: string;
  /** Of the page, such as `fr`: of those of the option `languages`. */
  readonly language: string;
}

/** What went wrong, for a page that says so. */
export interface ErrorPageDetails {
  readonly kind: ErrorKind;
  /** With which the page is answered. */
  readonly status: number;
  /** As OAuth names it, such as `invalid_request`. */
  readonly code: string;
  /** Technical words for the developers of the app. */
  readonly description: string;
  /** Leads to the log lines of the request. */
  readonly requestId: string;
  /** What the built-in page says, in its language. */
  readonly title: string;
  readonly advice: string;
  readonly language: string;
  /**
   * App at which the user can begin again, for a link: its name, and the root of the origin of a redirect URI of its own. Present
   * with the kinds `expired` and `no_cookie`, if the app is on the web and the address of the page names it.
   */
  readonly app?: { readonly name: string; readonly url: string };
}

/** Pages of the host's in the place of the built-in ones (option `pages`). */
export interface OwnPages {
  /**
   * The consent page, at the address of the built-in one. For a page at an address of your own see `interactionUrl`.
   * @param request - of the browser, for cookies and headers
   */
  consent?(details: ConsentPageDetails, request: IncomingMessage): Promise<OwnPage> | OwnPage;
  /** The page of every error that a browser meets. Where it fails, or does not answer, the built-in one is shown. */
  error?(details: ErrorPageDetails, request: IncomingMessage): Promise<OwnPage> | OwnPage;
}
