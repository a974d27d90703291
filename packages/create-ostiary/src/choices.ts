/** Frameworks for a new app. The first is the default. */
export const frameworks = ['node', 'express', 'fastify', 'hono', 'next'] as const;
export const storages = ['sqlite', 'postgres'] as const;
export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;
export const defaultLanguages: readonly Language[] = ['en', 'fr'];

export type Framework = (typeof frameworks)[number];
export type Storage = (typeof storages)[number];
export type Language = (typeof languages)[number];

/** Choices for a new app. */
export interface Choices {
  /** Folder in which the app is created. */
  readonly folder: string;
  readonly framework: Framework;
  readonly storage: Storage;
  /** True if the app has an MCP server, which assistants call on behalf of users. */
  readonly mcp: boolean;
  /** Languages of Ostiary's pages. The first is for browsers that request none of them. */
  readonly languages: readonly Language[];
}

/** Error that the user must correct. The program prints only its message. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Checks the value of a choice. @throws Refusal that lists the possible values */
export function oneOf<Value extends string>(values: readonly Value[], text: string, what: string): Value {
  const found = values.find((value) => value === text.trim());
  if (found === undefined) throw new Refusal(`${what} "${text}" is unknown; there are ${values.join(', ')}`);
  return found;
}

/** Parses the answer to a yes-or-no question. @throws Refusal for any other answer */
export const yesOrNo = (text: string): boolean =>
  oneOf(['yes', 'no', 'y', 'n'], text.toLowerCase(), 'the answer').startsWith('y');

/** Parses a list of languages such as `en,fr`. @throws Refusal for an unknown or repeated language */
export function languagesOf(text: string): readonly Language[] {
  const named = text.split(',').map((tag) => oneOf(languages, tag, 'the language'));
  if (new Set(named).size !== named.length) throw new Refusal(`the languages "${text}" name one twice`);
  return named;
}
