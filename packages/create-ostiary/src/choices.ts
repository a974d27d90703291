/** What a new app can be made of; the first of each is the default. */
export const frameworks = ['node', 'express', 'fastify', 'hono', 'next'] as const;
export const storages = ['sqlite', 'postgres'] as const;
export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;
export const defaultLanguages: readonly Language[] = ['en', 'fr'];

export type Framework = (typeof frameworks)[number];
export type Storage = (typeof storages)[number];
export type Language = (typeof languages)[number];

/** What somebody wants. */
export interface Choices {
  /** Where the app is written. */
  readonly folder: string;
  readonly framework: Framework;
  readonly storage: Storage;
  /** Of the pages; a browser that asks for none of them gets the first. */
  readonly languages: readonly Language[];
}

/** Something that the user has to change. Its message is all that they see. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** @throws Refusal that says what there is */
export function oneOf<Value extends string>(values: readonly Value[], text: string, what: string): Value {
  const found = values.find((value) => value === text.trim());
  if (found === undefined) throw new Refusal(`${what} "${text}" is unknown; there are ${values.join(', ')}`);
  return found;
}

/** Reads `en,fr`. */
export function languagesOf(text: string): readonly Language[] {
  const named = text.split(',').map((tag) => oneOf(languages, tag, 'the language'));
  if (new Set(named).size !== named.length) throw new Refusal(`the languages "${text}" name one twice`);
  return named;
}
