import { run, type Terminal } from '../../src/run.ts';

/**
 * Runs the command `create-ostiary` in this process.
 * @param answers typed answers, one per question; without them there is no user at the terminal
 * @param asked called with each question before it is answered
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
