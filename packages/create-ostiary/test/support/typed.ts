import { run, type Terminal } from '../../src/run.ts';

/** Runs the command in this process. @param answers what is typed, question by question; without them nobody is there */
export async function typed(args: readonly string[], answers?: readonly string[]) {
  const questions: string[] = [];
  let [output, errors] = ['', ''];
  const terminal: Terminal = {
    write: (text) => {
      output += text;
    },
    complain: (text) => {
      errors += text;
    },
    ask:
      answers === undefined
        ? null
        : async (question) => {
            questions.push(question);
            return answers[questions.length - 1] ?? '';
          },
  };
  const code = await run(args, terminal);
  return { code, output, errors, questions };
}
