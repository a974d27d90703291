/** A function of the host's has not answered in time. Its request is answered with 503, and nothing was changed. */
export class HostTimeoutError extends Error {
  override readonly name = 'HostTimeoutError';

  constructor(call: string, seconds: number) {
    super(`${call} did not answer within ${seconds} s (option hostTimeoutSeconds)`);
  }
}

/**
 * A function of the host's that is not waited for without end. Nobody listens to an answer or a failure that comes too
 * late. What the function answers or throws at once goes on as it is.
 *
 * @param name - what the log calls the function, such as `users.find`
 * @throws HostTimeoutError
 */
export function withDeadline<Arguments extends unknown[], Answer>(
  name: string,
  call: (...args: Arguments) => Promise<Answer> | Answer,
  seconds: number,
): (...args: Arguments) => Promise<Answer> | Answer {
  return (...args) => {
    const answer = call(...args);
    if (!isThenable(answer)) return answer;
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new HostTimeoutError(name, seconds)), seconds * 1000);
      // Waiting for the host keeps no process alive.
      timer.unref();
      answer.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  };
}

/** A promise of any kind: functions and schemas of a host may come from anywhere. */
export function isThenable<Answer>(answer: PromiseLike<Answer> | Answer): answer is PromiseLike<Answer> {
  return (
    typeof answer === 'object' && answer !== null && 'then' in answer && typeof answer.then === 'function'
  );
}
