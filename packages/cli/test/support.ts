import { partnerProvider } from '../../core/test/support/partner-api.ts';
import { type CommandLineOptions, type CommandSubject, runCommandLine } from '../src/index.ts';

/** Splits a command line into words; quotes keep spaces. */
export const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word ?? '');

/** Makes a function that runs commands on a provider that keeps running. */
export async function terminal(made = partnerProvider()) {
  const { provider } = await made;
  const asked: string[] = [];
  let answer = true;
  const run = async (line: string, options: Partial<CommandLineOptions<CommandSubject>> = {}) => {
    let [out, err] = ['', ''];
    const code = await runCommandLine({
      open: async () => ({ admin: provider.ostiary.admin, close: async () => undefined }),
      argv: wordsOf(line),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      confirm: async (question) => {
        asked.push(question);
        return answer;
      },
      ...options,
    });
    return { code, out, err, json: () => JSON.parse(out) };
  };
  return {
    provider,
    run,
    asked,
    refuse: () => {
      answer = false;
    },
  };
}
