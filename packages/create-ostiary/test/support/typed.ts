import { run, type Terminal } from '../../src/run.ts';

/**
 * Runs the command in this process.
 * @param answers what is typed, question by question; without them nobody is there
 * @param asked is called with each question before its answer
 */
export async function typed(
  args: readonly string[],
  answers?: readonly string[],
  asked: (question: string) => void = () => undefined,
) {
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
            asked(question);
            return answers[questions.length - 1] ?? '';
          },
  };
  const code = await run(args, terminal);
  return { code, output, errors, questions };
}
