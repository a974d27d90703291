import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Reads the fields of `/proc/PID/stat` (proc_stat(5)). The process name is cut off first, because it may
 * contain spaces.
 */
function statOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text
    .slice(text.lastIndexOf(')') + 4)
    .split(' ')
    .map(Number);
}

const ticksPerSecond = (): number => Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * Returns the processor time that processes and their ended children have used, in milliseconds. Linux only.
 */
export function processorMs(pids: readonly number[]): number {
  // Fields utime, stime, cutime and cstime.
  const ticks = pids.flatMap((pid) => statOf(pid).slice(10, 14)).reduce((sum, time) => sum + time, 0);
  return (ticks * 1_000) / ticksPerSecond();
}

export const parentOf = (pid: number): number => statOf(pid)[0] ?? 0;

/** Lists a process and its child processes. */
export function familyOf(parent: number): number[] {
  const isChild = (pid: number): boolean => {
    try {
      return parentOf(pid) === parent;
    } catch {
      return false;
    }
  };
  return [
    parent,
    ...readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && isChild(pid)),
  ];
}
