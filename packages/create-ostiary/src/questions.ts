import {
  type Choices,
  defaultLanguages,
  frameworks,
  languages,
  languagesOf,
  oneOf,
  Refusal,
  storages,
  yesOrNo,
} from './choices.ts';

/** Asks the user a question and resolves with the typed answer. */
export type Ask = (question: string) => Promise<string>;

const defaultFolder = 'my-ostiary';

/** Repeats a question until the user's answer is valid. An empty answer means the default. */
async function answered<Value>(
  ask: Ask,
  question: string,
  standard: string,
  read: (text: string) => Value,
): Promise<Value> {
  for (let problem = ''; ; ) {
    const text = (await ask(`${problem}${question} (${standard}): `)).trim();
    try {
      return read(text === '' ? standard : text);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problem = `${error.message}\n`;
    }
  }
}

/**
 * Completes the choices of the command line by asking for the missing ones.
 * @param ask - asks the user; with `null`, the defaults are taken
 * @param checkFolder - throws a Refusal for a folder that cannot be used
 */
export async function completed(
  given: Partial<Choices>,
  ask: Ask | null,
  checkFolder: (folder: string) => void,
): Promise<Choices> {
  const complete = <Value>(
    value: Value | undefined,
    question: string,
    standard: string,
    read: (text: string) => Value,
  ): Value | Promise<Value> => {
    if (value !== undefined) return value;
    return ask === null ? read(standard) : answered(ask, question, standard, read);
  };
  const folderOf = (text: string): string => {
    checkFolder(text);
    return text;
  };
  if (given.folder !== undefined) checkFolder(given.folder);
  return {
    folder: await complete(given.folder, 'Folder', defaultFolder, folderOf),
    framework: await complete(given.framework, `Framework: ${frameworks.join(', ')}`, frameworks[0], (text) =>
      oneOf(frameworks, text, 'the framework'),
    ),
    storage: await complete(given.storage, `Storage: ${storages.join(', ')}`, storages[0], (text) =>
      oneOf(storages, text, 'the storage'),
    ),
    languages: await complete(
      given.languages,
      `Languages of Ostiary's pages, of ${languages.join(', ')}`,
      defaultLanguages.join(','),
      languagesOf,
    ),
    mcp: await complete(given.mcp, 'MCP server for assistants: yes, no', 'no', yesOrNo),
  };
}
