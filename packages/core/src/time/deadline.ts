import { HostTimeoutError } from '../errors.ts';

/**
 * Wraps a function of the host application with a time limit. Ignores a result or an error that comes after
 * the limit.
 * @param name - name of the function in the log, such as `users.find`
 * @throws HostTimeoutError if the function does not return before the deadline
 */
export function withDeadline<Arguments extends unknown[], Answer>(
  name: string,
  call: (...args: Arguments) => Promise<Answer> | Answer,
  seconds: number,
): (...args: Arguments) => Promise<Answer> {
  return async (...args) => {
    const answer = call(...args);
    // A result that is available at once needs no timer. Timers would take most of the memory of a busy
    // process.
    if (!(answer instanceof Object && 'then' in answer)) return answer;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new HostTimeoutError(name, seconds)), seconds * 1000);
    // A pending call of the host must not keep the process running.
    timer.unref();
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * Wraps the named functions of a host application's object with time limits, and leaves out its other members.
 * Calls the functions on the object, because methods may need their `this`.
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
