import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Commands, toggle } from '../src/index.ts';
import { inWords, progressOn } from '../src/progress.ts';
import { terminal } from './support.ts';

const { run } = await terminal();

describe('progress', () => {
  it.each([
    [
      { step: 'copying', done: 500, of: 2000, unit: 'rows' },
      1000,
      'copying: 500 of 2,000 rows, 25 %, 500/s, 3 s left',
    ],
    [{ step: 'copying', done: 10, of: 100_000 }, 1000, 'copying: 10 of 100,000, 0 %, 10/s, 3 h left'],
    [{ step: 'copying', done: 10, of: 10_000 }, 1000, 'copying: 10 of 10,000, 0 %, 10/s, 17 min left'],
    [{ step: 'copying', done: 5, of: 5 }, 1000, 'copying: 5 of 5, 100 %, 5/s'],
    [{ step: 'removing', done: 12_000, of: null, unit: 'rows' }, 500, 'removing: 12,000 rows, 24,000/s'],
    [{ step: 'copying', done: 0, of: 7 }, 0, 'copying: 0 of 7, 0 %'],
    [{ step: 'copying', done: 0, of: 0 }, 10, 'copying: 0 of 0'],
  ])('%j after %s ms', (step, elapsed, words) => {
    expect(inWords(step, elapsed)).toBe(words);
  });

  /**
   * Reports progress ten times a second for three seconds, in the second half for another step. Returns the
   * printed output.
   */
  function told(isTerminal: boolean): string {
    let now = 0;
    let text = '';
    const progress = progressOn({ write: (more) => (text += more), isTerminal, now: () => now });
    for (let round = 1; round <= 30; round += 1) {
      now = round * 100;
      progress.tell({ step: round < 16 ? 'copying' : 'verifying', done: round, of: 30 });
    }
    progress.clear();
    return text;
  }

  it('is one line at a terminal, which is removed at the end', () => {
    const lines = told(true).split('\r\u001b[K');
    expect(lines).toHaveLength(32);
    expect(lines[1]).toBe('copying: 1 of 30, 3 %, 10/s, 3 s left');
    expect([lines[0], lines.at(-1)]).toEqual(['', '']);
    expect(told(true)).not.toContain('\n');
  });

  it('shows the next step at a terminal at once', () => {
    let text = '';
    const progress = progressOn({ write: (more) => (text += more), isTerminal: true, now: () => 0 });
    progress.tell({ step: 'copying', done: 1, of: 1 });
    expect(text).toBe('');
    progress.tell({ step: 'verifying', done: 0, of: 3 });
    expect(text).toBe('\r\u001b[Kverifying: 0 of 3, 0 %');
  });

  it('is a line each second elsewhere, with the rate of the step', () => {
    expect(told(false).split('\n')).toEqual([
      'copying: 10 of 30, 33 %, 10/s, 2 s left',
      // 20 in the 400 ms since the step began.
      'verifying: 20 of 30, 66 %, 50/s, 1 s left',
      'verifying: 30 of 30, 100 %, 21/s',
      '',
    ]);
  });

  /** Runs a command that takes 1.1 s by the test's clock, and returns its output, in the order of writing. */
  async function shown(line: string, isTTY: boolean) {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const commands: Commands = {
      work: {
        about: 'work',
        flags: { fail: toggle('fail') },
        async run({ terminal: { progress, write } }, args) {
          now += 1_100;
          progress({ step: 'working', done: 1, of: 2 });
          if (args.has('fail')) throw new Error('it failed');
          write({ text: 'one', json: {} });
          return { text: 'done', json: {}, note: 'noted' };
        },
      },
    };
    let text = '';
    const outlet = { write: (more: string) => (text += more), isTTY };
    await run(line, { commands, stdout: outlet, stderr: outlet });
    return text;
  }

  it.each([
    ['work', false, 'one\ndone\nnoted\n'],
    ['work --progress', false, 'working: 1 of 2, 50 %, 1/s, 2 s left\none\ndone\nnoted\n'],
    ['work', true, '\r\u001b[Kworking: 1 of 2, 50 %, 1/s, 2 s left\r\u001b[Kone\ndone\nnoted\n'],
    ['work --fail', true, '\r\u001b[Kworking: 1 of 2, 50 %, 1/s, 2 s left\r\u001b[Kit failed\n'],
    ['work --json', true, '{}\n{}\n'],
  ])('of %s, at a terminal: %j, is written to standard error: %j', async (line, isTTY, expected) => {
    expect(await shown(line, isTTY)).toBe(expected);
  });
});
