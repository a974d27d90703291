import { escapeControls } from '@ostiary/core/internal';
import type { ProgressStep } from './command.ts';

/** Output stream for progress reports of commands. */
export interface ProgressOutlet {
  readonly write: (text: string) => void;
  /** True if the progress is shown in one line that is rewritten; otherwise a line is added every second. */
  readonly isTerminal: boolean;
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Intervals between progress reports, in milliseconds, at a terminal and in logs. */
const [terminalMs, logMs] = [100, 1000];

const counted = (count: number): string => Math.round(count).toLocaleString('en-US');

/** Formats a duration: `5 s`, `3 min`, `2 h`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** Formats the progress of a step: how much is done, how fast, and the remaining time at that rate. */
export function inWords({ step, done, of, unit }: ProgressStep, elapsedMs: number): string {
  const what = unit === undefined ? '' : ` ${unit}`;
  const rate = elapsedMs > 0 ? (done / elapsedMs) * 1000 : 0;
  return [
    `${step}: ${counted(done)}${of === null ? '' : ` of ${counted(of)}`}${what}`,
    ...(of !== null && of > 0 ? [`${Math.floor((done / of) * 100)} %`] : []),
    ...(rate > 0 ? [`${counted(rate)}/s`] : []),
    ...(rate > 0 && of !== null && of > done ? [`${duration(((of - done) / rate) * 1000)} left`] : []),
  ].join(', ');
}

/** Makes the functions that report and clear a command's progress. */
export function progressOn({ write, isTerminal, now }: ProgressOutlet) {
  let current = '';
  let startedAt = now();
  let next = startedAt + (isTerminal ? terminalMs : logMs);
  let isShown = false;
  const clear = (): void => {
    if (isShown) write('\r\u001b[K');
    isShown = false;
  };
  return {
    tell(step: ProgressStep): void {
      const at = now();
      const isNew = step.step !== current && current !== '';
      if (isNew) startedAt = at;
      current = step.step;
      // At a terminal, remove the line of a finished step.
      if (at < next && !(isNew && isTerminal)) return;
      next = at + (isTerminal ? terminalMs : logMs);
      const words = escapeControls(inWords(step, at - startedAt));
      write(isTerminal ? `\r\u001b[K${words}` : `${words}\n`);
      isShown = isTerminal;
    },
    /** Removes the progress line before other output is written. */
    clear,
  };
}
