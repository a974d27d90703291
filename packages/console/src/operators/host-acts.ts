import type { Language } from '../words.ts';

/** Kind of an entry that the application writes into the audit log, as the operators' pages show it. */
export interface HostAct {
  /**
   * Words between the person and the object of an act, such as `blocked the user`, by the language of the
   * page. English is used where a language is missing.
   */
  readonly words: { readonly en: string } & { readonly [Name in Language]?: string };
  /**
   * False for an act that changes nothing, such as a sign-in. The list of the latest changes leaves such acts
   * out.
   * @defaultValue every act counts as a change
   */
  readonly isChange?: boolean;
}

/** Kinds of the application's own audit log entries, by their names in the audit log. */
export type HostActs = ReadonlyMap<string, HostAct>;
