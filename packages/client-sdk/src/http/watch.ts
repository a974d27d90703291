/**
 * Reason why a call was stopped: an attempt took too long, the whole call took too long, or the caller
 * aborted. Not part of the public API.
 */
export class Stopped {
  readonly why: 'timeout' | 'totalTimeout' | 'aborted';

  constructor(why: Stopped['why']) {
    this.why = why;
  }
}

/** Enforces the time limits of a call and its caller's abort signal. */
export interface Watch {
  /**
   * Waits for a promise, `ms` milliseconds at most. After that, aborts the work through `controller` and
   * stops waiting, even if the work ignores the abort.
   * @throws Stopped
   */
  during<Result>(
    ms: number,
    work: (signal: AbortSignal) => Promise<Result>,
    controller?: AbortController,
  ): Promise<Result>;
  /** Returns the milliseconds that remain for the whole call. */
  left(): number;
  /** Removes the listener from the caller's signal. */
  close(): void;
}

/**
 * Starts the time limits of a call. Uses one listener per call, so that listeners do not accumulate on a
 * long-lived signal.
 */
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
        // Add 1 ms: a timer may fire a fraction of a millisecond early, and the call's time must be over
        // then.
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
            // A late result must not clear the timer of the next wait.
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
