/**
 * Reason why work was stopped: an attempt took too long, the whole call took too long, or the caller aborted.
 * Not part of the public surface.
 */
export class Stopped {
  readonly why: 'timeout' | 'totalTimeout' | 'aborted';

  constructor(why: Stopped['why']) {
    this.why = why;
  }
}

/** Watches over a call: its time-outs and its caller's signal. */
export interface Watch {
  /**
   * Waits for work, `ms` milliseconds at most. When the time is over the work is aborted through `controller`, and the wait ends
   * whether the work heeds that or not.
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

/** Use one listener for a whole call, so that listeners do not pile up on a long-lived signal. */
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
        // Timers may be early by a part of a millisecond: one more, so that nothing of the call's time is left then.
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
            // A result that comes after the end must not clear the timer of the next wait.
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
