import { HostTimeoutError } from '../errors.ts';

/**
 * A function of the host's that is not waited for without end. Nobody listens to an answer or a failure that comes too late.
 * @param name - what the log calls the function, such as `users.find`
 * @throws HostTimeoutError
 */
export function withDeadline<Arguments extends unknown[], Answer>(
  name: string,
  call: (...args: Arguments) => Promise<Answer> | Answer,
  seconds: number,
): (...args: Arguments) => Promise<Answer> {
  return async (...args) => {
    const answer = call(...args);
    // What is there already needs no timer, which would be most of the memory of a busy process.
    if (!(answer instanceof Object && 'then' in answer)) return answer;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new HostTimeoutError(name, seconds)), seconds * 1000);
    // Waiting for the host keeps no process alive.
    timer.unref();
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The functions of an object of the host's, each with its deadline. It may be of a class, whose methods need their object. */
export function withDeadlines<Host extends object>(
  path: string,
  host: Host,
  names: readonly (keyof Host & string)[],
  seconds: number,
): Host {
  const given = names.flatMap((name) => {
    const call = host[name];
    return typeof call === 'function'
      ? [[name, withDeadline(`${path}.${name}`, call.bind(host), seconds)]]
      : [];
  });
  return Object.freeze(Object.fromEntries(given));
}
