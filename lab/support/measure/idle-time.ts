import { cpus } from 'node:os';

function processorTimes(): { readonly idle: number; readonly all: number } {
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, all };
}

/**
 * Measures how long this machine's processors are idle. @returns a function that returns their idle share of
 * the time since the call, between 0 and 1
 */
export function watchIdleTime(): () => number {
  const begin = processorTimes();
  return () => {
    const end = processorTimes();
    return (end.idle - begin.idle) / (end.all - begin.all);
  };
}
