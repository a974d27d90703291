/** What work is stopped by, for this package only: one attempt took too long, the whole call did, or its caller gave up. */
export class Stopped {
  readonly why: 'timeout' | 'totalTimeout' | 'aborted';

  constructor(why: Stopped['why']) {
    this.why = why;
  }
}

/** Watches over a call: its time-outs and its caller's signal. */
export interface Watch {
  /**
   * Waits for work, `ms` milliseconds at most. When it is stopped the work is told through `controller`, and nobody waits
   * any longer, whether it listens or not.
   * @throws Stopped
   */
  during<Result>(
    ms: number,
    work: (signal: AbortSignal) => Promise<Result>,
    controller?: AbortController,
  ): Promise<Result>;
  /** Milliseconds that are left of the whole call. */
  left(): number;
  /** Lets go of the caller's signal. */
  close(): void;
}

/** One listener for a whole call, so that a signal that lives long collects nothing. */
export function watch(signal: AbortSignal | undefined, totalTimeout: number): Watch {
  const endsAt = performance.now() + totalTimeout;
  const left = (): number => Math.max(0, endsAt - performance.now());
  let stop: ((why: Stopped['why']) => void) | null = null;
  const abort = (): void => stop?.('aborted');
  signal?.addEventListener('abort', abort);

  return {
    during: (ms, work, controller = new AbortController()) =>
      new Promise((resolve, reject) => {
        const rest = left();
        // Timers may be early by a part of a millisecond: then something would be left.
        const timer = setTimeout(
          () => stop?.(ms < rest ? 'timeout' : 'totalTimeout'),
          Math.min(ms, rest + 1),
        );
        const leave = (): void => {
          clearTimeout(timer);
          stop = null;
        };
        stop = (why) => {
          leave();
          reject(new Stopped(why));
          controller.abort();
        };
        if (signal?.aborted) return abort();
        if (rest === 0) return stop('totalTimeout');
        work(controller.signal).then(
          (result) => {
            // What comes after the end must not take away the stop of whoever waits by then.
            if (controller.signal.aborted) return;
            leave();
            resolve(result);
          },
          (error: unknown) => {
            if (controller.signal.aborted) return;
            leave();
            reject(error);
          },
        );
      }),
    left,
    close: () => signal?.removeEventListener('abort', abort),
  };
}
