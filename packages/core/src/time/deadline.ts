import { HostTimeoutError } from '../errors.ts';

/**
 * Wraps a function of the host with a deadline. A result or an error after the deadline is ignored.
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
    // A result that is there already needs no timer. Timers would take most of the memory of a busy process.
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

/**
 * Wraps the functions of an object of the host, each with its deadline. The object may be of a class, whose
 * methods need their `this`.
 */
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
